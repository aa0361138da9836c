#include "aggregator/intake/fold_deltas.h"

#include "aggregator/intake/fold_slice.h"
#include "aggregator/statistics/ageing.h"
#include "aggregator/trust/claims.h"
#include "aggregator/trust/votes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE                                                                                    \
    ((size_t)128) /* blobs that are asked for and written, and those of their shaders              \
                   */

void pm_deltas_init(struct pm_deltas *deltas, size_t encoded_cap)
{
    *deltas = (struct pm_deltas){0};
    pm_buffer_init(&deltas->encoded, encoded_cap);
}

void pm_deltas_finish(struct pm_deltas *deltas)
{
    free(deltas->items);
    pm_buffer_finish(&deltas->encoded);
    *deltas = (struct pm_deltas){0};
}

bool pm_deltas_add(struct pm_deltas *deltas, const struct pm_delta *delta,
                   const struct pm_statistics *statistics, struct pm_error *error)
{
    if (deltas->count == deltas->allocated) {
        const size_t allocated = deltas->allocated ? deltas->allocated * 2 : 64;
        struct pm_delta *items = reallocarray(deltas->items, allocated, sizeof(*items));
        if (!items)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu sums", allocated);
        deltas->items = items;
        deltas->allocated = allocated;
    }
    const size_t start = deltas->encoded.size;
    if (!pm_statistics_encode(statistics, &deltas->encoded, error))
        return false;
    deltas->items[deltas->count] = *delta;
    deltas->items[deltas->count].start = start;
    deltas->items[deltas->count++].size = deltas->encoded.size - start;
    return true;
}

/* ---- what is believed ---- */

/* The deltas of one (key, kind). */
struct shader {
    const struct pm_delta *first;
    size_t count;
    uint32_t known; /* number of points; 0: none is known */
    struct pm_vote day[PM_CLAIMS_OF_SHADER];
    size_t day_count;
    struct pm_vote *others; /* of other days, as the storage has them, and the days */
    uint32_t *other_days;
    size_t other_count, others_allocated;
    uint32_t space; /* that is believed; 0: none of these */
    unsigned claim; /* likewise, where tokens vouch */
    bool fresh, replaces;
};

/* Some deltas, their shaders, and what is done about them. */
struct chunk {
    struct pm_world *world;
    const struct pm_deltas *deltas;
    size_t first, count;
    uint32_t first_day; /* of the retention */
    struct shader *shaders;
    size_t shader_count;
    struct pm_storage_scene *scenes; /* in the order of the deltas */
    struct pm_storage_space *spaces; /* of the shaders, in their order */
    uint64_t disagreements;          /* as in pm_deltas_write */
};

static bool is_same_shader(const struct pm_delta *a, const struct pm_delta *b)
{
    return a->key.kind == b->key.kind && pm_shader_key_equal(&a->key.key, &b->key.key);
}

static void chunk_finish(struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->shader_count; i++) {
        free(chunk->shaders[i].others);
        free(chunk->shaders[i].other_days);
    }
    free(chunk->shaders);
    free(chunk->scenes);
    free(chunk->spaces);
}

/* Whole shaders from chunk->first on. */
static bool begin_chunk(struct chunk *chunk, struct pm_error *error)
{
    const struct pm_delta *all = chunk->deltas->items;
    size_t end = chunk->first;
    while (end < chunk->deltas->count &&
           (end - chunk->first < AT_ONCE || is_same_shader(&all[end - 1], &all[end])))
        end++;
    chunk->count = end - chunk->first;
    chunk->shaders = calloc(chunk->count + 1, sizeof(*chunk->shaders));
    chunk->scenes = calloc(chunk->count + 1, sizeof(*chunk->scenes));
    chunk->spaces = calloc(chunk->count + 1, sizeof(*chunk->spaces));
    if (!chunk->shaders || !chunk->scenes || !chunk->spaces)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for folding");
    for (size_t i = chunk->first; i < end; i++) {
        const struct pm_delta *delta = &all[i];
        chunk->scenes[i - chunk->first] =
            (struct pm_storage_scene){.game = delta->key.game, .name = delta->key.scene};
        if (i == chunk->first || !is_same_shader(&all[i - 1], delta)) {
            chunk->spaces[chunk->shader_count] = (struct pm_storage_space){
                .game = delta->key.game, .key = delta->key.key, .kind = delta->key.kind};
            chunk->shaders[chunk->shader_count++].first = delta;
        }
        struct shader *shader = &chunk->shaders[chunk->shader_count - 1];
        shader->count++;
        if (delta->tokens > 0 && delta->claim < PM_CLAIMS_OF_SHADER) {
            shader->day[delta->claim] = (struct pm_vote){delta->space, delta->facts, delta->tokens};
            if (delta->claim >= shader->day_count)
                shader->day_count = delta->claim + 1;
        }
    }
    return true;
}

