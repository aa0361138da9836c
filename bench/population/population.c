/*
 * Is what many players send turned into what is true? A simulated population with known truth, sent
 * through the real samplers, storage, statistics and curation.
 *
 *   population intervals [OPTION…]   how often the 95 % intervals hold the truth
 *   population published [OPTION…]   how often they do when a point is first published
 *   population provisional [OPTION…] how soon the right values are tried, with levels and without
 *   population race [OPTION…]        how often a race has a false winner, how soon the right
 *   population contest [OPTION…]     how often contests on one machine have the same winner
 *   population joint [OPTION…]       how often all intervals of a published shader hold the truth
 *   population shift [OPTION…]       how soon estimates follow a patch of the game
 *   population watch [OPTION…]       how long until a game like the paper's Watch is covered
 *
 *   --trials N       (10000; watch: 20, joint: 400, the others: 200)   --seed N    (1)
 *   --clients N      to draw from (50000)  --windows N     of a session, on average (2)
 *   --p X            (0.01)                --batch N       b (1)
 *   --calls X        of the shader a frame (1)
 * intervals, published:
 *   --least PERCENT  coverage asked of every interval (95)
 *   --truth N        sessions that the truth is of (2000000; published: 400000)
 * intervals:
 *   --days N         with uploads (10)     --spacing N     days from one to the next (6)
 *   --sessions N     a day (16)            --half-life N   days (14); 0: none
 *   --storage FILE   for the trials; made, and made anew (in a temporary folder)
 * published:
 *   --look N         uploads from one look to the next (20)
 *   --most N         uploads after which a game is given up (200000)
 *   --point N        one kind of point alone, from 0
 * provisional: --most
 * watch:
 *   --points N       zero points of the game, at most the paper's 250909 candidates (as many)
 *   --rows N         of the last table that are played, the quickest first (4)
 *
 * Prints Markdown with everything that was assumed. `intervals` ends with 0 when, as far as the
 * trials can tell (Clopper and Pearson's 95 % intervals), no interval's coverage is below --least,
 * nor that of the published ones where most trials publish, and nowhere more trials than that
 * leaves publish one that does not hold the truth; `published` when nearly every game publishes and
 * no interval's coverage is below --least then, as far as they can tell; `provisional` when levels
 * take at most a tenth of the uploads; `race` when one in twenty at most has a false winner;
 * `contest` when of those that are alike the same one wins in most runs;
 * `joint` when all intervals of a published shader hold in --least of them; `shift` when estimates
 * follow by the fourth day, and no interval's coverage is below --least then or before; `watch`
 * when the paper's estimate comes out under the paper's assumptions.
 */
#include "bench/population/population_contest.h"
#include "bench/population/population_intervals.h"
#include "bench/population/population_joint.h"
#include "bench/population/population_provisional.h"
#include "bench/population/population_published.h"
#include "bench/population/population_race.h"
#include "bench/population/population_shift.h"
#include "bench/population/population_watch.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_real(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && isfinite(*value) && *value > 0;
}

