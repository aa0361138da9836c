/*
 * What few tokens that lie do to what is known of a game, for the honest and rogue tokens that are
 * asked for, and whether intervals hold the truth where players differ.
 *
 *   poison [--honest N] [--rogues N] [--check] [--storage URL] [--seed S]
 *   poison --coverage [--trials N] [--least PERCENT] [--check] [--storage URL]
 *   poison --bound [--check] [--storage URL] [--seed S]
 *
 * Each honest token uploads once, each rogue as often as a token may in a day. Prints Markdown.
 * --storage: a PostgreSQL, in which the schema "poison" is dropped with all that is in it (CASCADE)
 * and made anew for each that is played. Give it a database that nobody else has.
 * --check: ends with 1 where what docs/statistics.md promises does not hold; without --honest and
 * --rogues every pair of 10 to 10,000 is played.
 */
#include "bench/poison/poison_bound.h"
#include "bench/poison/poison_coverage.h"
#include "bench/poison/poison_field.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZEROS 0.048
#define RUNS 0.10
#define SIZE 4096
#define HUGE (double)(UINT64_C(1) << 40)

enum attack { ATTACK_NONE, ATTACK_SIZE, ATTACK_ONCE, ATTACK_POINTS, ATTACKS };

static const char *const attack_names[ATTACKS] = {
    [ATTACK_NONE] = "none",
    [ATTACK_SIZE] = "all zero, of 2^40 writes",
    [ATTACK_ONCE] = "nothing runs at most once, 16 times each",
    [ATTACK_POINTS] = "another number of points, first of all",
};

struct options {
    uint64_t honest, rogues, seed, trials;
    double least;
    const char *storage;
    bool check, coverage, bound;
};

static bool put_rogues(struct poison_field *field, const char *game, enum attack attack,
                       uint64_t rogues, struct pm_error *error)
{
    for (uint64_t i = 0; attack != ATTACK_NONE && i < rogues; i++) {
        const struct poison_upload upload = {.game = game,
                                             .token = UINT64_C(1) << 40 | i,
                                             .zero = attack == ATTACK_SIZE ? 1 : ZEROS,
                                             .block = attack == ATTACK_ONCE ? 16 : RUNS,
                                             .size = attack == ATTACK_POINTS ? SIZE : HUGE,
                                             .points = attack == ATTACK_POINTS ? 9 : POISON_BLOCKS,
                                             .leaves_out_once = attack == ATTACK_ONCE};
        for (unsigned j = 0; j < PM_TOKEN_CLUSTERS; j++) {
            if (!poison_put(field, &upload, error))
                return false;
        }
    }
    return true;
}

static bool put_honest(struct poison_field *field, const char *game, uint64_t honest, uint64_t seed,
                       struct pm_error *error)
{
    struct pm_random random;
    pm_random_init(&random, seed);
    for (uint64_t i = 0; i < honest; i++) {
        const struct poison_upload upload = {.game = game,
                                             .token = i,
                                             .zero = ZEROS * poison_effect(&random, 0.3),
                                             .block = RUNS * poison_effect(&random, 0.3),
                                             .size = SIZE * poison_effect(&random, 0.5),
                                             .points = POISON_BLOCKS};
        if (!poison_put(field, &upload, error))
            return false;
    }
    return true;
}

/* A day of a game of its own, and what is known of it on the next. */
static bool play(const struct options *options, enum attack attack, uint64_t honest,
                 uint64_t rogues, struct poison_found *found, uint64_t *refused,
                 struct pm_error *error)
{
    struct poison_field field;
    const size_t first = attack == ATTACK_NONE ? 0 : (size_t)rogues * PM_TOKEN_CLUSTERS;
    bool done = poison_field_open(&field, options->storage, options->seed, 0, 0, error) &&
                put_rogues(&field, "game", attack, rogues, error) &&
                put_honest(&field, "game", honest, options->seed, error) &&
                poison_send(&field, first, refused, error);
    field.now += POISON_DAY;
    done = done && poison_look(&field, "game", found, error);
    poison_field_close(&field);
    return done;
}

static void print_share(bool known, double value)
{
    if (known)
        printf(" %.4f |", value);
    else
        printf(" – |");
}