static bool add_other(struct shader *shader, const struct pm_storage_claim *claim,
                      struct pm_error *error)
{
    if (shader->other_count == shader->others_allocated) {
        const size_t room = shader->others_allocated ? 2 * shader->others_allocated : 8;
        struct pm_vote *others = reallocarray(shader->others, room, sizeof(*others));
        shader->others = others ? others : shader->others;
        uint32_t *days = others ? reallocarray(shader->other_days, room, sizeof(*days)) : NULL;
        if (!days)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu claims", room);
        shader->other_days = days;
        shader->others_allocated = room;
    }
    shader->others[shader->other_count] =
        (struct pm_vote){claim->space, claim->facts, claim->tokens};
    shader->other_days[shader->other_count++] = claim->day;
    return true;
}

/* All of them: a place that lies could take from what is true would be worth the lies. */
static bool visit_claim(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    struct chunk *chunk = user;
    if (claim->mark || claim->day < chunk->first_day)
        return true;
    for (size_t i = 0; i < chunk->shader_count; i++) {
        struct shader *shader = &chunk->shaders[i];
        if (shader->first->key.kind == claim->kind &&
            pm_shader_key_equal(&shader->first->key.key, &claim->key))
            return add_other(shader, claim, error);
    }
    return true;
}

static bool ask(struct chunk *chunk, struct pm_error *error)
{
    struct pm_storage *storage = chunk->world->storage;
    struct pm_storage_claim *subjects = calloc(chunk->shader_count + 1, sizeof(*subjects));
    size_t count = 0, named = 0;
    if (!subjects)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
    for (size_t i = 0; i < chunk->shader_count; i++) {
        const struct pm_storage_space *name = &chunk->spaces[i];
        if (chunk->shaders[i].day_count > 0)
            subjects[count++] =
                (struct pm_storage_claim){.game = name->game, .key = name->key, .kind = name->kind};
    }
    for (size_t i = 0; i < chunk->count; i++)
        named += *chunk->scenes[i].name != 0;
    const bool done =
        storage->operations->find_spaces(storage, chunk->spaces, chunk->shader_count, error) &&
        (named == 0 ||
         storage->operations->find_scenes(storage, chunk->scenes, chunk->count, error)) &&
        (count == 0 ||
         storage->operations->find_claims(storage, subjects, count, visit_claim, chunk, error));
    free(subjects);
    return done;
}

/* What the retention took with older statistics is known again. */
static void decide(struct shader *shader, uint32_t known)
{
    shader->known = known;
    shader->space = known;
    shader->claim = PM_CLAIMS_OF_SHADER;
    if (shader->day_count == 0) {
        shader->fresh = known == 0;
        shader->space = known == 0 ? shader->first->space : known;
        return;
    }
    const size_t chosen = pm_votes_decide(shader->day, shader->day_count, shader->others,
                                          shader->other_count, known, &shader->replaces);
    if (chosen == shader->day_count)
        return;
    shader->claim = (unsigned)chosen;
    shader->space = shader->day[chosen].space;
    shader->fresh = known == 0;
}

/* Asks, and decides. The caller ends the chunk, also after a failure. */
static bool choose(struct chunk *chunk, struct pm_error *error)
{
    if (!begin_chunk(chunk, error) || !ask(chunk, error))
        return false;
    for (size_t i = 0; i < chunk->shader_count; i++)
        decide(&chunk->shaders[i], chunk->spaces[i].space);
    return true;
}

static bool is_believed(const struct shader *shader, const struct pm_delta *delta)
{
    return delta->space == shader->space && (delta->tokens == 0 || delta->claim == shader->claim);
}

/* A scene that is not known of the game is none. */
static struct pm_storage_blob blob_of(const struct chunk *chunk, const struct pm_delta *delta)
{
    struct pm_storage_blob blob = {delta->key, chunk->deltas->encoded.data + delta->start,
                                   delta->size};
    if (!chunk->scenes[delta - &chunk->deltas->items[chunk->first]].known)
        blob.key.scene = "";
    return blob;
}

/* ---- writing ---- */

