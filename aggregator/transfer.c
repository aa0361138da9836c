/* Taking in what another storage knows, and forgetting. */
#include "aggregator/aggregator_private.h"
#include "aggregator/curation/publish.h"
#include "aggregator/intake/forget.h"
#include "aggregator/storage/fail.h"
#include "aggregator/storage/seal.h"
#include "aggregator/trust/votes.h"

#include "base/name.h"
#include "profile/profile_check.h"
#include <string.h>

/* ---- import ---- */

struct import {
    struct pm_world *world; /* what it goes to */
    struct pm_storage *from;
    const char *game;
    struct pm_imported *imported;
    size_t origins; /* that the game has there */
    struct pm_shader_key key;
    enum pm_kind kind; /* of the last blob; 0: there was none */
    uint32_t space;    /* likewise */
};

static bool add_game(const struct import *import, struct pm_storage *from, struct pm_error *error)
{
    struct pm_storage *storage = import->world->storage;
    const struct pm_profile name = {.game = import->game, .scene = "", .layer_version = ""};
    bool known;
    if (!from->operations->find_game(from, import->game, &known, &import->imported->uploads, error))
        return false;
    if (!known)
        return pm_fail(error, PM_ERROR_STATE, "the game \"%s\" is not known there", import->game);
    if (import->origins == 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "what is known of \"%s\" there does not say where it comes from, so that it "
                       "could be counted twice",
                       import->game);
    return pm_profile_check(&name, &pm_profile_limits_default, error) &&
           pm_storage_add_game(storage, import->game, import->imported->uploads, error);
}

/* Is this origin among those that the visited game has? */
struct wanted_origin {
    const void *origin;
    size_t size;
    bool found;
};

static bool compare_origin(void *user, const void *origin, size_t size, struct pm_error *error)
{
    struct wanted_origin *wanted = user;
    (void)error;
    if (size == wanted->size && memcmp(origin, wanted->origin, size) == 0)
        wanted->found = true;
    return true;
}

static bool visit_origin(void *user, const void *origin, size_t size, struct pm_error *error)
{
    struct import *import = user;
    struct pm_storage *storage = import->world->storage;
    struct wanted_origin wanted = {origin, size, false};
    import->origins++;
    if (!storage->operations->read_origins(storage, import->game, compare_origin, &wanted, error))
        return false;
    if (wanted.found)
        return pm_fail(error, PM_ERROR_STATE,
                       "profiles of \"%s\" that come from there are counted here already",
                       import->game);
    return storage->operations->add_origin(storage, import->game, origin, size, error);
}

/* Both sides must mean the same points. */
static bool agree_on_space(struct import *import, const struct pm_storage_key *key, uint32_t space,
                           struct pm_error *error)
{
    struct pm_storage *storage = import->world->storage;
    uint32_t known;
    /* Blobs of one shader follow each other. */
    if (import->kind == key->kind && pm_shader_key_equal(&import->key, &key->key))
        return space == import->space ||
               pm_fail(error, PM_ERROR_INPUT, "it has %u and %u points there", import->space,
                       space);
    import->kind = key->kind;
    import->key = key->key;
    import->space = space;
    if (!pm_storage_find_space(storage, import->game, &key->key, key->kind, &known, error))
        return false;
    if (known != 0 && known != space)
        return pm_fail(error, PM_ERROR_INPUT, "it has %u points there and %u here", space, known);
    return known != 0 ||
           pm_storage_put_space(storage, import->game, &key->key, key->kind, space, error);
}

/* Without what the aggregator's own lot said of a variant's cluster (intake/hold_out.h). */
static uint32_t flags_of(const struct pm_storage_key *key)
{
    return key->kind == PM_KIND_VARIANT ? key->flags & ~(uint32_t)PM_PROFILE_HELD_OUT : key->flags;
}

/* Whoever imports vouches for it: no number of tokens has to. scene: as for pm_claims_scope; NULL:
 * for the number of points. */
static bool vouch(struct import *import, const struct pm_storage_key *key, uint32_t space,
                  const char *scene, struct pm_error *error)
{
    struct pm_storage *storage = import->world->storage;
    const uint32_t today = pm_world_today(import->world);
    struct pm_storage_claim claim = {.game = import->game,
                                     .key = key->key,
                                     .kind = key->kind,
                                     .space = space,
                                     .tokens = INT32_MAX,
                                     .day = today};
    if (scene)
        pm_claims_scope(&key->environment, flags_of(key) == 0, scene, claim.scope);
    return storage->operations->put_claims(storage, &claim, 1, error);
}

