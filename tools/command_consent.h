/* `piecemeal consent`. */
#pragma once

int pm_command_consent(int argc, char **argv);
