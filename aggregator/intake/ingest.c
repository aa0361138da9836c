#include "aggregator/intake/ingest.h"

#include "aggregator/statistics/ageing.h"
#include "aggregator/storage/fail.h"
#include "aggregator/trust/left_alone_claims.h"
#include "base/clock.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define OLDEST_DAYS 366 /* where the retention has no end */
/* Who waited so long for what another holds had better come later: others wait behind it. */
#define PATIENCE_NS (INT64_C(2) * PM_SECOND)

/* A number of points that this transaction knows, beside what the storage answered. */
struct known_space {
    UT_hash_handle hh;
    struct space_name {
        const struct pm_group_game *game;
        struct pm_shader_key key;
        uint32_t kind;
    } name;
    uint32_t space; /* the storage has none yet */
};

/* One transaction. */
struct ingest {
    const struct pm_ingestion *all;
    struct pm_group group;
    struct pm_storage_upload *uploads; /* of those that were prepared */
    size_t upload_count;
    struct pm_storage_space *spaces; /* of their shaders, one upload's behind the other's */
    bool *full; /* of each of these: nobody needs claim anything of it any more */
    size_t space_count;
    bool asks_spaces; /* some upload has no mark: what its shaders are is not put to the vote */
    struct pm_storage_cap *caps; /* of the uploads */
    struct known_space *known;
    struct pm_storage_space *fresh_spaces;
    size_t fresh_count;
    struct pm_storage_original *originals;
    size_t original_count;
    struct pm_storage_upload *refused; /* that were fresh */
    size_t refused_count;
};

static bool is_refusal(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_UNSUPPORTED;
}

/* ---- numbers of points ---- */

static struct space_name name_of(const struct pm_group_game *game,
                                 const struct pm_shader_profile *shader)
{
    struct space_name name;
    memset(&name, 0, sizeof(name));
    name.game = game;
    name.key = shader->key;
    name.kind = (uint32_t)shader->kind;
    return name;
}

/* answered: by the storage. 0: it is not known. */
static uint32_t known_of(const struct ingest *ingest, const struct pm_group_game *game,
                         const struct pm_shader_profile *shader, uint32_t answered)
{
    const struct known_space *known;
    if (answered != 0)
        return answered;
    const struct space_name name = name_of(game, shader);
    HASH_FIND(hh, ingest->known, &name, sizeof(name), known);
    return known ? known->space : answered;
}

static bool know(struct ingest *ingest, const struct pm_group_game *game,
                 const struct pm_shader_profile *shader, struct pm_error *error)
{
    const struct space_name name = name_of(game, shader);
    struct known_space *known;
    HASH_FIND(hh, ingest->known, &name, sizeof(name), known);
    if (!known) {
        known = calloc(1, sizeof(*known));
        if (!known)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
        known->name = name;
        HASH_ADD(hh, ingest->known, name, sizeof(known->name), known);
    }
    known->space = shader->space;
    return true;
}

/* Of what no token vouches for, the first one stands: folding leaves out what disagrees, and takes
 * the rest of the upload. *agrees false: there is no rest. */
static void check_spaces(const struct ingest *ingest, const struct pm_group_game *game,
                         const struct pm_profile *profile, const struct pm_storage_space *spaces,
                         struct pm_ingest_outcome *outcome, bool *agrees)
{
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        const uint32_t known = known_of(ingest, game, shader, spaces[i].space);
        if (known == 0 || known == shader->space || outcome->left_out++ > 0)
            continue;
        pm_fail(&outcome->reason, PM_ERROR_INPUT,
                "space: %" PRIu32 " does not agree with the %" PRIu32 " known before",
                shader->space, known);
        pm_fail_shader(&outcome->reason, &shader->key);
    }
    *agrees = outcome->left_out == 0 || outcome->left_out < profile->shader_count;
}

/* ---- keeping ---- */

