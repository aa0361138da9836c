#include "aggregator/trust/claims.h"

#include "aggregator/statistics/ageing.h"
#include "base/random.h"
#include <blake2.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED (1u << 22) /* 32 MiB where so many are remembered */

/* Claims with as many marks as are counted. A small cache: an entry that another one displaces is
 * found again in the storage. */
struct pm_claims {
    struct pm_world *world;
    struct pm_sources *sources;
    uint32_t min_tokens;
    uint32_t epoch; /* the one that runs */
    uint64_t secret[2];
    uint64_t *full; /* REMEMBERED of them; NULL: none yet */
};

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
    if (claims)
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

void pm_claims_scope(const struct pm_environment *environment, bool plain, const char *scene,
                     uint8_t scope[static PM_SCOPE_BYTES])
{
    const uint32_t words[] = {environment->subgroup_size,  environment->vendor_id,
                              environment->device_id,      environment->driver_id,
                              environment->driver_version, plain};
    uint8_t bytes[sizeof(words)];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
    /* What chooses a scope is hashed, and nobody finds two that are one. Cannot fail: the sizes are
     * fine. */
    blake2b(scope, scene, bytes, PM_SCOPE_BYTES, strlen(scene), sizeof(bytes));
}

/* What a source says something about. */
struct subject {
    const char *game;
    const struct pm_shader_profile *shader;
    const char *scene; /* as for pm_claims_scope; NULL: the number of points… */
    bool original;     /* …or shader->original */
};

static void scope_of(const struct subject *subject, uint8_t scope[static PM_SCOPE_BYTES])
{
    const struct pm_shader_profile *shader = subject->shader;
    if (subject->scene)
        pm_claims_scope(&shader->environment, shader->flags == 0, subject->scene, scope);
    else if (subject->original) /* without the key that the other scopes are hashed with */
        blake2b(scope, shader->original.bytes, NULL, PM_SCOPE_BYTES, PM_SHADER_KEY_BYTES, 0);
    else
        memset(scope, 0, PM_SCOPE_BYTES);
}

static uint64_t mix_text(uint64_t number, const char *text, uint64_t secret)
{
    for (; *text; text++)
        number = pm_random_mix((number ^ (uint8_t)*text) + secret);
    return number;
}

static uint64_t mix_key(uint64_t number, const struct pm_shader_key *key, uint64_t secret)
{
    uint64_t words[PM_SHADER_KEY_BYTES / sizeof(uint64_t)];
    memcpy(words, key->bytes, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        number = pm_random_mix(number ^ words[i]) + secret;
    return number;
}

/* A number for the claim that nobody outside can predict, since uploaders choose keys and names. */
static uint64_t number_of(const struct pm_claims *claims, const struct subject *subject)
{
    const struct pm_shader_profile *shader = subject->shader;
    const struct pm_environment *environment = &shader->environment;
    const uint64_t of_environment[] = {
        (uint64_t)environment->subgroup_size << 32 | environment->vendor_id,
        (uint64_t)environment->device_id << 32 | environment->driver_id,
        (uint64_t)environment->driver_version << 32 | (shader->flags == 0 ? 2 : 1)};
    uint64_t number = mix_key(claims->secret[0], &shader->key, claims->secret[1]);
    if (subject->original)
        number = mix_key(number, &shader->original, claims->secret[1]);
    number = pm_random_mix(number ^ ((uint64_t)shader->kind << 32 | shader->space));
    number = mix_text(number, subject->game, claims->secret[1]);
    if (subject->scene) {
        for (size_t i = 0; i < sizeof(of_environment) / sizeof(*of_environment); i++)
            number = pm_random_mix(number ^ of_environment[i]) + claims->secret[1];
        number = mix_text(number, subject->scene, claims->secret[1]);
    }
    return number | 1;
}

struct found {
    struct pm_storage_claim all[PM_CLAIMS_OF_SHADER];
    size_t count;
    uint8_t *marks; /* of each, one after the other */
    size_t room;    /* bytes for the marks of one */
};

static uint8_t *marks_of(const struct found *found, const struct pm_storage_claim *claim)
{
    return found->marks + (size_t)(claim - found->all) * found->room;
}

static bool visit(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    struct found *found = user;
    (void)error;
    if (found->count == PM_CLAIMS_OF_SHADER)
        return true;
    struct pm_storage_claim *copy = &found->all[found->count++];
    *copy = *claim;
    copy->marks = marks_of(found, copy);
    if (copy->marks_size > found->room)
        copy->marks_size = found->room;
    if (copy->marks_size > 0)
        memcpy(marks_of(found, copy), claim->marks, copy->marks_size);
    return true;
}

/* Did the token make a claim in this epoch? */
static bool is_marked(const struct found *found, const uint8_t mark[static PM_MARK_BYTES],
                      uint32_t today)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct pm_storage_claim *claim = &found->all[i];
        for (size_t j = 0; claim->marks_day == today && j < claim->marks_size; j += PM_MARK_BYTES) {
            if (memcmp(marks_of(found, claim) + j, mark, PM_MARK_BYTES) == 0)
                return true;
        }
    }
    return false;
}

