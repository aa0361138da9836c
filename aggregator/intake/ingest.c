#include "aggregator/intake/ingest.h"

#include "aggregator/storage/fail.h"
#include "aggregator/trust/originals.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One transaction. */
struct ingest {
    const struct pm_ingestion *all;
    struct pm_group group;
};

static bool is_refusal(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_UNSUPPORTED;
}

/* Every blob of the shader is of a space that was a lie. So are samples that wait, which folding
 * will leave out. */
static bool replace_space(struct ingest *ingest, const char *game,
                          const struct pm_shader_profile *shader, uint32_t known,
                          struct pm_error *error)
{
    struct pm_storage *storage = ingest->all->world->storage;
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, text);
    pm_log_warning(ingest->all->world->log,
                   "\"%s\", shader %s: %" PRIu32
                   " points, as many clients say, and not the %" PRIu32
                   " known before: its profiles are deleted",
                   game, text, shader->space, known);
    return storage->operations->replace_space(storage, game, &shader->key, shader->kind,
                                              shader->space, error);
}

/* false: the storage failed. *agrees false: the profile is to be refused, for *reason. All shaders
 * are looked at all the same, since each that disagrees is a claim. */
static bool check_spaces(struct ingest *ingest, const struct pm_profile *profile,
                         const struct pm_ingest_source *source, bool *agrees,
                         struct pm_error *reason, struct pm_error *error)
{
    struct pm_storage *storage = ingest->all->world->storage;
    *agrees = true;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        uint32_t known;
        bool wins = false;
        if (!storage->operations->find_space(storage, profile->game, &shader->key, shader->kind,
                                             &known, error))
            return false;
        if (known == 0 || known == shader->space)
            continue;
        if (source && !pm_claims_note(ingest->all->claims, profile->game, profile->scene, shader,
                                      source, ingest->group.day, known, &wins, error))
            return false;
        if (wins && !replace_space(ingest, profile->game, shader, known, error))
            return false;
        if (!wins && *agrees) {
            pm_fail(reason, PM_ERROR_INPUT,
                    "space: %" PRIu32 " does not agree with the %" PRIu32 " known before",
                    shader->space, known);
            *agrees = pm_fail_shader(reason, &shader->key);
        }
    }
    return true;
}

static bool put_spaces(struct ingest *ingest, const struct pm_profile *profile,
                       const struct pm_ingest_source *source, struct pm_error *error)
{
    struct pm_storage *storage = ingest->all->world->storage;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        uint32_t known;
        bool wins;
        /* Asked again: one key may occur in a profile with several environments. */
        if (!storage->operations->find_space(storage, profile->game, &shader->key, shader->kind,
                                             &known, error) ||
            (known == 0 && !storage->operations->put_space(storage, profile->game, &shader->key,
                                                           shader->kind, shader->space, error)) ||
            (source && !pm_claims_note(ingest->all->claims, profile->game, profile->scene, shader,
                                       source, ingest->group.day, shader->space, &wins, error)) ||
            !pm_originals_note(ingest->all->claims, storage, profile->game, shader, source,
                               ingest->group.day, error))
            return false;
    }
    return true;
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

static bool keep(struct ingest *ingest, struct pm_group_game *game,
                 const struct pm_prepared *prepared, const struct pm_ingest_source *source,
                 struct pm_error *error)
{
    game->uploads++;
    return note_scene(ingest, game, prepared->profile->scene, source, error) &&
           pm_group_append(&ingest->group, game, prepared, error) &&
           put_spaces(ingest, prepared->profile, source, error);
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
                 const struct pm_ingest_source *source, struct pm_ingest_outcome *outcome,
                 struct pm_error *error)
{
    struct pm_storage *storage = ingest->all->world->storage;
    const struct pm_profile *profile = prepared->profile;
    bool agrees, fresh;
    struct pm_group_game *game = pm_group_find(&ingest->group, profile->game, error);
    memset(outcome, 0, sizeof(*outcome));
    outcome->result = PM_INGEST_REFUSED;
    if (!game)
        return false;
    if (!game->has_room) {
        turn_away(ingest, outcome);
        return true;
    }
    if (!check_spaces(ingest, profile, source, &agrees, &outcome->reason, error))
        return false;
    if (!agrees)
        return true;
    if (!storage->operations->add_upload_id(storage, profile->upload_id, ingest->group.day, &fresh,
                                            error))
        return false;
    outcome->result = fresh ? PM_INGEST_STORED : PM_INGEST_DUPLICATE;
    if (!fresh)
        return true;
    outcome->uncounted = source && !pm_sources_count(ingest->all->sources, source, profile->game);
    return outcome->uncounted || keep(ingest, game, prepared, source, error);
}

/* Those that are NULL have their outcome already. */
static bool take_all(struct ingest *ingest, struct pm_prepared *const *prepared,
                     const struct pm_ingest_source *const *sources, size_t count,
                     struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    const struct pm_ingestion *all = ingest->all;
    struct pm_storage *storage = all->world->storage;
    if (!pm_claims_begin_epoch(all->claims, ingest->group.day, error) ||
        !storage->operations->begin(storage, error))
        return false;
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = !prepared[i] ||
               take(ingest, prepared[i], sources ? sources[i] : NULL, &outcomes[i], error);
    done = done && pm_group_flush(&ingest->group, error);
    done = pm_storage_end(storage, done, error);
    if (done) {
        pm_sources_keep(all->sources);
    } else {
        pm_sources_undo(all->sources);
        pm_claims_forget(all->claims);
    }
    return done;
}

bool pm_ingest_prepared(struct pm_ingestion *ingestion, struct pm_prepared *const *prepared,
                        const struct pm_ingest_source *const *sources, size_t count,
                        struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_world *world = ingestion->world;
    struct ingest ingest = {.all = ingestion,
                            .group = {.world = world, .limits = &ingestion->limits}};
    if (!pm_fold_make_room(ingestion->folding, error))
        return false;
    pthread_mutex_lock(&world->write_mutex);
    ingest.group.day = pm_world_today(world);
    const bool done = take_all(&ingest, prepared, sources, count, outcomes, error);
    pthread_mutex_unlock(&world->write_mutex);
    if (done)
        pm_folding_add(ingestion->folding, ingest.group.bytes);
    pm_group_finish(&ingest.group);
    for (size_t i = 0; done && i < count; i++) {
        if (prepared[i] && outcomes[i].result == PM_INGEST_REFUSED)
            pm_quarantine_add_profile(ingestion->quarantine, prepared[i]->profile,
                                      outcomes[i].reason.message);
    }
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
