#include "aggregator_client/session_upload.h"
#include "base/random.h"
#include "profile/left_alone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECONDS_A_DAY 86400

/* Of an upload: so many encode within an arena's memory, and none that is taken has more. */
enum { MOST_POINTS = 1 << 21 };

/* The checkpoints of one (game, scene, layer version). */
struct group {
    char *game, *scene, *layer_version;
    struct pm_profile_merge *merge;
};

struct groups {
    struct group list[PM_SPOOL_PARTS];
    unsigned count;
    size_t checkpoints;
};

static void finish_groups(struct groups *groups)
{
    for (unsigned i = 0; i < groups->count; i++) {
        free(groups->list[i].game);
        free(groups->list[i].scene);
        free(groups->list[i].layer_version);
        pm_profile_merge_destroy(groups->list[i].merge);
    }
}

static struct group *group_of(struct groups *groups, const struct pm_profile *checkpoint,
                              struct pm_error *error)
{
    for (unsigned i = 0; i < groups->count; i++) {
        struct group *group = &groups->list[i];
        if (strcmp(group->game, checkpoint->game) == 0 &&
            strcmp(group->scene, checkpoint->scene) == 0 &&
            strcmp(group->layer_version, checkpoint->layer_version) == 0)
            return group;
    }
    if (groups->count == PM_SPOOL_PARTS) {
        pm_fail(error, PM_ERROR_LIMIT, "more than %d games and scenes in one process",
                PM_SPOOL_PARTS);
        return NULL;
    }
    struct group *group = &groups->list[groups->count++];
    group->game = strdup(checkpoint->game);
    group->scene = strdup(checkpoint->scene);
    group->layer_version = strdup(checkpoint->layer_version);
    group->merge = pm_profile_merge_create();
    if (!group->game || !group->scene || !group->layer_version || !group->merge) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    return group;
}

static bool take_checkpoint(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    struct groups *groups = user;
    struct group *group = group_of(groups, checkpoint, error);
    groups->checkpoints++;
    return group && pm_profile_merge_add(group->merge, checkpoint, error);
}

/* The id that a session's name spells, plus the number of the upload; a random one for a file named
 * otherwise. */
static bool id_of(const char *path, unsigned part, uint8_t id[static PM_UPLOAD_ID_BYTES])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strspn(name, "0123456789abcdef") != PM_SPOOL_NAME)
        return pm_random_system(id, PM_UPLOAD_ID_BYTES);
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++) {
        const char digits[3] = {name[2 * i], name[2 * i + 1], '\0'};
        id[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    id[0] = (uint8_t)(id[0] + part);
    return true;
}

/* On which the session was last written to, so that it stays when the upload is built again. */
static uint32_t day_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_mtime > 0
               ? (uint32_t)(status.st_mtime / SECONDS_A_DAY)
               : 0;
}

static bool encode(const struct pm_profile *profile, struct pm_buffer *body, struct pm_error *error)
{
    struct pm_buffer wire;
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    const bool done =
        pm_profile_encode(profile, &wire, error) && pm_compress(wire.data, wire.size, body, error);
    pm_buffer_finish(&wire);
    return done;
}

/* Without what was measured of variants, where there is anything else. */
static bool encode_plain(const struct pm_profile *profile, struct pm_session_upload *upload,
                         struct pm_error *error)
{
    struct pm_shader_profile *shaders = calloc(profile->shader_count + 1, sizeof(*shaders));
    if (!shaders)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    struct pm_profile plain = *profile;
    plain.shaders = shaders;
    plain.shader_count = 0;
    for (size_t i = 0; i < profile->shader_count; i++) {
        if (profile->shaders[i].kind != PM_KIND_VARIANT)
            shaders[plain.shader_count++] = profile->shaders[i];
    }
    upload->plain_shaders = plain.shader_count;
    const bool needed = plain.shader_count > 0 && plain.shader_count < profile->shader_count;
    const bool done = !needed || encode(&plain, &upload->plain, error);
    free(shaders);
    return done;
}

void pm_session_upload_leave_variants(struct pm_session_upload *upload)
{
    struct pm_buffer whole = upload->body;
    upload->body = upload->plain;
    upload->plain = whole;
    pm_buffer_finish(&upload->plain);
    upload->shaders = upload->plain_shaders;
}

/* What the machine could make nothing of in the day before the session's end. It is as good without
 * where that cannot be read. */
