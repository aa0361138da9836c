/* `piecemeal report`. */
#pragma once

int pm_command_report(int argc, char **argv);