static bool stands(const struct pm_claims *claims, const struct pm_storage_claim *claim,
                   uint32_t today)
{
    return claim->tokens >= claims->min_tokens &&
           claim->day >= pm_ageing_first_day(today, claims->world->retention_days);
}

/* Does the claim that is known stand? One that nobody made does not. */
static bool known_stands(const struct pm_claims *claims, const struct found *found, uint32_t known,
                         uint32_t today)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->all[i].space == known && stands(claims, &found->all[i], today))
            return true;
    }
    return false;
}

/* The claim of this space, a new one if need be: then *instead is the space of the one whose place
 * it takes, or 0. NULL: there is no place. */
static struct pm_storage_claim *place(const struct pm_claims *claims, struct found *found,
                                      const struct pm_shader_profile *shader,
                                      const uint8_t scope[static PM_SCOPE_BYTES], uint32_t today,
                                      uint32_t *instead)
{
    struct pm_storage_claim *claim = NULL;
    *instead = 0;
    for (size_t i = 0; i < found->count; i++) {
        if (found->all[i].space == shader->space)
            return &found->all[i];
    }
    if (found->count < PM_CLAIMS_OF_SHADER)
        claim = &found->all[found->count++];
    for (size_t i = 0; !claim && i < found->count; i++) {
        if (found->all[i].marks_day != today && !stands(claims, &found->all[i], today)) {
            claim = &found->all[i];
            *instead = claim->space;
        }
    }
    if (claim) {
        *claim = (struct pm_storage_claim){.key = shader->key,
                                           .kind = shader->kind,
                                           .space = shader->space,
                                           .marks_day = today,
                                           .marks = marks_of(found, claim)};
        memcpy(claim->scope, scope, PM_SCOPE_BYTES);
    }
    return claim;
}

/* false: there are as many marks as are counted. */
static bool add_mark(const struct pm_claims *claims, struct found *found,
                     struct pm_storage_claim *claim, const uint8_t mark[static PM_MARK_BYTES],
                     uint32_t today)
{
    if (claim->marks_day != today)
        claim->marks_size = 0;
    if (claim->marks_size + PM_MARK_BYTES > found->room)
        return false;
    memcpy(marks_of(found, claim) + claim->marks_size, mark, PM_MARK_BYTES);
    claim->marks_size += PM_MARK_BYTES;
    claim->marks_day = today;
    const uint32_t tokens = (uint32_t)(claim->marks_size / PM_MARK_BYTES);
    if (tokens >= claim->tokens ||
        claim->day < pm_ageing_first_day(today, claims->world->retention_days)) {
        claim->tokens = tokens;
        claim->day = today;
    }
    return true;
}

/* Adds the source to the subject's claims, as they are in the storage. *claim: the one it makes;
 * NULL: it is not counted. */
static bool add(struct pm_claims *claims, const struct subject *subject,
                const struct pm_ingest_source *source, uint32_t today, struct found *found,
                struct pm_storage_claim **claim, struct pm_error *error)
{
    struct pm_storage *storage = claims->world->storage;
    const struct pm_shader_profile *shader = subject->shader;
    uint8_t mark[PM_MARK_BYTES], scope[PM_SCOPE_BYTES];
    uint32_t instead;
    scope_of(subject, scope);
    if (!storage->operations->find_claims(storage, subject->game, &shader->key, shader->kind, scope,
                                          visit, found, error))
        return false;
    pm_sources_mark(claims->sources, source, subject->game, &shader->key, shader->kind, scope,
                    mark);
    const bool marked = is_marked(found, mark, today);
    *claim = place(claims, found, shader, scope, today, &instead);
    if (!*claim || marked || !add_mark(claims, found, *claim, mark, today))
        return true;
    return storage->operations->put_claim(storage, subject->game, *claim, instead, error);
}

