/*
 * Is what many players send turned into what is true? A simulated population with known truth, sent
 * through the real samplers, storage, statistics and curation.
 *
 *   population intervals [OPTION…]   how often the 95 % intervals hold the truth
 *   population watch [OPTION…]       how long until a game like the paper's Watch is covered
 *
 *   --trials N       (10000; watch: 20)    --seed N        (1)
 *   --days N         with uploads (10)     --spacing N     days from one to the next (6)
 *   --sessions N     a day (16)            --half-life N   days (14); 0: none
 *   --clients N      to draw from (50000)  --windows N     of a session, on average (2)
 *   --p X            (0.01)                --batch N       b (1)
 *   --calls X        of the shader a frame (1)
 *   --least PERCENT  coverage asked of every interval (93)
 *   --truth N        sessions that the truth is of (2000000)
 *   --rows N         of the last table of watch that are played, the quickest first (4)
 *   --storage FILE   for the trials; made, and made anew (in a temporary folder)
 *
 * Prints Markdown with everything that was assumed. `intervals` ends with 0 when, as far as the
 * trials can tell (Clopper and Pearson's 95 % intervals), no interval's coverage is below --least,
 * nor that of the published ones where most trials publish, and nowhere more trials than that
 * leaves publish one that does not hold the truth; `watch` when the paper's estimate comes out under
 * the paper's assumptions.
 */
#include "bench/population.h"
#include "tools/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* P(X <= hits) of a binomial, from the nearer tail's sum in logarithms. */
static double binomial_below(uint64_t hits, uint64_t of, double share)
{
    double sum = 0;
    if (share <= 0)
        return 1;
    if (share >= 1)
        return hits == of;
    for (uint64_t k = 0; k <= hits; k++) {
        const double n = (double)of, x = (double)k;
        sum += exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(share) +
                   (n - x) * log1p(-share));
    }
    return fmin(sum, 1);
}

void pm_population_share(uint64_t hits, uint64_t of, double *low, double *high)
{
    double bounds[2];
    for (int end = 0; end < 2; end++) {
        double below = 0, above = 1;
        for (int i = 0; i < 50; i++) {
            const double share = (below + above) / 2;
            /* Low: P(X >= hits) = 0.025; high: P(X <= hits) = 0.025. */
            const bool up = end == 0 ? hits == 0 || 1 - binomial_below(hits - 1, of, share) < 0.025
                                     : binomial_below(hits, of, share) > 0.025;
            if (up && (end == 1 || hits > 0))
                below = share;
            else
                above = share;
        }
        bounds[end] = (below + above) / 2;
    }
    *low = hits == 0 ? 0 : bounds[0];
    *high = hits == of ? 1 : bounds[1];
}

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
        {"storage", 1, 0, STORAGE},
        {0},
    };
    struct pm_population_options options = {
        .seed = 1,
        .truth = 2000000,
        .rows = 4,
        .days = 10,
        .spacing = 6,
        .sessions = 16,
        .half_life = 14,
        .least = 0.93,
        .game = {.clients = 50000,
                 .api_probability = 0.01,
                 .batch = 1,
                 .windows = 2,
                 .window_frames = 1024,
                 .calls = 1},
    };
    struct pm_error error = {0};
    bool good = true, right = false;
    int option;
    while (good && (option = getopt_long(argc, argv, "", known, NULL)) != -1)
        good = set(&options, option, optarg);
    const char *part = good && optind + 1 == argc ? argv[optind] : "";
    const bool watch = strcmp(part, "watch") == 0;
    if (!watch && strcmp(part, "intervals") != 0) {
        fprintf(stderr, "usage: population intervals|watch [OPTION…]; population.c says which\n");
        return 2;
    }
    if (options.trials == 0)
        options.trials = watch ? 20 : 10000;
    if (!(watch ? pm_population_watch : pm_population_intervals)(&options, &right, &error)) {
        fprintf(stderr, "population: %s\n", error.message);
        return 1;
    }
    if (!right)
        fprintf(stderr, "population: %s\n",
                watch ? "the paper's estimate does not come out"
                      : "some interval holds the truth too seldom");
    return right ? 0 : 1;
}
