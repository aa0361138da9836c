/* `piecemeal doctor`. */
#pragma once

int pm_command_doctor(int argc, char **argv);
