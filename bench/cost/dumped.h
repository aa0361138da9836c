/*
 * The shaders that tests/corpus/collect.sh dumped: KEY.spv, the words as a program gave them, and
 * KEY.json, what else the pipeline said. A build's own shaders have no KEY.json: of them
 * the first entry point for fragments or compute is taken.
 *
 * Thread safety: one thread a shader.
 */
#pragma once

#include "base/buffer.h"
#include "shader_rewrite/shader_rewrite.h"

#include <cjson/cJSON.h>

enum { PM_DUMPED_SPECS = 64 };

/* All that any device allows, so that nothing is refused. */
extern const struct pm_target pm_dumped_target;

struct pm_dumped {
    char name[256]; /* KEY */
    struct pm_buffer bytes;
    cJSON *about;
    /* for pm_canonicalize, with that target; what it points to is the shader's */
    struct pm_canonicalize_info info;
    struct pm_spec_value specs[PM_DUMPED_SPECS];
};

/* false: *error says why; nothing is to be finished then. */
bool pm_dumped_read(const char *folder, const char *name, struct pm_dumped *shader,
                    struct pm_error *error);
void pm_dumped_finish(struct pm_dumped *shader);

/* Each KEY of a folder, in the folder's order. */
void pm_dumped_each(const char *folder,
                    void (*visit)(void *user, const char *folder, const char *name), void *user);