static bool note_original(struct ingest *ingest, const char *game,
                          const struct pm_shader_profile *shader,
                          const struct pm_ingest_source *source, struct pm_error *error)
{
    bool stands;
    uint32_t day; /* the last of which it stands */
    if (pm_shader_key_is_none(&shader->original))
        return true;
    if (!pm_claims_note_original(ingest->all->claims, game, shader, source, ingest->group.day,
                                 &stands, &day, error))
        return false;
    if (stands)
        ingest->originals[ingest->original_count++] =
            (struct pm_storage_original){game, shader->key, shader->original, day};
    return true;
}

/* marked: what its shaders are is put to the vote (votes.h). */
static bool note_shaders(struct ingest *ingest, const struct pm_group_game *game,
                         const struct pm_profile *profile, const struct pm_storage_space *spaces,
                         const struct pm_ingest_source *source, bool marked, struct pm_error *error)
{
    const bool *full = &ingest->full[spaces - ingest->spaces];
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        const uint32_t known = marked ? 0 : known_of(ingest, game, shader, spaces[i].space);
        if (known != 0 && known != shader->space)
            continue;
        /* One key may occur in a profile with several environments. */
        if ((!marked && known == 0 && !know(ingest, game, shader, error)) ||
            (source && !full[i] &&
             !pm_claims_note(ingest->all->claims, profile->game, profile->scene, shader, source,
                             ingest->group.day, error)) ||
            !note_original(ingest, profile->game, shader, source, error))
            return false;
    }
    return true;
}

static bool note_game(struct ingest *ingest, const char *game,
                      const struct pm_ingest_source *source, struct pm_error *error)
{
    bool stands;
    return ingest->all->limits.max_games == UINT32_MAX ||
           pm_claims_note_scene(ingest->all->claims, game, "", source, ingest->group.day, &stands,
                                error);
}

static bool note_scene(struct ingest *ingest, struct pm_group_game *game, const char *name,
                       const struct pm_ingest_source *source, struct pm_error *error)
{
    bool stands;
    if (!name || !*name)
        return true;
    return pm_claims_note_scene(ingest->all->claims, game->name, name, source, ingest->group.day,
                                &stands, error) &&
           pm_group_name_scene(game, name, stands, error);
}

/* mark: NULL where each upload is a cluster. */
static bool keep(struct ingest *ingest, struct pm_group_game *game,
                 const struct pm_prepared *prepared, const struct pm_storage_space *spaces,
                 const struct pm_ingest_source *source, const uint8_t *mark, struct pm_error *error)
{
    const struct pm_profile *profile = prepared->profile;
    game->uploads++;
    return note_game(ingest, game->name, source, error) &&
           note_scene(ingest, game, profile->scene, source, error) &&
           pm_group_append(&ingest->group, game, prepared, mark, error) &&
           pm_left_alone_claims_note(ingest->all->claims, profile, source, ingest->group.day,
                                     error) &&
           note_shaders(ingest, game, profile, spaces, source, mark != NULL, error);
}

/* Of a game that nobody may add. */
static void turn_away(struct ingest *ingest, struct pm_ingest_outcome *outcome)
{
    outcome->result = PM_INGEST_NO_ROOM;
    pm_fail(&outcome->reason, PM_ERROR_LIMIT,
            "game: is new here, and %u games are known, which is the most (--max-games)",
            (unsigned)ingest->all->limits.max_games);
    pm_group_tell_no_room(&ingest->group);
}

/* false: the group fails as a whole. */
static bool take(struct ingest *ingest, const struct pm_prepared *prepared,
                 const struct pm_storage_upload *upload, const struct pm_storage_space *spaces,
                 const struct pm_ingest_source *source, struct pm_ingest_outcome *outcome,
                 struct pm_error *error)
{
    struct pm_group_game *game = pm_group_find(&ingest->group, prepared->profile->game, error);
    uint8_t mark[PM_MARK_BYTES];
    const bool marked = source && pm_sources_sample_mark(ingest->all->sources, source,
                                                         prepared->profile->game, mark);
    bool agrees = true;
    memset(outcome, 0, sizeof(*outcome));
    outcome->result = PM_INGEST_REFUSED;
    if (!game)
        return false;
    if (game->has_room && !marked)
        check_spaces(ingest, game, prepared->profile, spaces, outcome, &agrees);
    if (!game->has_room)
        turn_away(ingest, outcome);
    if (!game->has_room || !agrees) {
        if (upload->fresh)
            ingest->refused[ingest->refused_count++] = *upload;
        return true;
    }
    outcome->result = upload->fresh ? PM_INGEST_STORED : PM_INGEST_DUPLICATE;
    if (!upload->fresh)
        return true;
    outcome->uncounted = upload->over;
    return outcome->uncounted ||
           keep(ingest, game, prepared, spaces, source, marked ? mark : NULL, error);
}

