/*
 * What a pipeline's stage says of a shader, before anything is known of it.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "layer/core/layer.h"
#include "shader_rewrite/shader_rewrite.h"

struct pm_object; /* object.h */

/* Which words of uniform buffers may be read whatever path an invocation takes. */
enum pm_uniform_reads {
    PM_READS_LOADED, /* those that it loads on every path */
    PM_READS_WITHIN, /* of buffers that it names, up to the last of these (within) */
    PM_READS_ANY     /* of buffers that it names */
};

/* What a pipeline's stage says of a shader. */
struct pm_shader_request {
    const struct pm_object *module; /* with its words */
    enum pm_stage stage;
    const char *entry_point;
    const VkSpecializationInfo *specialization; /* NULL: none */
    uint32_t subgroup_size;
    enum pm_uniform_reads reads;
    bool waits; /* for who is finding something out about it: not a game's own thread */
};