/* What docs/statistics.md promises of 1,000 honest tokens. */
static bool is_as_promised(uint64_t honest, uint64_t rogues, const struct poison_found *clean,
                           const struct poison_found *found, uint64_t refused)
{
    const double moved = fmax(fmax(fabs(found->zero.ratio - clean->zero.ratio),
                                   fabs(found->block.ratio - clean->block.ratio)),
                              fmax(fabs(found->zero.mean - clean->zero.mean),
                                   fabs(found->block.mean - clean->block.mean)));
    const double most = rogues <= 1 ? 0.005 : rogues <= 12 ? 0.04 : rogues <= 50 ? 0.15 : 1;
    if (honest < 1000 || rogues > 50)
        return true;
    return moved <= most && refused == 0 && found->points == POISON_BLOCKS &&
           (rogues > 1 || (found->zero_published && found->block_published));
}

static bool play_pair(const struct options *options, uint64_t honest, uint64_t rogues, bool *right,
                      struct pm_error *error)
{
    struct poison_found clean;
    uint64_t refused;
    if (!play(options, ATTACK_NONE, honest, 0, &clean, &refused, error))
        return false;
    for (enum attack attack = ATTACK_SIZE; attack < ATTACKS; attack++) {
        struct poison_found found;
        if (!play(options, attack, honest, rogues, &found, &refused, error))
            return false;
        const bool promised = is_as_promised(honest, rogues, &clean, &found, refused);
        printf("| %s | %llu | %llu |", attack_names[attack], (unsigned long long)honest,
               (unsigned long long)rogues);
        print_share(clean.zero_known, clean.zero.ratio);
        print_share(found.zero_known, found.zero.ratio);
        print_share(clean.block_known, clean.block.ratio);
        print_share(found.block_known && found.points == POISON_BLOCKS, found.block.ratio);
        printf(" %s, %s | %llu |%s\n",
               found.zero_published   ? "both"
               : clean.zero_published ? "**none**"
                                      : "none",
               found.block_published   ? "blocks"
               : clean.block_published ? "**no blocks**"
                                       : "no blocks",
               (unsigned long long)refused, promised ? "" : " !");
        fflush(stdout);
        *right = *right && promised;
    }
    return true;
}

static bool play_all(const struct options *options, bool *right, struct pm_error *error)
{
    static const uint64_t honest[] = {10, 100, 1000, 10000};
    static const uint64_t rogues[] = {1, 5, 12, 50, 10, 100, 1000, 10000};
    printf("| attack | honest tokens | rogue tokens | P(zero) without | with | block without | "
           "with | published | honest uploads refused |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    *right = true;
    if (options->honest > 0)
        return play_pair(options, options->honest, options->rogues, right, error);
    for (size_t i = 0; i < sizeof(honest) / sizeof(*honest); i++) {
        for (size_t j = 0; j < sizeof(rogues) / sizeof(*rogues); j++) {
            if (!play_pair(options, honest[i], rogues[j], right, error))
                return false;
        }
    }
    return true;
}

static bool read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"honest", 1, 0, 'h'}, {"rogues", 1, 0, 'r'},
                                          {"seed", 1, 0, 's'},   {"trials", 1, 0, 't'},
                                          {"least", 1, 0, 'l'},  {"storage", 1, 0, 'u'},
                                          {"check", 0, 0, 'c'},  {"coverage", 0, 0, 'v'},
                                          {"bound", 0, 0, 'b'},  {0}};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'h':
            options->honest = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            options->rogues = strtoull(optarg, NULL, 10);
            break;
        case 's':
            options->seed = strtoull(optarg, NULL, 10);
            break;
        case 't':
            options->trials = strtoull(optarg, NULL, 10);
            break;
        case 'l':
            options->least = strtod(optarg, NULL);
            break;
        case 'u':
            options->storage = optarg;
            break;
        case 'c':
            options->check = true;
            break;
        case 'v':
            options->coverage = true;
            break;
        case 'b':
            options->bound = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc && options->trials > 0;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .trials = 300, .least = 95};
    struct pm_error error = {0};
    bool right = true;
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr, "usage: poison [--honest N --rogues N] [--check] [--storage URL] [--seed "
                        "S]\n       poison --coverage [--trials N] [--least PERCENT] [--check] "
                        "[--storage URL]\n       poison --bound [--check] [--storage URL] "
                        "[--seed S]\n--storage drops the schema \"poison\" of that "
                        "database, with all that is in it\n");
        return 2;
    }
    const bool done = options.bound ? poison_bound(options.storage, options.seed, &right, &error)
                      : options.coverage ? poison_coverage(options.storage, options.trials,
                                                           options.least, &right, &error)
                                         : play_all(&options, &right, &error);
    if (!done)
        fprintf(stderr, "poison: %s\n", error.message);
    return done && (right || !options.check) ? 0 : 1;
}
