/* `piecemeal bisect`: which specialized shader makes a program go wrong. */
#pragma once

int pm_command_bisect(int argc, char **argv);