static bool is_same_claim(const struct pm_vote *a, const struct pm_vote *b)
{
    return a->space == b->space && a->facts == b->facts;
}

/* Had the claim more votes on another day of the retention? */
static bool had_more(const struct shader *shader, const struct pm_vote *vote, uint32_t day)
{
    for (size_t i = 0; i < shader->other_count; i++) {
        const struct pm_vote *other = &shader->others[i];
        if (is_same_claim(other, vote))
            return other->tokens > vote->tokens ||
                   (other->tokens == vote->tokens && shader->other_days[i] > day);
    }
    return false;
}

/* A claim that the storage has, or that is to be put into it. */
struct kept {
    struct pm_vote vote;
    uint32_t day;
    bool stored, fresh; /* it is there, as it is or otherwise; it is to be put */
    bool first;         /* what is believed of the shader is by it */
};

/* Those that stay first. */
static int compare_kept(const void *a, const void *b)
{
    const struct kept *left = a, *right = b;
    if (left->first != right->first)
        return left->first ? -1 : 1;
    if (left->vote.tokens != right->vote.tokens)
        return left->vote.tokens > right->vote.tokens ? -1 : 1;
    if (left->day != right->day)
        return left->day > right->day ? -1 : 1;
    if (left->vote.space != right->vote.space)
        return left->vote.space < right->vote.space ? -1 : 1;
    return (left->vote.facts > right->vote.facts) - (left->vote.facts < right->vote.facts);
}

static bool is_among(const struct pm_vote *votes, size_t count, const struct pm_vote *vote)
{
    for (size_t i = 0; i < count; i++) {
        if (is_same_claim(&votes[i], vote))
            return true;
    }
    return false;
}

/* The shader's claims as they are with the day's, those that stay first; returns how many.
 * kept: has room for all. */
static size_t collect_claims(const struct shader *shader, struct kept *kept)
{
    const uint32_t day = shader->first->key.day;
    struct pm_vote fresh[PM_CLAIMS_OF_SHADER];
    size_t count = 0, fresh_count = 0, first = SIZE_MAX;
    for (size_t i = 0; i < shader->day_count; i++) {
        if (shader->day[i].tokens > 0 && !had_more(shader, &shader->day[i], day))
            fresh[fresh_count++] = shader->day[i];
    }
    for (size_t i = 0; i < fresh_count; i++)
        kept[count++] =
            (struct kept){.vote = fresh[i],
                          .day = day,
                          .fresh = true,
                          .stored = is_among(shader->others, shader->other_count, &fresh[i])};
    for (size_t i = 0; i < shader->other_count; i++) {
        if (!is_among(fresh, fresh_count, &shader->others[i]))
            kept[count++] = (struct kept){
                .vote = shader->others[i], .day = shader->other_days[i], .stored = true};
    }
    for (size_t i = 0; i < count; i++) {
        if (kept[i].vote.space == shader->space &&
            (first == SIZE_MAX || kept[i].vote.tokens > kept[first].vote.tokens))
            first = i;
    }
    if (first != SIZE_MAX)
        kept[first].first = true;
    qsort(kept, count, sizeof(*kept), compare_kept);
    return count;
}

/* Appends the day's votes that are kept, and drops what has fewest: else whoever says something
 * else in each upload would fill the storage. */
static bool collect_votes(const struct chunk *chunk, const struct shader *shader,
                          struct pm_storage_claim *claims, size_t *claim_count,
                          struct pm_error *error)
{
    struct pm_storage *storage = chunk->world->storage;
    const struct pm_storage_key *key = &shader->first->key;
    struct kept *kept = calloc(shader->other_count + PM_CLAIMS_OF_SHADER, sizeof(*kept));
    bool done = kept || pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
    const size_t count = done ? collect_claims(shader, kept) : 0;
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_storage_claim claim = {.game = key->game,
                                               .key = key->key,
                                               .kind = key->kind,
                                               .space = kept[i].vote.space,
                                               .facts = kept[i].vote.facts,
                                               .day = kept[i].day,
                                               .tokens = kept[i].vote.tokens};
        if (i < PM_CLAIMS_OF_SHADER && kept[i].fresh)
            claims[(*claim_count)++] = claim;
        else if (i >= PM_CLAIMS_OF_SHADER && kept[i].stored)
            done = storage->operations->drop_claim(storage, &claim, error);
    }
    free(kept);
    return done;
}