static bool parse_whole(const char *text, uint32_t *value)
{
    uint64_t number;
    if (!pm_tool_number(text, 1u << 30, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

enum {
    TRIALS = 256,
    SEED,
    DAYS,
    SPACING,
    SESSIONS,
    HALF_LIFE,
    CLIENTS,
    WINDOWS,
    P,
    BATCH,
    CALLS,
    LEAST,
    TRUTH,
    ROWS,
    POINTS,
    LOOK,
    MOST,
    POINT,
    STORAGE
};

static bool set(struct pm_population_options *options, int option, const char *text)
{
    struct pm_game_setup *game = &options->game;
    switch (option) {
    case TRIALS:
        return pm_tool_number(text, 1u << 30, &options->trials) && options->trials > 0;
    case SEED:
        return pm_tool_number(text, UINT64_MAX / 2, &options->seed);
    case DAYS:
        return parse_whole(text, &options->days) && options->days > 0;
    case SPACING:
        return parse_whole(text, &options->spacing);
    case SESSIONS:
        return parse_whole(text, &options->sessions) && options->sessions > 0;
    case HALF_LIFE:
        return parse_whole(text, &options->half_life);
    case CLIENTS:
        return parse_whole(text, &game->clients) && game->clients > 0;
    case WINDOWS:
        return parse_real(text, &game->windows);
    case P:
        return parse_real(text, &game->api_probability) && game->api_probability <= 1;
    case BATCH:
        return parse_whole(text, &game->batch) && game->batch > 0;
    case CALLS:
        return parse_real(text, &game->calls);
    case LEAST:
        if (!parse_real(text, &options->least) || options->least > 100)
            return false;
        options->least /= 100;
        return true;
    case TRUTH:
        return pm_tool_number(text, UINT32_MAX, &options->truth) && options->truth > 0;
    case ROWS:
        return pm_tool_number(text, 4, &options->rows);
    case POINTS:
        return parse_whole(text, &options->points) && options->points <= PM_WATCH_POINTS;
    case LOOK:
        return parse_whole(text, &options->look) && options->look > 0;
    case MOST:
        return parse_whole(text, &options->most) && options->most > 0;
    case POINT:
        return parse_whole(text, &options->point) && options->point < PM_GAME_POINTS;
    case STORAGE:
        options->storage = text;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"trials", 1, 0, TRIALS},
        {"seed", 1, 0, SEED},
        {"days", 1, 0, DAYS},
        {"spacing", 1, 0, SPACING},
        {"sessions", 1, 0, SESSIONS},
        {"half-life", 1, 0, HALF_LIFE},
        {"clients", 1, 0, CLIENTS},
        {"windows", 1, 0, WINDOWS},
        {"p", 1, 0, P},
        {"batch", 1, 0, BATCH},
        {"calls", 1, 0, CALLS},
        {"least", 1, 0, LEAST},
        {"truth", 1, 0, TRUTH},
        {"rows", 1, 0, ROWS},
        {"points", 1, 0, POINTS},
        {"look", 1, 0, LOOK},
        {"most", 1, 0, MOST},
        {"point", 1, 0, POINT},
        {"storage", 1, 0, STORAGE},
        {0},
    };
    struct pm_population_options options = {
        .seed = 1,
        .rows = 4,
        .look = 20,
        .most = 200000,
        .point = PM_GAME_POINTS,
        .days = 10,
        .spacing = 6,
        .sessions = 16,
        .half_life = 14,
        .least = 0.95,
        .game = {.clients = 50000,
                 .api_probability = 0.01,
                 .batch = 1,
                 .windows = 2,
                 .window_frames = 1024,
                 .calls = 1},
    };
    static const struct {
        const char *name, *wrong;
        bool (*play)(const struct pm_population_options *options, bool *right,
                     struct pm_error *error);
        uint64_t trials, truth;
    } parts[] = {
        {"intervals", "some interval holds the truth too seldom", pm_population_intervals, 10000,
         2000000},
        {"published", "some published interval holds the truth too seldom, or few games publish",
         pm_population_published, 10000, 400000},
        {"provisional", "levels take more than a tenth of the uploads", pm_population_provisional,
         200, 1},
        {"race", "equal variants win too often", pm_population_race, 200, 1},
        {"contest", "contests have the same winner too seldom", pm_population_contest, 200, 1},
        {"joint", "too few published shaders hold the truth at all points", pm_population_joint,
         400, 1},
        {"shift", "estimates do not follow, or hold the truth too seldom", pm_population_shift, 200,
         1},
        {"watch", "the paper's estimate does not come out", pm_population_watch, 20, 1},
    };
    struct pm_error error = {0};
    bool good = true, right = false;
    int option;
    size_t part = 0;
    while (good && (option = getopt_long(argc, argv, "", known, NULL)) != -1)
        good = set(&options, option, optarg);
    good = good && optind + 1 == argc;
    while (good && part < sizeof(parts) / sizeof(*parts) &&
           strcmp(argv[optind], parts[part].name) != 0)
        part++;
    if (!good || part == sizeof(parts) / sizeof(*parts)) {
        fprintf(stderr,
                "usage: population intervals|published|provisional|race|contest|joint|shift|watch "
                "[OPTION…]; population.c says which\n");
        return 2;
    }
    options.trials = options.trials ? options.trials : parts[part].trials;
    options.truth = options.truth ? options.truth : parts[part].truth;
    if (!parts[part].play(&options, &right, &error)) {
        fprintf(stderr, "population: %s\n", error.message);
        return 1;
    }
    if (!right)
        fprintf(stderr, "population: %s\n", parts[part].wrong);
    return right ? 0 : 1;
}
