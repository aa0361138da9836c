/* `piecemeal profile`: a gfxreconstruct capture, replayed under the layer. */
#pragma once

int pm_command_profile(int argc, char **argv);