/* ---- a group ---- */

static void ingest_finish(struct ingest *ingest)
{
    struct known_space *known, *next;
    HASH_ITER(hh, ingest->known, known, next)
    {
        HASH_DEL(ingest->known, known);
        free(known);
    }
    free(ingest->uploads);
    free(ingest->caps);
    free(ingest->spaces);
    free(ingest->full);
    free(ingest->fresh_spaces);
    free(ingest->originals);
    free(ingest->refused);
    pm_group_finish(&ingest->group);
}

/* ---- days ---- */

/* An upload keeps its day for ever, and its id as long as that is within the retention. A clock may
 * be some hours off, but what is of no such day would be forgotten at once, or never. */
static bool check_day(const struct pm_world *world, uint32_t day, uint32_t today,
                      struct pm_error *error)
{
    const uint32_t kept = pm_ageing_first_day(today, world->retention_days);
    const uint32_t oldest = today > OLDEST_DAYS ? today - OLDEST_DAYS : 0;
    if (day == 0 || (day >= kept && day >= oldest && day <= today + 1))
        return true;
    if (day > today)
        return pm_fail(error, PM_ERROR_INPUT,
                       "day: %" PRIu32 " is %" PRIu32
                       " days from now; the clock was ahead where it was recorded",
                       day, day - today);
    return pm_fail(error, PM_ERROR_INPUT,
                   "day: %" PRIu32 " is %" PRIu32 " days ago, which is too long", day, today - day);
}

/* The uploads whose days are possible; the others are NULL and have their outcome. NULL: out of
 * memory. */
static struct pm_prepared **check_days(const struct pm_world *world, uint32_t today,
                                       struct pm_prepared *const *prepared, size_t count,
                                       struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_prepared **taken = calloc(count + 1, sizeof(*taken));
    if (!taken) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu uploads", count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct pm_ingest_outcome refused = {.result = PM_INGEST_REFUSED};
        if (prepared[i] && check_day(world, prepared[i]->profile->day, today, &refused.reason))
            taken[i] = prepared[i];
        else if (prepared[i])
            outcomes[i] = refused;
    }
    return taken;
}

/* What the storage is asked. Those that are NULL have their outcome already. */
static bool make_questions(struct ingest *ingest, struct pm_prepared *const *prepared,
                           const struct pm_ingest_source *const *sources, size_t count,
                           struct pm_error *error)
{
    size_t shaders = 0;
    for (size_t i = 0; i < count; i++)
        shaders += prepared[i] ? prepared[i]->profile->shader_count : 0;
    ingest->uploads = calloc(count + 1, sizeof(*ingest->uploads));
    ingest->refused = calloc(count + 1, sizeof(*ingest->refused));
    ingest->caps = calloc(count + 1, sizeof(*ingest->caps));
    ingest->spaces = calloc(shaders + 1, sizeof(*ingest->spaces));
    ingest->full = calloc(shaders + 1, sizeof(*ingest->full));
    ingest->originals = calloc(shaders + 1, sizeof(*ingest->originals));
    if (!ingest->uploads || !ingest->refused || !ingest->caps || !ingest->spaces || !ingest->full ||
        !ingest->originals)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu uploads", count);
    for (size_t i = 0; i < count; i++) {
        const struct pm_profile *profile = prepared[i] ? prepared[i]->profile : NULL;
        if (!profile)
            continue;
        struct pm_storage_cap *cap = &ingest->caps[ingest->upload_count];
        const struct pm_ingest_source *source = sources ? sources[i] : NULL;
        ingest->asks_spaces =
            ingest->asks_spaces || !source || !pm_sources_has_mark(ingest->all->sources, source);
        ingest->uploads[ingest->upload_count++] = (struct pm_storage_upload){
            .game = profile->game,
            .id = profile->upload_id,
            .day = profile->day,
            .taken = ingest->group.day,
            .caps = source && pm_sources_cap(ingest->all->sources, source, profile->game,
                                             profile->upload_id, cap)
                        ? cap
                        : NULL};
        for (size_t j = 0; j < profile->shader_count; j++)
            ingest->spaces[ingest->space_count++] =
                (struct pm_storage_space){.game = profile->game,
                                          .key = profile->shaders[j].key,
                                          .kind = profile->shaders[j].kind};
    }
    return true;
}

