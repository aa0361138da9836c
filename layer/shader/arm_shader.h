/*
 * A shader that a contest has made (contest.h): it is there while the contest may choose it, and
 * while anything that was built of it is.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/specialized.h"

/* Takes over what the shader has, with one reference. NULL: out of memory, and nothing was taken.
 */
struct pm_specialized_shader *pm_arm_shader_create(const struct pm_specialized_shader *shader);

/* For what is built of it. */
void pm_arm_shader_reference(struct pm_specialized_shader *shader);
/* With the last one it goes. NULL is allowed. */
void pm_arm_shader_release(struct pm_specialized_shader *shader);

/* Nothing is made of it any more: its words go. */
void pm_arm_shader_finish(struct pm_specialized_shader *shader);
