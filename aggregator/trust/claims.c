#include "aggregator/trust/claims.h"

#include "aggregator/statistics/ageing.h"
#include "aggregator/trust/claims_group.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

#define REMEMBERED (1u << 22) /* 32 MiB where so many are remembered */

struct pm_claims *pm_claims_create(struct pm_world *world, struct pm_sources *sources,
                                   uint32_t min_tokens)
{
    struct pm_claims *claims = calloc(1, sizeof(*claims));
    if (claims && !pm_random_system(claims->secret, sizeof(claims->secret))) {
        free(claims);
        return NULL;
    }
    if (claims) {
        claims->world = world;
        claims->sources = sources;
        claims->min_tokens = min_tokens;
    }
    return claims;
}

void pm_claims_destroy(struct pm_claims *claims)
{
    if (!claims)
        return;
    pm_claims_end(claims);
    free(claims->marks);
    free(claims->mark_bytes);
    free(claims->full);
    free(claims);
}

void pm_claims_forget(struct pm_claims *claims)
{
    free(claims->full);
    claims->full = NULL;
}

bool pm_claims_begin_epoch(struct pm_claims *claims, uint32_t day, struct pm_error *error)
{
    if (claims->epoch != day)
        pm_claims_forget(claims);
    claims->epoch = day;
    return pm_sources_begin(claims->sources, day, error);
}

/* Where the claim is remembered. Of pages that are never written the system gives no memory. NULL:
 * out of memory. */
static uint64_t *place_of(struct pm_claims *claims, uint64_t number)
{
    if (!claims->full)
        claims->full = calloc(REMEMBERED, sizeof(*claims->full));
    return claims->full ? &claims->full[(number >> 32) % REMEMBERED] : NULL;
}

/* Does the claim that it makes have as many marks as are counted? */
static bool is_full(struct pm_claims *claims, const struct pm_subject *subject)
{
    const uint64_t number = pm_subject_number(subject, claims->secret);
    const uint64_t *remembered = place_of(claims, number);
    return remembered && *remembered == number;
}

/* ---- what is expected ---- */

static bool expect(struct pm_claims *claims, const struct pm_subject *subject,
                   struct pm_error *error)
{
    const struct pm_storage_claim name = pm_subject_name(subject);
    return pm_claims_find(claims, &name, error) != NULL;
}

bool pm_claims_expect(struct pm_claims *claims, const char *game, const char *scene,
                      const struct pm_shader_profile *shader, bool *full, struct pm_error *error)
{
    const struct pm_subject all_scenes = {game, shader, ""}, one_scene = {game, shader, scene};
    const bool has_scene = scene && *scene;
    *full = claims->min_tokens <= 1 || is_full(claims, has_scene ? &one_scene : &all_scenes);
    return *full || (expect(claims, &all_scenes, error) &&
                     (!has_scene || expect(claims, &one_scene, error)));
}

bool pm_claims_expect_original(struct pm_claims *claims, const char *game,
                               const struct pm_shader_profile *shader, struct pm_error *error)
{
    const struct pm_subject subject = {game, shader, NULL};
    return claims->min_tokens <= 1 || is_full(claims, &subject) || expect(claims, &subject, error);
}

/* No shader is of this kind. */
static const struct pm_shader_profile no_shader = {.kind = (enum pm_kind)0, .space = 1};

bool pm_claims_expect_scene(struct pm_claims *claims, const char *game, const char *scene,
                            struct pm_error *error)
{
    const struct pm_subject subject = {game, &no_shader, scene};
    return claims->min_tokens <= 1 || is_full(claims, &subject) || expect(claims, &subject, error);
}

/* ---- what is noted ---- */

/* What came of a claim. */
struct verdict {
    bool stands;
    uint32_t day; /* the last epoch of which it stands */
};

static bool note(struct pm_claims *claims, const struct pm_subject *subject,
                 const struct pm_ingest_source *source, uint32_t today, struct verdict *verdict,
                 struct pm_error *error)
{
    struct pm_counted *counted = NULL;
    *verdict = (struct verdict){.stands = is_full(claims, subject), .day = today};
    if (verdict->stands)
        return true;
    if (!pm_claims_add(claims, subject, source, &counted, error))
        return false;
    if (!counted)
        return true;
    const uint64_t number = pm_subject_number(subject, claims->secret);
    uint64_t *remembered = place_of(claims, number);
    verdict->stands = pm_claim_stands(claims, counted);
    verdict->day = counted->day;
    if (remembered && verdict->stands && counted->day == today)
        *remembered = number;
    return true;
}

