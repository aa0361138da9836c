#include "aggregator/trust/claims.h"

#include "aggregator/statistics/ageing.h"
#include "base/random.h"
#include <blake2.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define REMEMBERED (1u << 22) /* 32 MiB where so many are remembered */

/* Claims with as many marks as are counted. A small cache: an entry that another one displaces is
 * found again in the storage. */
struct pm_claims {
    struct pm_world *world;
    struct pm_sources *sources;
    uint32_t min_tokens;
    uint32_t epoch; /* the one that runs */
    uint64_t secret[2];
    uint64_t *full;                 /* REMEMBERED of them; NULL: none yet */
    struct found *group;            /* what is known of the group's subjects */
    struct pm_storage_claim *marks; /* that were noted; their bytes are in mark_bytes */
    uint8_t (*mark_bytes)[PM_MARK_BYTES];
    size_t mark_count, marks_allocated;
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
    const char *scene; /* as for pm_claims_scope; NULL: shader->original */
};

static void scope_of(const struct subject *subject, uint8_t scope[static PM_SCOPE_BYTES])
{
    const struct pm_shader_profile *shader = subject->shader;
    if (subject->scene)
        pm_claims_scope(&shader->environment, shader->flags == 0, subject->scene, scope);
    else /* without the key that the other scopes are hashed with */
        blake2b(scope, shader->original.bytes, NULL, PM_SCOPE_BYTES, PM_SHADER_KEY_BYTES, 0);
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
    if (!subject->scene)
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

/* ---- what the storage says of a group's subjects ---- */

/* One claim of a subject. */
struct counted {
    uint32_t space;
    uint32_t tokens, day;    /* the most of one epoch, and the last that had as many */
    uint32_t last_day, last; /* marks of the day that was seen last */
    uint32_t of_today;       /* marks of today, in found->marks */
};

/* Name and content of one. */
struct found {
    UT_hash_handle hh;
    struct pm_storage_claim subject; /* game, key, kind, scope */
    bool known;                      /* the storage was asked */
    size_t count;
    struct counted all[PM_CLAIMS_OF_SHADER];
    uint8_t *marks; /* of today, `room` bytes of each of `all` */
    size_t room;
    size_t name_size;
    uint8_t name[]; /* key, kind, scope, and the game */
};

static size_t make_name(const struct pm_storage_claim *subject, uint8_t *name)
{
    uint8_t *at = name;
    const size_t size = strlen(subject->game);
    memcpy(at, subject->key.bytes, PM_SHADER_KEY_BYTES);
    at += PM_SHADER_KEY_BYTES;
    *at++ = (uint8_t)subject->kind;
    memcpy(at, subject->scope, PM_SCOPE_BYTES);
    at += PM_SCOPE_BYTES;
    memcpy(at, subject->game, size);
    return (size_t)(at - name) + size;
}

/* The group's entry of the subject, made if need be. NULL: out of memory. */
static struct found *find(struct pm_claims *claims, const struct pm_storage_claim *subject,
                          struct pm_error *error)
{
    const size_t most = PM_SHADER_KEY_BYTES + 1 + PM_SCOPE_BYTES + strlen(subject->game) + 1;
    struct found *found, *made = calloc(1, sizeof(*made) + most);
    if (!made) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
        return NULL;
    }
    made->name_size = make_name(subject, made->name);
    HASH_FIND(hh, claims->group, made->name, made->name_size, found);
    if (found) {
        free(made);
        return found;
    }
    made->room = (size_t)(claims->min_tokens > 1 ? claims->min_tokens : 1) * PM_MARK_BYTES;
    made->marks = malloc(PM_CLAIMS_OF_SHADER * made->room);
    if (!made->marks) {
        free(made);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u tokens", claims->min_tokens);
        return NULL;
    }
    made->subject = *subject;
    made->subject.game = (const char *)made->name + (made->name_size - strlen(subject->game));
    HASH_ADD_KEYPTR(hh, claims->group, made->name, made->name_size, made);
    return made;
}

