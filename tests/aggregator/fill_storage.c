/*
 * Makes a storage that looks like a real game's, for tests of the dashboard and its API:
 *
 *   fill_storage FILE POINTS UPLOADS [BODY]
 *
 * "Watch" has so many points in shaders of all sizes, hot and cold ones (Zipf's law), blocks,
 * loops, zero candidates, timings and two races of variants; some points are two-sided: sessions
 * differ in them. Other games have names that are markup, paths and worse, and the quarantine has
 * entries. The uploads come over three days, and the game is curated now and then, so that there is
 * a history. Always the same for the same arguments, but for the upload ids and for the time, which
 * ends now.
 */
#include "aggregator/aggregator.h"
#include "profile/variant_point.h"
#include "tests/aggregator/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    UPLOAD_SHADERS = 150,
    BATCH = 8,
    GROUP = 64,
    CURATIONS = 24,
    LARGEST = 1500,
    TIMINGS = 40,
    RACED = 2,
    VARIANTS = 24,
    FASTEST = 16,
    SLOWEST = 8
};
#define SPECIALIZED UINT64_C(1000000000)
#define HISTORY_SECONDS (3 * 86400)

/* One block or zero profile of the game. */
struct shape {
    uint64_t number; /* of its key */
    enum pm_kind kind;
    uint32_t space;
    double heat; /* summed up to and with this one */
    uint8_t *at_most_once;
};

struct game {
    struct shape *shapes;
    size_t count;
    double heat;
};

/* How a point behaves: always the same for the same shader and point. */
struct truth {
    double rate;       /* runs per invocation; a candidate: writes per subgroup */
    double other_rate; /* in every third session */
    double zero;
};

static struct truth truth_of(const struct shape *shape, uint32_t point)
{
    struct pm_random random;
    pm_random_init(&random, shape->number * 4099 + point * 2 + (shape->kind == PM_KIND_ZERO));
    const double which = pm_random_unit(&random), rate = pm_random_unit(&random);
    struct truth truth = {.rate = rate, .other_rate = rate, .zero = 0};
    if (which < 0.25)
        truth.rate = truth.other_rate = 1;
    else if (which < 0.40)
        truth.rate = truth.other_rate = 0;
    else if (which < 0.50)
        truth.rate = truth.other_rate = 1 + floor(30 * rate * rate);
    else if (which < 0.60)
        truth.other_rate = rate < 0.5 ? rate + 0.5 : rate - 0.5;
    const double zero = pm_random_unit(&random);
    if (zero > 0.85)
        truth.zero = 1;
    else if (zero > 0.40)
        truth.zero = (zero - 0.40) / 0.45;
    return truth;
}

static bool runs_once(const struct shape *shape, uint32_t point)
{
    return truth_of(shape, point).rate <= 1;
}

static void make_game(struct game *game, uint64_t points, struct pm_random *random)
{
    uint64_t made = 0;
    double heat = 0;
    game->shapes = NULL;
    for (game->count = 0; made < points; game->count++) {
        game->shapes = realloc(game->shapes, (game->count + 1) * sizeof(*game->shapes));
        struct shape *shape = &game->shapes[game->count];
        const double size = 4 - 110 * log(1 - pm_random_unit(random));
        const double rank = 2 + (double)game->count * 0.5 * pm_random_unit(random);
        shape->number = game->count / 2;
        shape->kind = game->count % 2 ? PM_KIND_ZERO : PM_KIND_BLOCK;
        shape->space = size < LARGEST ? (uint32_t)size : LARGEST;
        if (shape->space > points - made)
            shape->space = (uint32_t)(points - made);
        made += shape->space;
        shape->heat = heat += 1 / rank;
        shape->at_most_once = calloc(((size_t)shape->space + 7) / 8, 1);
        for (uint32_t i = 0; i < shape->space; i++) {
            if (shape->kind == PM_KIND_BLOCK && runs_once(shape, i))
                shape->at_most_once[i / 8] |= (uint8_t)(1u << i % 8);
        }
    }
    game->heat = heat;
}

