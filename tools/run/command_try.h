/* `piecemeal try`. */
#pragma once

int pm_command_try(int argc, char **argv);
