/* What words of push constants and uniform buffers that are known could save of real shaders:
 * constant_worth [--list] FOLDER…, with what tests/corpus/collect.sh dumped (KEY.spv, KEY.json) or
 * a build compiled. Of each shader: how many words it loads, how many of them are points, and what
 * is saved, as specialize_constants estimates it with its guard, where one of the points is known
 * to be 0, where one is known to be 1 (1.0 of a float), and where all that may be known together
 * are 0.
 * --list: a line a shader.
 *
 * Every module that is made is validated on the way; failures are counted, and said. */
#include "bench/cost/dumped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHADERS = 8192, BARS = 3 };
static const double bars[BARS] = {0.05, 0.1, 0.25};

struct sums {
    size_t shaders, failed, with_points, words, points, guardable;
    size_t zero[BARS], one[BARS], all[BARS]; /* shaders of which at least this share is saved */
    double zero_share, all_share;            /* summed over shaders */
};

static struct sums sums;
static bool list;

/* The share of the shader's cycles that is saved; 0: nothing, or it failed. */
static double share_of(const struct pm_words *words, const struct pm_constant_known *known,
                       uint32_t count, const char *name)
{
    const struct pm_specialize_constants_info info = {
        .known = known, .known_count = count, .target = pm_dumped_target, .take_all = true};
    struct pm_specialized_constants out;
    struct pm_error error = {0};
    double share = 0;
    if (!count)
        return 0;
    if (!pm_specialize_constants(words->data, words->count, &info, &out, &error)) {
        fprintf(stderr, "%s: %s\n", name, error.message);
        sums.failed++;
        return 0;
    }
    if (out.words.count && out.cycles_before - out.cycles_after > 25)
        share = 1 - out.cycles_after / out.cycles_before;
    pm_specialized_constants_finish(&out);
    return share;
}

static void count_bars(size_t *counts, double share)
{
    for (int i = 0; i < BARS; i++)
        counts[i] += share >= bars[i];
}

static void look_at(const char *name, const struct pm_words *words,
                    const struct pm_constant_points *points)
{
    struct pm_constant_known *all = calloc(points->count + 1u, sizeof(*all));
    double zero = 0, one = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; all && i < points->count; i++) {
        const struct pm_constant_point *point = &points->points[i];
        if (point->source == PM_CONSTANT_UNIFORM && !point->every_path)
            continue;
        const struct pm_constant_known is_one = {*point, point->is_float ? 0x3f800000 : 1};
        all[count++] = (struct pm_constant_known){*point, 0};
        const double of_zero = share_of(words, &all[count - 1], 1, name);
        const double of_one = share_of(words, &is_one, 1, name);
        zero = of_zero > zero ? of_zero : zero;
        one = of_one > one ? of_one : one;
    }
    const double together = share_of(words, all, count, name);
    count_bars(sums.zero, zero);
    count_bars(sums.one, one);
    count_bars(sums.all, together);
    sums.guardable += count;
    sums.zero_share += zero;
    sums.all_share += together;
    if (list)
        printf("%s: %u words, %u points, %u may be known; best 0: %.1f %%, best 1: %.1f %%, all 0: "
               "%.1f %%\n",
               name, points->candidates, points->count, count, 100 * zero, 100 * one,
               100 * together);
    free(all);
}

static void visit(void *user, const char *folder, const char *name)
{
    (void)user;
    struct pm_dumped shader;
    struct pm_words words = {0};
    struct pm_constant_points points = {0};
    struct pm_error error = {0};
    if (sums.shaders >= MOST_SHADERS || !pm_dumped_read(folder, name, &shader, &error))
        return;
    if (pm_canonicalize(&shader.info, &words, &error) &&
        pm_points_constant(words.data, words.count, false, &points, &error)) {
        sums.shaders++;
        sums.words += points.candidates;
        sums.points += points.count;
        sums.with_points += points.count > 0;
        look_at(shader.name, &words, &points);
    }
    pm_constant_points_finish(&points);
    pm_words_finish(&words);
    pm_dumped_finish(&shader);
}

static void say_bars(const char *what, const size_t *counts)
{
    printf("%s: %zu shaders save 5 %% or more, %zu 10 %%, %zu 25 %%\n", what, counts[0], counts[1],
           counts[2]);
}

int main(int argc, char **argv)
{
    int first = 1;
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        list = true;
        first = 2;
    }
    if (first >= argc) {
        fprintf(stderr, "usage: constant_worth [--list] FOLDER…\n");
        return 2;
    }
    for (int i = first; i < argc; i++)
        pm_dumped_each(argv[i], visit, NULL);
    printf("%zu shaders load %zu words; %zu words in %zu shaders are points, of which %zu may be "
           "known\n",
           sums.shaders, sums.words, sums.points, sums.with_points, sums.guardable);
    say_bars("one word is 0", sums.zero);
    say_bars("one word is 1", sums.one);
    say_bars("all of them are 0", sums.all);
    if (sums.shaders)
        printf("on average %.1f %% where the best word is 0, %.1f %% where all are\n",
               100 * sums.zero_share / (double)sums.shaders,
               100 * sums.all_share / (double)sums.shaders);
    printf("%zu modules failed\n", sums.failed);
    return sums.failed ? 1 : 0;
}