static const struct shape *draw(const struct game *game, struct pm_random *random)
{
    const double at = pm_random_unit(random) * game->heat;
    size_t low = 0, high = game->count - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (game->shapes[middle].heat <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return &game->shapes[low];
}

static struct pm_point_counts count_point(const struct shape *shape, uint32_t point, uint32_t calls,
                                          uint64_t subgroups, bool other)
{
    const struct truth truth = truth_of(shape, point);
    const double rate = other ? truth.other_rate : truth.rate;
    const uint64_t runs = (uint64_t)(rate * (double)subgroups);
    struct pm_point_counts counts = {.point = point,
                                     .calls = calls,
                                     .entry_lanes = subgroups * 32,
                                     .entry_subgroups = subgroups,
                                     .counts = {runs}};
    if (shape->kind == PM_KIND_ZERO) {
        counts.counts[PM_ZERO_ZERO_WRITES] = (uint64_t)(truth.zero * (double)runs);
    } else {
        counts.counts[PM_BLOCK_LANES] = runs * 32;
        counts.counts[PM_BLOCK_UNIFORM_LANES] = runs / 3 * 32;
        counts.counts[PM_BLOCK_SUBGROUPS] = runs;
    }
    return counts;
}

/* Every third shader is of clients from before that was said; of the others some make it up. */
static uint32_t said_candidates(const struct shape *shape, bool made_up)
{
    if (shape->kind != PM_KIND_ZERO || shape->number % 3 == 0)
        return 0;
    return shape->space * 9 + (made_up ? 12345 : 0);
}

/* One batch of a shader, as a session sees it. */
static struct pm_shader_profile sample(struct pm_arena *arena, const struct shape *shape,
                                       struct pm_random *random)
{
    const uint32_t size = shape->space < BATCH ? shape->space : BATCH;
    struct pm_point_counts *points = pm_arena_zalloc(arena, size, sizeof(*points));
    const uint32_t calls = 1 + (pm_random_below(random, 8) == 0);
    const uint64_t subgroups = calls * (20 + (uint64_t)pm_random_below(random, 4000));
    const bool other = pm_random_below(random, 3) == 0;
    uint32_t taken = 0;
    /* The points in order, each with the chance that leaves a sample of them (Knuth, 3.4.2 S). */
    for (uint32_t i = 0; i < shape->space && taken < size; i++) {
        if (pm_random_below(random, shape->space - i) < size - taken)
            points[taken++] = count_point(shape, i, calls, subgroups, other);
    }
    return (struct pm_shader_profile){.key = key_of(shape->number),
                                      .environment = {.subgroup_size = 32},
                                      .kind = shape->kind,
                                      .space = shape->space,
                                      .candidates = said_candidates(shape, other && calls > 1),
                                      .at_most_once =
                                          shape->kind == PM_KIND_BLOCK ? shape->at_most_once : NULL,
                                      .points = points,
                                      .point_count = size};
}

/* What a session measured of a shader's variants: of the first one is faster and one slower; of the
 * second all are alike. */
static struct pm_shader_profile race(struct pm_arena *arena, uint64_t number)
{
    static uint64_t races;
    struct pm_random random; /* its own, so that all else is as without it */
    struct pm_point_counts points[VARIANTS];
    pm_random_init(&random, ++races);
    for (uint32_t i = 0; i < VARIANTS; i++) {
        const struct pm_variant_id id = {.first = {i + 1, 1}};
        const double truth = number > 0 ? 0 : i + 1 == FASTEST ? -0.08 : i + 1 == SLOWEST ? 0.1 : 0;
        uint32_t point = 0;
        pm_variant_point(&id, &point);
        points[i] = pm_variant_counts(point, 16, truth + 0.06 * (pm_random_unit(&random) - 0.5));
    }
    struct pm_shader_profile shader =
        block_shader(arena, number, PM_VARIANT_SPACE, points, VARIANTS);
    shader.kind = PM_KIND_VARIANT;
    shader.environment = (struct pm_environment){32, 0x10005, 0, 13, 0x1000};
    return shader;
}

static struct pm_profile *session(struct pm_arena *arena, const struct game *game,
                                  struct pm_random *random)
{
    struct pm_shader_profile *shaders =
        pm_arena_zalloc(arena, UPLOAD_SHADERS + 1 + RACED, sizeof(*shaders));
    uint8_t *taken = pm_arena_zalloc(arena, game->count, 1);
    size_t count = 0;
    for (size_t i = 0; i < UPLOAD_SHADERS && count < game->count; i++) {
        const struct shape *shape = draw(game, random);
        if (!taken[shape - game->shapes]++)
            shaders[count++] = sample(arena, shape, random);
    }
    /* Specialized shaders have keys of their own; some are slower. */
    const uint64_t original = 50000 + pm_random_below(random, 10000),
                   which = pm_random_below(random, TIMINGS);
    shaders[count++] = timing_shader(arena, SPECIALIZED + which, 12, original,
                                     original * (70 + which + pm_random_below(random, 10)) / 100);
    shaders[count - 1].environment.subgroup_size = 32;
    if (which % 4 != 0) { /* else of clients from before that was said */
        struct pm_point_counts *timed =
            (struct pm_point_counts *)(uintptr_t)shaders[count - 1].points;
        timed->counts[PM_TIMING_SPREAD] = original * (1 + which) / 400;
    }
    shaders[count - 1].original = key_of(which);
    for (uint64_t i = 0; i < RACED; i++)
        shaders[count++] = race(arena, i);
    struct pm_profile *profile = profile_of(arena, random, "Watch", shaders, count);
    profile->left_alone[PM_LEFT_ALONE_INSTRUCTION] = 5;
    profile->left_alone[PM_LEFT_ALONE_EXTENSION] = 70 + (uint32_t)pm_random_below(random, 10);
    if (!pm_random_system(profile->upload_id, PM_UPLOAD_ID_BYTES))
        abort();
    return profile;
}

static int64_t read_clock(void *user)
{
    return *(const int64_t *)user;
}

static void must(bool done, const struct pm_error *error)
{
    if (!done) {
        fprintf(stderr, "fill_storage: %s\n", error->message);
        exit(1);
    }
}

static void ingest(struct pm_aggregator *aggregator, const struct pm_profile *const *profiles,
                   size_t count)
{
    struct pm_ingest_outcome outcomes[GROUP];
    struct pm_error error;
    must(pm_aggregator_ingest(aggregator, profiles, count, outcomes, &error), &error);
}

static void fill(struct pm_aggregator *aggregator, const struct game *game, uint32_t uploads,
                 int64_t *now, struct pm_random *random)
{
    const int64_t end = *now;
    uint32_t curated = 0;
    struct pm_error error;
    for (uint32_t sent = 0; sent < uploads;) {
        struct pm_arena *arena = pm_arena_create(0);
        const struct pm_profile *group[GROUP];
        const size_t count = uploads - sent < GROUP ? uploads - sent : GROUP;
        *now = end - HISTORY_SECONDS + (int64_t)((double)HISTORY_SECONDS * sent / uploads);
        for (size_t i = 0; i < count; i++)
            group[i] = session(arena, game, random);
        ingest(aggregator, group, count);
        pm_arena_destroy(arena);
        sent += (uint32_t)count;
        const double share = (double)sent / uploads;
        if (share * share * CURATIONS >= curated || sent == uploads) {
            must(pm_aggregator_curate(aggregator, "Watch", &error), &error);
            curated = (uint32_t)(share * share * CURATIONS) + 1;
        }
    }
    *now = end;
}

/* Games that try to break out of wherever their names are shown. */
static void add_others(struct pm_aggregator *aggregator, struct pm_random *random)
{
    static const char *const names[] = {
        "<img src=x onerror=alert(1)>",
        "\"><script>document.title='broken'</script>",
        "javascript:alert(1)",
        "a/b%2Fc?d=e#f &amp; g",
        "../../etc/passwd",
        "database",
        "\xe2\x80\xae"
        "backwards \xf0\x9f\x8e\xae",
        "x/shaders",
    };
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error error;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct pm_profile *profile = random_profile(arena, random, names[i], 3, 20);
        ingest(aggregator, &profile, 1);
        must(pm_aggregator_curate(aggregator, names[i], &error), &error);
        pm_aggregator_quarantine_add(
            aggregator, names[i], "shader <b>0000</b>: point 3: zero writes (9) above writes (4)",
            "body", 4);
    }
    bool expired;
    must(pm_aggregator_upkeep(aggregator, &expired, &error), &error);
    pm_arena_destroy(arena);
}

