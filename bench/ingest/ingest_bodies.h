/*
 * Bodies of uploads, made once by profile/'s own encoder and compressor settings, so that a load
 * generator pays next to nothing for one. An upload id is written into a copy of a body: the
 * frame's first block holds it as it is, and the frame's checksum is made anew.
 *
 * Thread safety: a pool is only read once it is made.
 */
#pragma once

#include "base/error.h"
#include "base/random.h"
#include "profile/profile.h"

struct bodies_info {
    size_t count;                           /* different bodies */
    uint32_t games;                         /* a body is of one of these, drawn at random */
    uint32_t shaders, points;               /* a game's shaders; a shader's points */
    uint32_t upload_shaders, upload_points; /* those of one body: 150 and 8 */
    uint64_t seed;
};

struct body {
    unsigned char *frame, *content; /* zstd; what is in it */
    size_t frame_size, content_size;
    size_t id_at; /* in the frame */
};

struct bodies {
    struct body *bodies;
    size_t count;
    size_t largest;           /* frame, bytes */
    double mean_size;         /* of the frames, bytes */
    double mean_sample_bytes; /* of what a body becomes (aggregator/intake/samples.h) */
};

/* The name of a game and the key of a shader, by their numbers. */
#define BODIES_GAME_BYTES 32
void bodies_game(uint32_t game, char name[static BODIES_GAME_BYTES]);
struct pm_shader_key bodies_key(uint32_t game, uint32_t shader);

/* The counts of one session at `count` points of a shader, one batch. Truths differ by point and
 * are the same for every call: some blocks never run, some always. points: ascending, distinct. */
void bodies_counts(struct pm_random *random, uint32_t shader, const uint32_t *points, size_t count,
                   struct pm_point_counts *out);

bool bodies_create(struct bodies *bodies, const struct bodies_info *info, struct pm_error *error);
void bodies_finish(struct bodies *bodies);

/* Copies the body's frame to out (bodies->largest bytes) with another upload id, which is random.
 */
void bodies_write(const struct body *body, struct pm_random *random, unsigned char *out);