/* Whoever imports also says which scenes there are, however many. */
static bool visit_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                        struct pm_error *error)
{
    struct import *import = user;
    struct pm_storage *storage = import->world->storage;
    const struct pm_profile name = {.game = import->game, .scene = scene, .layer_version = ""};
    const uint32_t today = pm_world_today(import->world);
    struct pm_storage_scene one = {.game = import->game,
                                   .name = scene,
                                   .uploads = uploads,
                                   .day = day < today ? day : today,
                                   .most = UINT32_MAX};
    return pm_profile_check(&name, &pm_profile_limits_default, error) &&
           storage->operations->add_scenes(storage, &one, 1, error);
}

/* A file from elsewhere may hold what no upload could have brought. */
static bool check_key(const struct import *import, const struct pm_storage_key *key, uint32_t space,
                      struct pm_error *error)
{
    const struct pm_shader_profile shader = {.key = key->key,
                                             .environment = key->environment,
                                             .kind = key->kind,
                                             .flags = flags_of(key),
                                             .space = space};
    const struct pm_profile profile = {.game = key->game,
                                       .scene = key->scene,
                                       .layer_version = "",
                                       .shaders = &shader,
                                       .shader_count = 1};
    /* One day for clocks that disagree. */
    if (key->day > pm_world_today(import->world) + 1)
        return pm_fail(error, PM_ERROR_INPUT, "the day is yet to come");
    return pm_profile_check(&profile, &pm_profile_limits_default, error);
}

static bool visit_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                       struct pm_error *error)
{
    struct import *import = user;
    struct pm_storage *storage = import->world->storage;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    bool done =
        (blob || pm_seal_fail(error)) && pm_statistics_decode(blob, size, &statistics, error);
    if (done && statistics.kind != key->kind)
        done = pm_fail(error, PM_ERROR_INPUT, "its statistics are of another kind");
    done = done && check_key(import, key, statistics.space, error) &&
           agree_on_space(import, key, statistics.space, error) &&
           vouch(import, key, statistics.space, NULL, error) &&
           vouch(import, key, statistics.space, "", error) &&
           (key->scene[0] == 0 || vouch(import, key, statistics.space, key->scene, error)) &&
           pm_storage_add_blob(storage, key, blob, size, error);
    pm_statistics_finish(&statistics);
    import->imported->blobs++;
    return done || pm_fail_blob(error, key);
}

/* A file from elsewhere may also name one that was never timed, which then is of nothing. */
static bool visit_original(void *user, const struct pm_shader_key *key,
                           const struct pm_shader_key *original, uint32_t day,
                           struct pm_error *error)
{
    struct import *import = user;
    struct pm_storage *storage = import->world->storage;
    const uint32_t today = pm_world_today(import->world);
    if (!key)
        return pm_fail(error, PM_ERROR_INPUT, "an original of day %u has a damaged key", day);
    const struct pm_storage_original one = {import->game, *key, *original,
                                            day < today ? day : today};
    return pm_shader_key_is_none(original) ||
           storage->operations->put_originals(storage, &one, 1, error);
}

static bool visit_name(void *user, const struct pm_shader_key *key, const char *name,
                       struct pm_error *error)
{
    struct import *import = user;
    struct pm_storage *storage = import->world->storage;
    return pm_name_check(name, "a shader's name", PM_NAME_BYTES, error) &&
           storage->operations->put_name(storage, import->game, key, name, error);
}

static bool import_game(void *user, struct pm_storage *storage, struct pm_error *error)
{
    struct import *import = user;
    struct pm_storage *from = import->from;
    (void)storage;
    import->origins = 0;
    import->kind = (enum pm_kind)0;
    *import->imported = (struct pm_imported){0};
    return from->operations->read_origins(from, import->game, visit_origin, import, error) &&
           add_game(import, from, error) &&
           from->operations->list_scenes(from, import->game, UINT32_MAX, visit_scene, import,
                                         error) &&
           from->operations->read_originals(from, import->game, visit_original, import, error) &&
           from->operations->read_names(from, import->game, visit_name, import, error) &&
           from->operations->read_game(from, import->game, NULL, visit_blob, import, error);
}

bool pm_aggregator_import(struct pm_aggregator *aggregator, struct pm_aggregator *source,
                          const char *game, struct pm_imported *imported, struct pm_error *error)
{
    struct import import = {.world = &aggregator->world,
                            .from = source->world.storage,
                            .game = game,
                            .imported = imported};
    *imported = (struct pm_imported){0};
    return pm_fold_early(&source->folding, game, error) &&
           pm_world_transact(&aggregator->world, PM_DURABLE, import_game, &import, error);
}

