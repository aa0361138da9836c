/*
 * Putting back the game's own pipeline, put off to the next draw. What a query must not see may not
 * always be bound over where the query begins: the game may have set states for the pipeline that
 * it binds next, which another bind would unset (dynamic_states.h). At a draw it may. Whatever a
 * pipeline does not leave to commands must not have been set since the game bound it (the
 * specification, Drawing Commands, VUID-vkCmdDraw-None-08608, and of each other command that
 * draws), so that binding it again there unsets nothing. It is the graphics bind point's alone: no
 * other pipeline leaves such states.
 *
 * Until then each call of the recording is looked at, whatever else it is looked at for, and draws
 * on the device take the armed hooks. A query that something is put off for is active meanwhile.
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/frame/command.h"

/* Something is put off, until pm_command_put_off_ends. */
void pm_put_off_begin(struct pm_command *command);
