#include "bench/ingest/ingest_bodies.h"

#include "aggregator/intake/samples.h"
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_A_DAY 86400
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

/* Where pm_profile_encode puts the upload id: behind the version (2 bytes) and its own tag and
 * size. */
#define ID_AT 4
#define HEAD (ID_AT + PM_UPLOAD_ID_BYTES)
#define FRAME_HEAD 32 /* the id is in these bytes of a frame */
#define CHECKSUM 4    /* bytes at the end of a frame */

void bodies_game(uint32_t game, char name[static BODIES_GAME_BYTES])
{
    snprintf(name, BODIES_GAME_BYTES, "game-%05u", game);
}

struct pm_shader_key bodies_key(uint32_t game, uint32_t shader)
{
    struct pm_shader_key key;
    for (uint32_t i = 0; i < PM_SHADER_KEY_BYTES / 8; i++) {
        const uint64_t part = pm_random_mix((uint64_t)game << 40 | (uint64_t)shader << 8 | i);
        memcpy(key.bytes + (size_t)i * 8, &part, 8);
    }
    return key;
}

void bodies_counts(struct pm_random *random, uint32_t shader, const uint32_t *points, size_t count,
                   struct pm_point_counts *out)
{
    enum { SUBGROUP = 32 };
    /* From a draw of three pixels to a full screen. */
    const uint64_t entry = 3 + pm_random_below(random, 1u << pm_random_below(random, 22));
    const uint64_t subgroups = (entry + SUBGROUP - 1) / SUBGROUP;
    for (size_t i = 0; i < count; i++) {
        const uint64_t truth = pm_random_mix((uint64_t)shader << 32 | points[i]);
        /* A quarter never runs, a quarter always; of the rest, some in every draw. */
        const double share = truth % 4 == 0   ? 0
                             : truth % 4 == 1 ? 1
                                              : (double)(truth >> 11) * 0x1p-53;
        const uint64_t lanes =
            share > 0 && share < 1
                ? (uint64_t)((double)entry * share * (0.5 + pm_random_unit(random)) / 1.5)
                : (uint64_t)share * entry;
        const uint64_t parts = (lanes + SUBGROUP - 1) / SUBGROUP;
        out[i] = (struct pm_point_counts){
            .point = points[i],
            .calls = 1,
            .entry_lanes = entry,
            .entry_subgroups = subgroups,
            .counts = {lanes, share < 1 ? lanes / 4 * 3 : lanes, parts},
        };
    }
}

/* `count` different numbers below `below`, ascending (Knuth's algorithm S). */
static void draw(struct pm_random *random, uint32_t below, uint32_t count, uint32_t *out)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; taken < count; i++) {
        if (pm_random_below(random, below - i) < count - taken)
            out[taken++] = i;
    }
}

/* *sample_bytes grows by what the aggregator will keep of it until it is folded. */
static bool encode(const struct bodies_info *info, struct pm_random *random, struct pm_arena *arena,
                   struct pm_buffer *out, double *sample_bytes, struct pm_error *error)
{
    const uint32_t game = pm_random_below(random, info->games);
    char name[BODIES_GAME_BYTES];
    bodies_game(game, name);
    uint32_t *chosen = pm_arena_zalloc(arena, info->upload_shaders, sizeof(*chosen));
    uint32_t *points = pm_arena_zalloc(arena, info->upload_points, sizeof(*points));
    struct pm_shader_profile *shaders =
        pm_arena_zalloc(arena, info->upload_shaders, sizeof(*shaders));
    if (!chosen || !points || !shaders)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a body");
    draw(random, info->shaders, info->upload_shaders, chosen);
    for (uint32_t i = 0; i < info->upload_shaders; i++) {
        struct pm_point_counts *counts =
            pm_arena_zalloc(arena, info->upload_points, sizeof(*counts));
        if (!counts)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a body");
        draw(random, info->points, info->upload_points, points);
        bodies_counts(random, chosen[i], points, info->upload_points, counts);
        shaders[i] = (struct pm_shader_profile){.key = bodies_key(game, chosen[i]),
                                                .environment = {.subgroup_size = 32},
                                                .kind = PM_KIND_BLOCK,
                                                .space = info->points,
                                                .points = counts,
                                                .point_count = info->upload_points};
    }
    const struct pm_profile profile = {.game = name,
                                       .scene = "",
                                       .layer_version = "bench",
                                       .day = (uint32_t)(time(NULL) / SECONDS_A_DAY),
                                       .shaders = shaders,
                                       .shader_count = info->upload_shaders};
    struct pm_buffer samples;
    pm_buffer_init(&samples, (size_t)64 << 20);
    for (size_t i = 0; i < profile.shader_count; i++)
        pm_sample_append(&samples, "", &shaders[i], i > 0 ? &shaders[i - 1] : NULL);
    *sample_bytes += (double)samples.size;
    pm_buffer_finish(&samples);
    return pm_profile_encode(&profile, out, error);
}