void pm_claims_end(struct pm_claims *claims)
{
    struct found *found, *next;
    HASH_ITER(hh, claims->group, found, next)
    {
        HASH_DEL(claims->group, found);
        free(found->marks);
        free(found);
    }
    claims->mark_count = 0;
}

static uint8_t *marks_of(const struct found *found, const struct counted *counted)
{
    return found->marks + (size_t)(counted - found->all) * found->room;
}

/* So many made the claim on one day. What is of before the retention counts for nothing. */
static void offer(const struct pm_claims *claims, struct counted *counted, uint32_t tokens,
                  uint32_t day)
{
    const uint32_t first = pm_ageing_first_day(claims->epoch, claims->world->retention_days);
    const bool old = day < first, was_old = counted->day < first;
    if (was_old == old
            ? tokens > counted->tokens || (tokens == counted->tokens && day > counted->day)
            : was_old) {
        counted->tokens = tokens;
        counted->day = day;
    }
}

static void count_mark(const struct pm_claims *claims, struct found *found, struct counted *counted,
                       const uint8_t mark[static PM_MARK_BYTES], uint32_t day)
{
    if (counted->last_day != day)
        counted->last = 0;
    counted->last_day = day;
    offer(claims, counted, ++counted->last, day);
    if (day != claims->epoch || (counted->of_today + 1) * PM_MARK_BYTES > found->room)
        return;
    memcpy(marks_of(found, counted) + counted->of_today++ * PM_MARK_BYTES, mark, PM_MARK_BYTES);
}

static struct counted *counted_of(struct found *found, uint32_t space)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->all[i].space == space)
            return &found->all[i];
    }
    if (found->count == PM_CLAIMS_OF_SHADER)
        return NULL;
    found->all[found->count] = (struct counted){.space = space};
    return &found->all[found->count++];
}

static bool visit(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    struct pm_claims *claims = user;
    struct found *found = find(claims, claim, error);
    struct counted *counted = found ? counted_of(found, claim->space) : NULL;
    if (counted && claim->mark)
        count_mark(claims, found, counted, claim->mark, claim->day);
    else if (counted)
        offer(claims, counted, claim->tokens, claim->day);
    return found != NULL;
}

bool pm_claims_look(struct pm_claims *claims, struct pm_error *error)
{
    struct pm_storage *storage = claims->world->storage;
    struct found *found, *next;
    size_t count = 0;
    struct pm_storage_claim *subjects = calloc(HASH_COUNT(claims->group) + 1, sizeof(*subjects));
    if (!subjects)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
    HASH_ITER(hh, claims->group, found, next)
    {
        if (!found->known)
            subjects[count++] = found->subject;
        found->known = true;
    }
    const bool done = count == 0 || storage->operations->find_claims(storage, subjects, count,
                                                                     visit, claims, error);
    free(subjects);
    return done;
}

const struct pm_storage_claim *pm_claims_marks(const struct pm_claims *claims, size_t *count)
{
    for (size_t i = 0; i < claims->mark_count; i++)
        claims->marks[i].mark = claims->mark_bytes[i];
    *count = claims->mark_count;
    return claims->marks;
}

/* ---- one claim ---- */

static struct pm_storage_claim name_of(const struct subject *subject)
{
    struct pm_storage_claim name = {
        .game = subject->game, .key = subject->shader->key, .kind = subject->shader->kind};
    scope_of(subject, name.scope);
    return name;
}

/* Did the token make a claim in this epoch? */
static bool is_marked(const struct found *found, const uint8_t mark[static PM_MARK_BYTES])
{
    for (size_t i = 0; i < found->count; i++) {
        const struct counted *counted = &found->all[i];
        for (size_t j = 0; j < counted->of_today; j++) {
            if (memcmp(marks_of(found, counted) + j * PM_MARK_BYTES, mark, PM_MARK_BYTES) == 0)
                return true;
        }
    }
    return false;
}

