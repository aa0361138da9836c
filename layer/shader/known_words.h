/*
 * Which words of a shader's push constants and uniforms are worth knowing on this machine: those
 * that had one value nearly always in its earlier sessions (profile/values_store.h), but for those
 * of which the PGO database says that they change elsewhere.
 *
 * Everything is taken from what there was when the session began, so that a session's variants are
 * functions of it. Thread safety: any thread. Takes as long as a compiler does: compile threads
 * only.
 */
#pragma once

#include "layer/shader/shader_record.h"
#include "layer/shader/watch.h"
#include "shader_rewrite/shader_rewrite.h"

enum { PM_KNOWN_MOST = 16 };

struct pm_known_words {
    struct pm_constant_known words[PM_KNOWN_MOST];
    uint32_t count;
};

/* Words of push constants, PM_WATCHED_MOST at most: those that save most by themselves. */
void pm_known_words_pushed(const struct pm_device *device, const struct pm_shader_record *record,
                           struct pm_known_words *out);

/* Words of uniforms that a guard may load, PM_KNOWN_MOST at most: those without which less is
 * saved.
 */
void pm_known_words_uniform(const struct pm_device *device, const struct pm_shader_record *record,
                            enum pm_uniform_reads reads, struct pm_known_words *out);