/* What the uploads may claim, so that the storage is asked for it at once. */
static bool look_for_claims(struct ingest *ingest, struct pm_prepared *const *prepared,
                            const struct pm_ingest_source *const *sources, size_t count,
                            struct pm_error *error)
{
    struct pm_claims *claims = ingest->all->claims;
    const struct pm_storage_upload *upload = ingest->uploads;
    bool done = true, *full = ingest->full;
    for (size_t i = 0; sources && done && i < count; i++) {
        const struct pm_profile *profile = prepared[i] ? prepared[i]->profile : NULL;
        if (!profile)
            continue;
        const bool counts = sources[i] && upload->fresh && !upload->over;
        const char *scene = profile->scene;
        done = !counts || pm_left_alone_claims_expect(claims, profile, error);
        if (done && counts && ingest->all->limits.max_games != UINT32_MAX)
            done = pm_claims_expect_scene(claims, profile->game, "", error);
        if (done && counts && scene && *scene)
            done = pm_claims_expect_scene(claims, profile->game, scene, error);
        for (size_t j = 0; counts && done && j < profile->shader_count; j++) {
            const struct pm_shader_profile *shader = &profile->shaders[j];
            done = pm_claims_expect(claims, profile->game, scene, shader, &full[j], error) &&
                   (pm_shader_key_is_none(&shader->original) ||
                    pm_claims_expect_original(claims, profile->game, shader, error));
        }
        full += profile->shader_count;
        upload++;
    }
    return done && pm_claims_look(claims, error);
}

static bool take_all(struct ingest *ingest, struct pm_prepared *const *prepared,
                     const struct pm_ingest_source *const *sources, size_t count,
                     struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    const struct pm_storage_upload *upload = ingest->uploads;
    const struct pm_storage_space *spaces = ingest->spaces;
    for (size_t i = 0; i < count; i++) {
        if (!prepared[i])
            continue;
        if (!take(ingest, prepared[i], upload, spaces, sources ? sources[i] : NULL, &outcomes[i],
                  error))
            return false;
        upload++;
        spaces += prepared[i]->profile->shader_count;
    }
    return true;
}

static bool make_batch(struct ingest *ingest, struct pm_storage_batch *batch,
                       struct pm_error *error)
{
    struct known_space *known, *next;
    size_t marks = 0;
    ingest->fresh_spaces = calloc(HASH_COUNT(ingest->known) + 1, sizeof(*ingest->fresh_spaces));
    if (!ingest->fresh_spaces)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
    HASH_ITER(hh, ingest->known, known, next)
    {
        ingest->fresh_spaces[ingest->fresh_count++] =
            (struct pm_storage_space){.game = known->name.game->name,
                                      .key = known->name.key,
                                      .kind = (enum pm_kind)known->name.kind,
                                      .space = known->space};
    }
    *batch = (struct pm_storage_batch){.spaces = ingest->fresh_spaces,
                                       .space_count = ingest->fresh_count,
                                       .marks = pm_claims_marks(ingest->all->claims, &marks),
                                       .originals = ingest->originals,
                                       .original_count = ingest->original_count};
    batch->mark_count = marks;
    return pm_group_collect(&ingest->group, batch, error);
}