static bool stands(const struct pm_claims *claims, const struct counted *counted)
{
    return counted->tokens >= claims->min_tokens &&
           counted->day >= pm_ageing_first_day(claims->epoch, claims->world->retention_days);
}

/* Makes a place for one more claim, if it can. */
static bool make_place(struct pm_claims *claims, struct found *found, struct pm_error *error)
{
    struct pm_storage *storage = claims->world->storage;
    for (size_t i = 0; i < found->count; i++) {
        struct counted *counted = &found->all[i];
        struct pm_storage_claim claim = found->subject;
        if (counted->last_day == claims->epoch || stands(claims, counted))
            continue;
        claim.space = counted->space;
        *counted = found->all[--found->count];
        memcpy(marks_of(found, counted), marks_of(found, &found->all[found->count]), found->room);
        return storage->operations->drop_claim(storage, &claim, error);
    }
    return true;
}

/* The claim of this space, a new one if need be. NULL: there is no place, or the storage failed. */
static struct counted *place(struct pm_claims *claims, struct found *found, uint32_t space,
                             bool *done, struct pm_error *error)
{
    struct counted *counted = counted_of(found, space);
    *done = counted || make_place(claims, found, error);
    return counted || !*done ? counted : counted_of(found, space);
}

static bool add_mark(struct pm_claims *claims, struct found *found, struct counted *counted,
                     const uint8_t mark[static PM_MARK_BYTES], struct pm_error *error)
{
    /* There are as many marks as are counted. */
    if ((counted->of_today + 1) * PM_MARK_BYTES > found->room)
        return true;
    if (claims->mark_count == claims->marks_allocated) {
        const size_t room = claims->marks_allocated ? 2 * claims->marks_allocated : 256;
        struct pm_storage_claim *marks = reallocarray(claims->marks, room, sizeof(*marks));
        claims->marks = marks ? marks : claims->marks;
        void *bytes = marks ? reallocarray(claims->mark_bytes, room, PM_MARK_BYTES) : NULL;
        if (!bytes)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu claims", room);
        claims->mark_bytes = bytes;
        claims->marks_allocated = room;
    }
    struct pm_storage_claim *claim = &claims->marks[claims->mark_count];
    *claim = found->subject;
    claim->space = counted->space;
    claim->day = claims->epoch;
    memcpy(claims->mark_bytes[claims->mark_count++], mark, PM_MARK_BYTES);
    count_mark(claims, found, counted, mark, claims->epoch);
    return true;
}

/* Adds the source (NULL: nobody, of whom there is one) to the subject's claims. *counted: the one
 * it makes; NULL: it is not counted. */
static bool add(struct pm_claims *claims, const struct subject *subject,
                const struct pm_ingest_source *source, struct found **found,
                struct counted **counted, struct pm_error *error)
{
    const struct pm_storage_claim name = name_of(subject);
    uint8_t mark[PM_MARK_BYTES] = {0};
    bool done;
    *found = find(claims, &name, error);
    if (!*found || (!(*found)->known && !pm_claims_look(claims, error)))
        return false;
    if (source)
        pm_sources_mark(claims->sources, source, subject->game, &name.key, name.kind, name.scope,
                        mark);
    const bool marked = is_marked(*found, mark);
    *counted = place(claims, *found, subject->shader->space, &done, error);
    return done && (!*counted || marked || add_mark(claims, *found, *counted, mark, error));
}

/* Does the claim that it makes have as many marks as are counted? */
static bool is_full(struct pm_claims *claims, const struct subject *subject)
{
    const uint64_t number = number_of(claims, subject);
    const uint64_t *remembered = place_of(claims, number);
    return remembered && *remembered == number;
}

/* ---- what is expected ---- */

static bool expect(struct pm_claims *claims, const struct subject *subject, struct pm_error *error)
{
    const struct pm_storage_claim name = name_of(subject);
    return find(claims, &name, error) != NULL;
}

