/* Of variants that are about as fast a contest (layer/shader/contest.h) takes the same one each
 * time, on the null driver: the first, unless another one is known to have won before. */
#include "tests/layer/trial/contested.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64 };

/* The winner's name, by the log. */
static void read_winner(char name[NAME])
{
    char path[300], line[1024];
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *name = 0;
    while (fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "the fastest is ");
        if (at)
            sscanf(at, "the fastest is %63s", name);
    }
    fclose(file);
}

/* A session in which a contest ends. seed: of the order in which variants are measured. */
static void hold(const char *seed, char name[NAME])
{
    setenv("PIECEMEAL_SAMPLER_SEED", seed, 1);
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "1", 1); /* not what this is about */
    contested_open();
    contested_run_to_the_end();
    contested_close();
    unsetenv("PIECEMEAL_LIMITS_TRIAL_SHARE");
    read_winner(name);
}

/* Each takes as much less time than the game's own. */
static void all_are_alike(void)
{
    contested_set_times(0.95);
    contested.noise = 0.01; /* what differs by chance is within what is alike */
}

static void the_same_one_wins_each_time(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "2", "3", "4"};
    char first[NAME], name[NAME];
    for (uint32_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        all_are_alike();
        hold(seeds[i], name);
        assert_true(*name);
        if (i == 0)
            memcpy(first, name, sizeof first);
        assert_string_equal(name, first);
        contested_forget();
    }
}

/* What was found is as old as if it were of a hundred days before. */
static void age_verdicts(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "cd '%s/piecemeal/journal/game' && awk '$1 == \"verdict\" { $NF -= 8640000 } 1' "
             "verdicts >aged && mv aged verdicts && rm ../../../log",
             pm_layered_home());
    assert_int_equal(system(command), 0);
}

/* Some time ago another one was faster. That is old, so it is measured with all the others. */
static void what_won_before_wins_again(void **state)
{
    (void)state;
    char first[NAME], before[NAME], now[NAME], seed[16];
    all_are_alike();
    hold("1", first);
    assert_true(*first);
    for (uint32_t i = 1; i == 1 || strcmp(before, first) == 0; i++) {
        contested_forget();
        contested_set_times(1.02);
        contested.times[2] = 0.8;
        snprintf(seed, sizeof seed, "%u", i);
        hold(seed, before);
    }
    age_verdicts();
    all_are_alike();
    hold("5", now);
    assert_string_equal(now, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_same_one_wins_each_time),
        PM_LAYERED_TEST(what_won_before_wins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
