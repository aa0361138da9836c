/* `piecemeal sync`. */
#pragma once

int pm_command_sync(int argc, char **argv);
