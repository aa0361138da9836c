/* `piecemeal status`, `piecemeal pause` and `piecemeal resume`. */
#pragma once

int pm_command_status(int argc, char **argv);
int pm_command_pause(int argc, char **argv);
int pm_command_resume(int argc, char **argv);
