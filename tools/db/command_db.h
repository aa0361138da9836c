/* `piecemeal db`. */
#pragma once

int pm_command_db(int argc, char **argv);
