/* `piecemeal shader`. */
#pragma once

int pm_command_shader(int argc, char **argv);