/* What was gathered by a lie goes. */
static bool replace(const struct chunk *chunk, const struct shader *shader, struct pm_error *error)
{
    struct pm_storage *storage = chunk->world->storage;
    const struct pm_storage_key *key = &shader->first->key;
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&key->key, text);
    pm_log_warning(chunk->world->log,
                   "\"%s\", shader %s: %" PRIu32 " points as %" PRIu32
                   " tokens say, and not the %" PRIu32 "%s known before: its profiles are deleted",
                   key->game, text, shader->space, shader->day[shader->claim].tokens, shader->known,
                   shader->known == shader->space ? " that run otherwise," : "");
    return storage->operations->replace_space(storage, key->game, &key->key, key->kind,
                                              shader->space, error);
}

static bool write_chunk(struct chunk *chunk, struct pm_error *error)
{
    struct pm_storage *storage = chunk->world->storage;
    struct pm_storage_blob *blobs = calloc(chunk->count + 1, sizeof(*blobs));
    struct pm_storage_space *fresh = calloc(chunk->shader_count + 1, sizeof(*fresh));
    struct pm_storage_claim *claims =
        calloc(chunk->shader_count * PM_CLAIMS_OF_SHADER + 1, sizeof(*claims));
    size_t fresh_count = 0, blob_count = 0, claim_count = 0, replaced = 0;
    bool done =
        (blobs && fresh && claims) || pm_fail(error, PM_ERROR_MEMORY, "out of memory for folding");
    for (size_t i = 0; done && i < chunk->shader_count; i++) {
        const struct shader *shader = &chunk->shaders[i];
        if (shader->fresh) {
            fresh[fresh_count] = chunk->spaces[i];
            fresh[fresh_count++].space = shader->space;
        }
        done = !shader->replaces || replace(chunk, shader, error);
        /* One for all of a game's. */
        if (done && shader->replaces && replaced++ == 0)
            done = pm_storage_note_change(storage, shader->first->key.game, error);
        if (done && shader->day_count > 0)
            done = collect_votes(chunk, shader, claims, &claim_count, error);
        for (size_t j = 0; j < shader->count; j++) {
            if (is_believed(shader, &shader->first[j]))
                blobs[blob_count++] = blob_of(chunk, &shader->first[j]);
        }
    }
    done = done && storage->operations->put_spaces(storage, fresh, fresh_count, error) &&
           storage->operations->put_claims(storage, claims, claim_count, error) &&
           storage->operations->add_blobs(storage, blobs, blob_count, error);
    for (size_t i = 0; i < chunk->shader_count; i++)
        chunk->disagreements += chunk->shaders[i].day_count > 1;
    free(blobs);
    free(fresh);
    free(claims);
    return done;
}

static bool show_chunk(const struct chunk *chunk, pm_deltas_visit visit, void *user,
                       struct pm_error *error)
{
    for (size_t i = 0; i < chunk->shader_count; i++) {
        const struct shader *shader = &chunk->shaders[i];
        for (size_t j = 0; j < shader->count; j++) {
            if (!is_believed(shader, &shader->first[j]))
                continue;
            const struct pm_storage_blob blob = blob_of(chunk, &shader->first[j]);
            if (!visit(user, &blob, shader->replaces, error))
                return false;
        }
    }
    return true;
}

/* visit NULL: writes. */
static bool go_through(struct pm_world *world, const struct pm_deltas *deltas,
                       pm_deltas_visit visit, void *user, uint64_t *disagreements,
                       struct pm_error *error)
{
    bool done = true;
    *disagreements = 0;
    for (size_t first = 0; done && first < deltas->count;) {
        struct chunk chunk = {
            .world = world,
            .deltas = deltas,
            .first = first,
            .first_day = pm_ageing_first_day(pm_world_today(world), world->retention_days)};
        done = choose(&chunk, error) &&
               (visit ? show_chunk(&chunk, visit, user, error) : write_chunk(&chunk, error)) &&
               pm_world_may_go_on(world, PM_FOLDING, error);
        first += chunk.count;
        *disagreements += chunk.disagreements;
        chunk_finish(&chunk);
    }
    return done;
}

bool pm_deltas_write(struct pm_world *world, const struct pm_deltas *deltas,
                     uint64_t *disagreements, struct pm_error *error)
{
    return go_through(world, deltas, NULL, NULL, disagreements, error);
}

bool pm_deltas_show(struct pm_world *world, const struct pm_deltas *deltas, pm_deltas_visit visit,
                    void *user, struct pm_error *error)
{
    uint64_t disagreements;
    return go_through(world, deltas, visit, user, &disagreements, error);
}