bool pm_claims_expect(struct pm_claims *claims, const char *game, const char *scene,
                      const struct pm_shader_profile *shader, bool *full, struct pm_error *error)
{
    const struct subject all_scenes = {game, shader, ""}, one_scene = {game, shader, scene};
    const bool has_scene = scene && *scene;
    *full = claims->min_tokens <= 1 || is_full(claims, has_scene ? &one_scene : &all_scenes);
    return *full || (expect(claims, &all_scenes, error) &&
                     (!has_scene || expect(claims, &one_scene, error)));
}

bool pm_claims_expect_original(struct pm_claims *claims, const char *game,
                               const struct pm_shader_profile *shader, struct pm_error *error)
{
    const struct subject subject = {game, shader, NULL};
    return claims->min_tokens <= 1 || is_full(claims, &subject) || expect(claims, &subject, error);
}

/* No shader is of this kind. */
static const struct pm_shader_profile no_shader = {.kind = (enum pm_kind)0, .space = 1};

bool pm_claims_expect_scene(struct pm_claims *claims, const char *game, const char *scene,
                            struct pm_error *error)
{
    const struct subject subject = {game, &no_shader, scene};
    return claims->min_tokens <= 1 || is_full(claims, &subject) || expect(claims, &subject, error);
}

/* ---- what is noted ---- */

/* What came of a claim. */
struct verdict {
    bool stands;
    uint32_t day; /* the last epoch of which it stands */
};

static bool note(struct pm_claims *claims, const struct subject *subject,
                 const struct pm_ingest_source *source, uint32_t today, struct verdict *verdict,
                 struct pm_error *error)
{
    struct found *found;
    struct counted *counted = NULL;
    *verdict = (struct verdict){.stands = is_full(claims, subject), .day = today};
    if (verdict->stands)
        return true;
    if (!add(claims, subject, source, &found, &counted, error))
        return false;
    if (!counted)
        return true;
    const uint64_t number = number_of(claims, subject);
    uint64_t *remembered = place_of(claims, number);
    verdict->stands = stands(claims, counted);
    verdict->day = counted->day;
    if (remembered && verdict->stands && counted->day == today)
        *remembered = number;
    return true;
}

bool pm_claims_note(struct pm_claims *claims, const char *game, const char *scene,
                    const struct pm_shader_profile *shader, const struct pm_ingest_source *source,
                    uint32_t today, struct pm_error *error)
{
    const struct subject all_scenes = {game, shader, ""}, one_scene = {game, shader, scene};
    const bool has_scene = scene && *scene;
    struct verdict verdict;
    /* Those of the narrowest scope have claimed for the wider one, too. */
    return claims->min_tokens <= 1 || is_full(claims, has_scene ? &one_scene : &all_scenes) ||
           (note(claims, &all_scenes, source, today, &verdict, error) &&
            (!has_scene || note(claims, &one_scene, source, today, &verdict, error)));
}

/* Of a source, if there is one. */
static bool note_alone(struct pm_claims *claims, const struct subject *subject,
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
    const struct subject subject = {game, shader, NULL};
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
        const struct subject subject = {games[i], &no_shader, ""};
        subjects[i] = name_of(&subject);
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
    const struct subject subject = {game, &no_shader, scene};
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
    const struct subject subject = {game, &shader, thing->name};
    return is_full(claims, &subject) || expect(claims, &subject, error);
}

bool pm_claims_note_thing(struct pm_claims *claims, const char *game,
                          const struct pm_claims_thing *thing,
                          const struct pm_ingest_source *source, uint32_t today,
                          struct pm_error *error)
{
    const struct pm_shader_profile shader = shader_of(thing);
    const struct subject subject = {game, &shader, thing->name};
    struct verdict verdict;
    if (!source && claims->min_tokens > 1)
        return true;
    return note(claims, &subject, source, today, &verdict, error);
}
