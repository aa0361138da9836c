/* `piecemeal serve`. */
#pragma once

int pm_command_serve(int argc, char **argv);