bool pm_claims_note(struct pm_claims *claims, const char *game, const char *scene,
                    const struct pm_shader_profile *shader, const struct pm_ingest_source *source,
                    uint32_t today, struct pm_error *error)
{
    const struct pm_subject all_scenes = {game, shader, ""}, one_scene = {game, shader, scene};
    const bool has_scene = scene && *scene;
    struct verdict verdict;
    /* Those of the narrowest scope have claimed for the wider one, too. */
    return claims->min_tokens <= 1 || is_full(claims, has_scene ? &one_scene : &all_scenes) ||
           (note(claims, &all_scenes, source, today, &verdict, error) &&
            (!has_scene || note(claims, &one_scene, source, today, &verdict, error)));
}

/* Of a source, if there is one. */
static bool note_alone(struct pm_claims *claims, const struct pm_subject *subject,
                       const struct pm_ingest_source *source, uint32_t today,
                       struct verdict *verdict, struct pm_error *error)
{
    *verdict = (struct verdict){.stands = claims->min_tokens <= 1, .day = today};
    return !source || verdict->stands || note(claims, subject, source, today, verdict, error);
}

bool pm_claims_note_original(struct pm_claims *claims, const char *game,
                             const struct pm_shader_profile *shader,
                             const struct pm_ingest_source *source, uint32_t today, bool *stands,
                             uint32_t *day, struct pm_error *error)
{
    const struct pm_subject subject = {game, shader, NULL};
    struct verdict verdict;
    if (!note_alone(claims, &subject, source, today, &verdict, error))
        return false;
    *stands = verdict.stands;
    *day = verdict.day;
    return true;
}

struct vouching {
    const struct pm_claims *claims;
    const char *const *games;
    size_t count;
    uint32_t *marks; /* of today, of each */
    bool *vouched;
};

static bool visit_vouching(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    struct vouching *all = user;
    const struct pm_claims *claims = all->claims;
    (void)error;
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->games[i], claim->game) != 0)
            continue;
        const bool counts =
            claim->day >= pm_ageing_first_day(claims->epoch, claims->world->retention_days);
        /* Marks that no epoch has ended yet are of one day but around midnight. */
        const uint32_t tokens = claim->mark ? ++all->marks[i] : claim->tokens;
        all->vouched[i] = all->vouched[i] || (counts && tokens >= claims->min_tokens);
        break;
    }
    return true;
}

bool pm_claims_are_vouched(struct pm_claims *claims, const char *const *games, size_t count,
                           bool *vouched, struct pm_error *error)
{
    struct pm_storage *storage = claims->world->storage;
    struct pm_storage_claim *subjects = calloc(count + 1, sizeof(*subjects));
    struct vouching all = {claims, games, count, calloc(count + 1, sizeof(uint32_t)), vouched};
    bool done = (subjects && all.marks) ||
                pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu games", count);
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_subject subject = {games[i], &no_shader, ""};
        subjects[i] = pm_subject_name(&subject);
        vouched[i] = claims->min_tokens <= 1;
    }
    done = done &&
           storage->operations->find_claims(storage, subjects, count, visit_vouching, &all, error);
    free(subjects);
    free(all.marks);
    return done;
}

bool pm_claims_note_scene(struct pm_claims *claims, const char *game, const char *scene,
                          const struct pm_ingest_source *source, uint32_t today, bool *stands,
                          struct pm_error *error)
{
    const struct pm_subject subject = {game, &no_shader, scene};
    struct verdict verdict;
    if (!note_alone(claims, &subject, source, today, &verdict, error))
        return false;
    *stands = verdict.stands;
    return true;
}

/* ---- other things ---- */

/* Flags and subgroup size tell its scope from those of scenes, which have neither. */
static struct pm_shader_profile shader_of(const struct pm_claims_thing *thing)
{
    return (struct pm_shader_profile){
        .space = 1, .flags = 1, .environment = {.subgroup_size = thing->number}};
}

void pm_claims_thing_scope(const struct pm_claims_thing *thing,
                           uint8_t scope[static PM_SCOPE_BYTES])
{
    const struct pm_shader_profile shader = shader_of(thing);
    pm_claims_scope(&shader.environment, false, thing->name, scope);
}

bool pm_claims_expect_thing(struct pm_claims *claims, const char *game,
                            const struct pm_claims_thing *thing, struct pm_error *error)
{
    const struct pm_shader_profile shader = shader_of(thing);
    const struct pm_subject subject = {game, &shader, thing->name};
    return is_full(claims, &subject) || expect(claims, &subject, error);
}

bool pm_claims_note_thing(struct pm_claims *claims, const char *game,
                          const struct pm_claims_thing *thing,
                          const struct pm_ingest_source *source, uint32_t today,
                          struct pm_error *error)
{
    const struct pm_shader_profile shader = shader_of(thing);
    const struct pm_subject subject = {game, &shader, thing->name};
    struct verdict verdict;
    if (!source && claims->min_tokens > 1)
        return true;
    return note(claims, &subject, source, today, &verdict, error);
}
