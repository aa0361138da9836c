/*
 * Shaders written as assembly with profiles of their own, for tests of specialize_zero; a failure
 * ends the test.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

#include <cjson/cJSON.h>

struct subject {
    struct pm_words words;
    struct pm_zero_points points;
    double *zero;
};

/* Takes the words. The profile: nothing is ever zero. */
void subject_init(struct subject *s, const struct pm_words *words);
void subject_finish(struct subject *s);

/* A compute shader around a body: %at is the invocation's index, %v0 and %v1 are floats that were
 * read for it, and %result is what it writes. */
struct subject subject_assemble(const char *capabilities, const char *modes,
                                const char *decorations, const char *body);

/* With the subject's profile. */
struct pm_specialize_zero_info subject_info(const struct subject *s,
                                            struct pm_zero_profile *profile);
struct pm_specialized subject_specialize(const struct subject *s,
                                         const struct pm_specialize_zero_info *info);

/* The candidate that is the result of the only instruction of this opcode, whole; for OpExtInst
 * (glsl not 0) of this one. */
uint32_t subject_candidate(const struct subject *s, uint16_t opcode, uint32_t glsl);

/* What the report says of a candidate; the caller deletes *root. */
const cJSON *subject_report(const struct pm_specialized *out, uint32_t candidate, cJSON **root);
double subject_number(const cJSON *object, const char *name);