/* ---- shaders whose words are known ---- */

struct knowing {
    const char *game;
    const struct pm_shader_profile *shader;
    bool *replaced;
};

static bool know_shader(void *user, struct pm_storage *storage, struct pm_error *error)
{
    const struct knowing *knowing = user;
    const struct pm_shader_profile *shader = knowing->shader;
    const struct pm_storage_claim claim = {
        .game = knowing->game,
        .key = shader->key,
        .kind = shader->kind,
        .space = shader->space,
        .facts = pm_facts_of(shader->at_most_once, shader->space),
        .tokens = PM_VOTES_KNOWN,
        .day = PM_VOTES_KNOWN_DAY,
    };
    uint32_t space;
    if (!pm_storage_find_space(storage, knowing->game, &shader->key, shader->kind, &space, error))
        return false;
    *knowing->replaced = space != 0 && space != shader->space;
    return (space == shader->space ||
            (space == 0
                 ? pm_storage_put_space(storage, knowing->game, &shader->key, shader->kind,
                                        shader->space, error)
                 : storage->operations->replace_space(storage, knowing->game, &shader->key,
                                                      shader->kind, shader->space, error))) &&
           storage->operations->put_claims(storage, &claim, 1, error) &&
           (!*knowing->replaced || pm_storage_note_change(storage, knowing->game, error));
}

bool pm_aggregator_know_shader(struct pm_aggregator *aggregator, const char *game,
                               const struct pm_shader_profile *shader, bool *replaced,
                               struct pm_error *error)
{
    struct knowing knowing = {game, shader, replaced};
    return pm_world_transact(&aggregator->world, PM_LAZY, know_shader, &knowing, error);
}

struct naming {
    const char *game;
    const struct pm_shader_key *key;
    const char *name;
};

static bool name_shader(void *user, struct pm_storage *storage, struct pm_error *error)
{
    const struct naming *naming = user;
    return storage->operations->put_name(storage, naming->game, naming->key, naming->name, error);
}

bool pm_aggregator_name_shader(struct pm_aggregator *aggregator, const char *game,
                               const struct pm_shader_key *key, const char *name,
                               struct pm_error *error)
{
    struct naming naming = {game, key, name};
    return pm_name_check(name, "a shader's name", PM_NAME_BYTES, error) &&
           pm_world_transact(&aggregator->world, PM_LAZY, name_shader, &naming, error);
}

/* ---- forgetting ---- */

struct drop {
    const char *game;
    const struct pm_shader_key *key; /* NULL: all of the game */
    uint64_t *blobs;
};

static bool drop(void *user, struct pm_storage *storage, struct pm_error *error)
{
    const struct drop *drop = user;
    const struct pm_shader_key *key = drop->key;
    const char *game = drop->game;
    char text[PM_SHADER_KEY_TEXT];
    uint64_t uploads, samples = 0;
    bool known;
    if (!storage->operations->find_game(storage, game, &known, &uploads, error))
        return false;
    if (!known)
        return pm_fail(error, PM_ERROR_STATE, "the game \"%s\" is not known", game);
    /* Uploads go on beside this: some of the shader may have come since it was folded, and what
     * tokens said today waits until the day has ended. */
    if ((key && !pm_samples_forget(storage, game, key, &samples, error)) ||
        !storage->operations->drop(storage, game, key, drop->blobs, error))
        return false;
    if (*drop->blobs == 0)
        *drop->blobs = samples;
    if (!key || *drop->blobs > 0)
        return !key || pm_storage_note_change(storage, game, error);
    pm_shader_key_format(key, text);
    return pm_fail(error, PM_ERROR_STATE, "nothing is known of shader %s of \"%s\"", text, game);
}

bool pm_aggregator_drop(struct pm_aggregator *aggregator, const char *game,
                        const struct pm_shader_key *key, uint64_t *blobs, struct pm_error *error)
{
    struct drop what = {game, key, blobs};
    *blobs = 0;
    if ((key && !pm_fold_what_can_be(&aggregator->folding, game, error)) ||
        !pm_world_transact(&aggregator->world, PM_DURABLE, drop, &what, error))
        return false;
    if (!key)
        pm_prior_pool_forget(aggregator->curator.priors, game);
    return !key || pm_curate_publish_at_once(&aggregator->curator, game, error);
}
