/* `piecemeal run`. */
#pragma once

int pm_command_run(int argc, char **argv);
