/*
 * Putting back the game's own pipeline, or what fits what was pushed since, put off to the next
 * draw. What a query must not see may not always be bound over where the query begins, nor what
 * does not fit any more where constants are pushed: the game may have set states for the pipeline
 * that it binds next, which another bind would unset (dynamic_states.h). At a draw it may. Whatever
 * state a pipeline specifies itself must not have been set since the game bound it (the
 * specification, Drawing Commands, VUID-vkCmdDraw-None-08608, and of each other command that
 * draws), so that binding it again there unsets nothing. A state that it neither specifies nor
 * leaves to commands, as patch control points without tessellation, may have been set: a bind is
 * held to leave that as it is (Vulkan-ValidationLayers' issues 8378 and 9164 are open on it). It is
 * the graphics bind point's alone: no other pipeline leaves such states.
 *
 * In transform feedback nothing can be bound, not at a draw either. What fits only as long as
 * nothing else is pushed makes way before it begins: until it ends the game can bind nothing, so
 * that draws in it are of that pipeline.
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