/* Those of every third shader, as `piecemeal db import-shaders` would. */
static void name_shaders(struct pm_aggregator *aggregator, const struct game *game)
{
    struct pm_error error;
    for (size_t i = 0; i < game->count; i += 3) {
        char name[64];
        const struct pm_shader_key key = key_of(game->shapes[i].number);
        snprintf(name, sizeof(name), "<b>material %zu.frag", i);
        must(pm_aggregator_name_shader(aggregator, "Watch", &key, name, &error), &error);
    }
}

static void write_body(const char *path, const struct game *game, struct pm_random *random)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_buffer bytes, packed;
    struct pm_error error;
    pm_buffer_init(&bytes, (size_t)1 << 24);
    pm_buffer_init(&packed, (size_t)1 << 24);
    must(pm_profile_encode(session(arena, game, random), &bytes, &error) &&
             pm_compress(bytes.data, bytes.size, &packed, &error),
         &error);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(packed.data, packed.size, 1, file) != 1 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    pm_buffer_finish(&bytes);
    pm_buffer_finish(&packed);
    pm_arena_destroy(arena);
}

int main(int argc, char **argv)
{
    int64_t now = (int64_t)time(NULL);
    struct pm_aggregator_info info = {
        .publish_all = true, .scenes = 4, .clock = read_clock, .clock_user = &now};
    struct pm_random random;
    struct pm_error error;
    struct game game;
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: fill_storage FILE POINTS UPLOADS [BODY]\n");
        return 2;
    }
    pm_random_init(&random, 1);
    make_game(&game, strtoull(argv[2], NULL, 10), &random);
    struct pm_aggregator *aggregator = pm_aggregator_open(argv[1], &info, &error);
    must(aggregator != NULL, &error);
    name_shaders(aggregator, &game);
    fill(aggregator, &game, (uint32_t)strtoul(argv[3], NULL, 10), &now, &random);
    add_others(aggregator, &random);
    pm_aggregator_destroy(aggregator);
    if (argc == 5)
        write_body(argv[4], &game, &random);
    for (size_t i = 0; i < game.count; i++)
        free(game.shapes[i].at_most_once);
    free(game.shapes);
    return 0;
}