/* As pm_compress does it, but for a first block that holds no more than what stands before and in
 * the upload id, which zstd then leaves as it is. */
static bool compress(struct body *body, struct pm_error *error)
{
    const size_t room = ZSTD_compressBound(body->content_size) + FRAME_HEAD;
    ZSTD_CCtx *context = ZSTD_createCCtx();
    body->frame = malloc(room);
    ZSTD_inBuffer in = {body->content, HEAD, 0};
    ZSTD_outBuffer out = {body->frame, room, 0};
    bool done = context && body->frame;
    if (done) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        ZSTD_CCtx_setPledgedSrcSize(context, body->content_size);
        done = ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush) == 0;
        in.size = body->content_size;
        done = done && ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) == 0;
    }
    body->frame_size = out.pos;
    ZSTD_freeCCtx(context);
    return done || pm_fail(error, PM_ERROR_MEMORY, "cannot compress a body");
}

/* The id is random before compressing (zeros would be compressed), and found as it is in the frame.
 */
static bool find_id(struct body *body, struct pm_error *error)
{
    for (body->id_at = 0; body->id_at < FRAME_HEAD; body->id_at++) {
        if (memcmp(body->frame + body->id_at, body->content + ID_AT, PM_UPLOAD_ID_BYTES) == 0)
            return true;
    }
    return pm_fail(error, PM_ERROR_STATE, "the upload id is not in the frame as it is");
}

static bool make(struct body *body, const struct bodies_info *info, struct pm_random *random,
                 double *sample_bytes, struct pm_error *error)
{
    struct pm_buffer content;
    struct pm_arena *arena = pm_arena_create(0);
    pm_buffer_init(&content, (size_t)64 << 20);
    const bool done = arena && encode(info, random, arena, &content, sample_bytes, error);
    pm_arena_destroy(arena);
    body->content = content.data;
    body->content_size = content.size;
    if (!done)
        return false;
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        body->content[ID_AT + i] = (unsigned char)pm_random_next(random);
    return compress(body, error) && find_id(body, error);
}

/* Is what bodies_write makes what a server will read? */
static bool check(const struct bodies *bodies, struct pm_random *random, struct pm_error *error)
{
    const struct body *body = &bodies->bodies[0];
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile profile;
    struct pm_buffer content;
    unsigned char *frame = malloc(bodies->largest);
    pm_buffer_init(&content, body->content_size);
    bool done = arena && frame;
    if (done) {
        bodies_write(body, random, frame);
        done = pm_decompress(frame, body->frame_size, &content, error) &&
               pm_profile_decode(content.data, content.size, NULL, arena, &profile, error) &&
               (memcmp(profile.upload_id, frame + body->id_at, PM_UPLOAD_ID_BYTES) == 0 ||
                pm_fail(error, PM_ERROR_STATE, "the upload id is not where it should be"));
    }
    pm_buffer_finish(&content);
    free(frame);
    pm_arena_destroy(arena);
    return done;
}

bool bodies_create(struct bodies *bodies, const struct bodies_info *info, struct pm_error *error)
{
    struct pm_random random;
    pm_random_init(&random, info->seed);
    *bodies = (struct bodies){.bodies = calloc(info->count, sizeof(*bodies->bodies)),
                              .count = info->count};
    bool done = bodies->bodies || pm_fail(error, PM_ERROR_MEMORY, "out of memory for bodies");
    for (size_t i = 0; done && i < info->count; i++) {
        const struct body *body = &bodies->bodies[i];
        done = make(&bodies->bodies[i], info, &random, &bodies->mean_sample_bytes, error);
        if (body->frame_size > bodies->largest)
            bodies->largest = body->frame_size;
        bodies->mean_size += (double)body->frame_size / (double)info->count;
    }
    bodies->mean_sample_bytes /= (double)info->count;
    done = done && check(bodies, &random, error);
    if (!done)
        bodies_finish(bodies);
    return done;
}

void bodies_finish(struct bodies *bodies)
{
    for (size_t i = 0; bodies->bodies && i < bodies->count; i++) {
        free(bodies->bodies[i].frame);
        free(bodies->bodies[i].content);
    }
    free(bodies->bodies);
    *bodies = (struct bodies){0};
}

void bodies_write(const struct body *body, struct pm_random *random, unsigned char *out)
{
    unsigned char *id = out + body->id_at;
    XXH64_state_t state;
    memcpy(out, body->frame, body->frame_size);
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i += 8) {
        const uint64_t part = pm_random_next(random);
        memcpy(id + i, &part, 8);
    }
    XXH64_reset(&state, 0);
    XXH64_update(&state, body->content, ID_AT);
    XXH64_update(&state, id, PM_UPLOAD_ID_BYTES);
    XXH64_update(&state, body->content + HEAD, body->content_size - HEAD);
    const uint32_t checksum = (uint32_t)XXH64_digest(&state);
    memcpy(out + body->frame_size - CHECKSUM, &checksum, CHECKSUM); /* little-endian, as we are */
}