static bool commit_all(struct ingest *ingest, struct pm_prepared *const *prepared,
                       const struct pm_ingest_source *const *sources, size_t count,
                       struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_storage *storage = ingest->all->world->storage;
    struct pm_storage_batch batch;
    if (!storage->operations->begin_uploads(storage, ingest->uploads, ingest->upload_count, error))
        return false;
    if ((!ingest->asks_spaces ||
         storage->operations->find_spaces(storage, ingest->spaces, ingest->space_count, error)) &&
        look_for_claims(ingest, prepared, sources, count, error) &&
        take_all(ingest, prepared, sources, count, outcomes, error) &&
        (ingest->refused_count == 0 ||
         storage->operations->return_uploads(storage, ingest->refused, ingest->refused_count,
                                             error)) &&
        make_batch(ingest, &batch, error))
        return storage->operations->commit_uploads(storage, &batch, error);
    storage->operations->rollback(storage);
    return false;
}

static bool ingest_once(struct pm_ingestion *ingestion, struct pm_prepared *const *prepared,
                        const struct pm_ingest_source *const *sources, size_t count,
                        struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_world *world = ingestion->world;
    struct ingest ingest = {
        .all = ingestion,
        .group = {.world = world, .claims = ingestion->claims, .limits = &ingestion->limits}};
    pthread_mutex_lock(&world->write_mutex);
    ingest.group.day = pm_world_today(world);
    struct pm_prepared **taken =
        check_days(world, ingest.group.day, prepared, count, outcomes, error);
    const bool done = taken && pm_claims_begin_epoch(ingestion->claims, ingest.group.day, error) &&
                      make_questions(&ingest, taken, sources, count, error) &&
                      commit_all(&ingest, taken, sources, count, outcomes, error);
    pm_claims_end(ingestion->claims);
    if (done)
        pm_group_committed(&ingest.group);
    else
        pm_claims_forget(ingestion->claims);
    pthread_mutex_unlock(&world->write_mutex);
    if (done)
        pm_folding_add(ingestion->folding, ingest.group.bytes);
    ingest_finish(&ingest);
    free(taken);
    return done;
}

bool pm_ingest_prepared(struct pm_ingestion *ingestion, struct pm_prepared *const *prepared,
                        const struct pm_ingest_source *const *sources, size_t count,
                        struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_error reason = {0};
    uint32_t tries = 0;
    bool done = pm_fold_make_room(ingestion->folding, &reason);
    if (!done && reason.code == PM_ERROR_CONFLICT)
        reason.code = PM_ERROR_STATE; /* of folding: no upload can be taken */
    const int64_t until = pm_now() + PATIENCE_NS;
    while (done && !(done = ingest_once(ingestion, prepared, sources, count, outcomes, &reason)))
        /* Who is interrupted has as long as pm_world_again gives, whatever its patience. */
        done = (pm_now() < until || pm_world_is_interrupted(ingestion->world)) &&
               pm_world_again(ingestion->world, &tries, &reason);
    for (size_t i = 0; done && i < count; i++) {
        if (prepared[i] && (outcomes[i].result == PM_INGEST_REFUSED || outcomes[i].left_out > 0))
            pm_quarantine_add_profile(ingestion->quarantine, prepared[i]->profile,
                                      outcomes[i].reason.message);
    }
    if (!done && error)
        *error = reason;
    return done;
}

bool pm_ingest_profiles(struct pm_ingestion *ingestion, const struct pm_profile *const *profiles,
                        const struct pm_ingest_source *const *sources, size_t count,
                        struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    bool done = true;
    struct pm_prepared **prepared = calloc(count + 1, sizeof(*prepared));
    if (!prepared)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu profiles", count);
    for (size_t i = 0; done && i < count; i++) {
        outcomes[i] = (struct pm_ingest_outcome){.result = PM_INGEST_REFUSED};
        prepared[i] = pm_ingest_prepare(ingestion->quarantine, profiles[i], &outcomes[i].reason);
        done = prepared[i] || is_refusal(&outcomes[i].reason);
        if (!done && error)
            *error = outcomes[i].reason;
    }
    done = done && pm_ingest_prepared(ingestion, prepared, sources, count, outcomes, error);
    for (size_t i = 0; i < count; i++)
        pm_prepared_destroy(prepared[i]);
    free(prepared);
    return done;
}