static void count_left_alone(const char *game, const char *path, struct pm_profile *profile)
{
    struct stat status;
    struct pm_left_alone left;
    struct pm_arena *arena = pm_arena_create(0);
    if (arena && stat(path, &status) == 0 &&
        pm_left_alone_read(NULL, game, status.st_mtime - SECONDS_A_DAY, arena, &left, NULL)) {
        for (size_t i = 0; i < PM_LEFT_ALONE_WHYS; i++)
            profile->left_alone[i] =
                left.whys[i] < PM_LEFT_ALONE_MOST ? left.whys[i] : PM_LEFT_ALONE_MOST;
    }
    pm_arena_destroy(arena);
}

/* One upload of some of its shaders; *large: it must be several. */
static bool build_part(const struct pm_profile *profile, struct pm_session_upload *upload,
                       bool *large, struct pm_error *error)
{
    const struct pm_profile_limits *limits = &pm_profile_limits_default;
    struct pm_error why = {0};
    size_t points = 0;
    for (size_t i = 0; i < profile->shader_count; i++)
        points += profile->shaders[i].point_count;
    pm_buffer_init(&upload->body, limits->decompressed_bytes);
    pm_buffer_init(&upload->plain, limits->decompressed_bytes);
    bool built = points > MOST_POINTS && profile->shader_count > 1
                     ? pm_fail(&why, PM_ERROR_LIMIT, "%zu points in one upload", points)
                     : encode(profile, &upload->body, &why);
    *large = profile->shader_count > 1 &&
             (built ? upload->body.size > limits->compressed_bytes : why.code == PM_ERROR_LIMIT);
    built = built && !*large && encode_plain(profile, upload, &why);
    if (built) {
        upload->shaders = profile->shader_count;
        upload->game = strdup(profile->game);
        built = upload->game || pm_fail(&why, PM_ERROR_MEMORY, "out of memory");
    }
    if (!built) {
        pm_buffer_finish(&upload->body);
        pm_buffer_finish(&upload->plain);
        if (error)
            *error = why;
    }
    return built;
}

/* As many as it takes for each to be one that aggregators take: halves, and halves of those. The
 * first is part `at`, the others come behind all there are, so that no other part's number changes.
 * So the same session always becomes the same ones. */
static bool build_parts(struct pm_session *session, const char *path, unsigned at,
                        const struct pm_profile *profile, struct pm_error *error)
{
    struct pm_profile part = *profile;
    bool large;
    if (!id_of(path, at, part.upload_id))
        return pm_fail(error, PM_ERROR_IO, "the system gives no random numbers");
    if (build_part(&part, &session->uploads[at], &large, error))
        return true;
    if (!large)
        return false;
    part.shader_count /= 2;
    if (!build_parts(session, path, at, &part, error))
        return false;
    if (session->count == PM_SPOOL_PARTS)
        return pm_fail(error, PM_ERROR_LIMIT, "more than %d uploads of one process",
                       PM_SPOOL_PARTS);
    part.shaders += part.shader_count;
    part.shader_count = profile->shader_count - part.shader_count;
    /* Said once. */
    memset(part.left_alone, 0, sizeof(part.left_alone));
    return build_parts(session, path, session->count++, &part, error);
}

static bool build_group(struct pm_session *session, const struct group *group, unsigned at,
                        const char *path, struct pm_error *error)
{
    struct pm_profile profile = {.game = group->game,
                                 .scene = group->scene,
                                 .layer_version = group->layer_version,
                                 .day = day_of(path)};
    profile.shaders = pm_profile_merge_shaders(group->merge, &profile.shader_count);
    if (!profile.shaders)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    count_left_alone(group->game, path, &profile);
    return build_parts(session, path, at, &profile, error);
}

bool pm_session_build(struct pm_session *session, const char *path, struct pm_error *error)
{
    struct groups groups = {0};
    memset(session, 0, sizeof(*session));
    bool built =
        pm_spool_read(path, take_checkpoint, &groups, &session->damaged_at, &session->damage);
    if (!built && error)
        *error = session->damage;
    session->checkpoints = groups.checkpoints;
    session->withheld = built && pm_spool_is_withheld(path);
    session->count = groups.count;
    for (unsigned i = 0; i < groups.count && built; i++)
        built = build_group(session, &groups.list[i], i, path, error);
    finish_groups(&groups);
    if (!built)
        pm_session_finish(session);
    return built;
}

void pm_session_finish(struct pm_session *session)
{
    for (unsigned i = 0; i < session->count; i++) {
        free(session->uploads[i].game);
        pm_buffer_finish(&session->uploads[i].body);
        pm_buffer_finish(&session->uploads[i].plain);
    }
    session->count = 0;
}