/* Does the claim that it makes have as many marks as are counted? */
static bool is_full(struct pm_claims *claims, const struct subject *subject)
{
    const uint64_t number = number_of(claims, subject);
    const uint64_t *remembered = place_of(claims, number);
    return remembered && *remembered == number;
}

/* What came of a claim. */
struct verdict {
    bool wins; /* as for pm_claims_note */
    bool stands;
    uint32_t day; /* the last epoch of which it stands */
};

/* known: as for pm_claims_note. */
static bool note(struct pm_claims *claims, const struct subject *subject,
                 const struct pm_ingest_source *source, uint32_t today, uint32_t known,
                 struct verdict *verdict, struct pm_error *error)
{
    const bool agrees = known == 0 || known == subject->shader->space;
    struct found found = {.room = (size_t)claims->min_tokens * PM_MARK_BYTES};
    struct pm_storage_claim *claim = NULL;
    *verdict = (struct verdict){.stands = agrees && is_full(claims, subject), .day = today};
    if (verdict->stands)
        return true;
    found.marks = malloc(PM_CLAIMS_OF_SHADER * found.room);
    if (!found.marks)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u tokens", claims->min_tokens);
    const bool done = add(claims, subject, source, today, &found, &claim, error);
    if (done && claim) {
        const uint64_t number = number_of(claims, subject);
        uint64_t *remembered = place_of(claims, number);
        verdict->stands = stands(claims, claim, today);
        verdict->day = claim->day;
        verdict->wins = !agrees && verdict->stands && !known_stands(claims, &found, known, today);
        if (remembered && claim->marks_day == today && claim->marks_size == found.room)
            *remembered = number;
    }
    free(found.marks);
    return done;
}

bool pm_claims_note(struct pm_claims *claims, const char *game, const char *scene,
                    const struct pm_shader_profile *shader, const struct pm_ingest_source *source,
                    uint32_t today, uint32_t known, bool *wins, struct pm_error *error)
{
    const struct subject points = {game, shader, NULL, false},
                         all_scenes = {game, shader, "", false},
                         one_scene = {game, shader, scene, false};
    const bool agrees = known == 0 || known == shader->space, has_scene = scene && *scene;
    struct verdict verdict;
    *wins = false;
    /* Those of the narrowest scope have claimed for the wider ones, too. */
    if (claims->min_tokens <= 1 ||
        (agrees && is_full(claims, has_scene ? &one_scene : &all_scenes)))
        return true;
    if (!note(claims, &points, source, today, known, &verdict, error))
        return false;
    *wins = verdict.wins;
    return !agrees || (note(claims, &all_scenes, source, today, 0, &verdict, error) &&
                       (!has_scene || note(claims, &one_scene, source, today, 0, &verdict, error)));
}

/* A claim of which nothing is known before, and that no other one contradicts. */
static bool note_alone(struct pm_claims *claims, const struct subject *subject,
                       const struct pm_ingest_source *source, uint32_t today,
                       struct verdict *verdict, struct pm_error *error)
{
    *verdict = (struct verdict){.stands = claims->min_tokens <= 1, .day = today};
    return !source || verdict->stands || note(claims, subject, source, today, 0, verdict, error);
}

bool pm_claims_note_original(struct pm_claims *claims, const char *game,
                             const struct pm_shader_profile *shader,
                             const struct pm_ingest_source *source, uint32_t today, bool *stands,
                             uint32_t *day, struct pm_error *error)
{
    const struct subject subject = {game, shader, NULL, true};
    struct verdict verdict;
    if (!note_alone(claims, &subject, source, today, &verdict, error))
        return false;
    *stands = verdict.stands;
    *day = verdict.day;
    return true;
}

bool pm_claims_note_scene(struct pm_claims *claims, const char *game, const char *scene,
                          const struct pm_ingest_source *source, uint32_t today, bool *stands,
                          struct pm_error *error)
{
    /* No shader is of this kind. */
    static const struct pm_shader_profile none = {.kind = (enum pm_kind)0, .space = 1};
    const struct subject subject = {game, &none, scene, false};
    struct verdict verdict;
    if (!note_alone(claims, &subject, source, today, &verdict, error))
        return false;
    *stands = verdict.stands;
    return true;
}
