/* Races of variants in the layer (contest_race.h): what a contest measures is told, and what others
 * found says what it measures; what is bound, this machine's own trial alone. */
#include "tests/layer/trial/contested.h"

#include "aggregator_client/disk/spool.h"
#include "plenty.comp.h"
#include "profile/machine_lot.h"
#include "profile/races.h"
#include "profile/variant_point.h"
#include "tests/patience.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool knows_blocks; /* of the session's shader */

/* seed: the machine's lot. */
static void open_session(const char *seed)
{
    setenv("PIECEMEAL_SAMPLER_SEED", seed, 1);
    trying.known = knows_blocks;
    contested_open_with(&(struct contested_session){.words = knows_blocks ? plenty_comp : NULL,
                                                    .size = sizeof plenty_comp});
}

static void close_session(void)
{
    contested_close();
    unsetenv("PIECEMEAL_OPTIMIZE_DOUBT_SHARE");
}

/* ---- what was told ---- */

static struct {
    struct pm_shader_key key;
    struct pm_environment environment;
    struct pm_point_counts points[CONTESTED_MOST];
    uint32_t count;
} told;

static bool take(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    (void)user;
    (void)error;
    for (size_t i = 0; i < checkpoint->shader_count; i++) {
        const struct pm_shader_profile *shader = &checkpoint->shaders[i];
        if (shader->kind != PM_KIND_VARIANT)
            continue;
        told.key = shader->key;
        told.environment = shader->environment;
        for (size_t j = 0; j < shader->point_count; j++) {
            uint32_t at = 0;
            while (at < told.count && told.points[at].point != shader->points[j].point)
                at++;
            assert_true(at < CONTESTED_MOST);
            if (at == told.count)
                told.points[told.count++] =
                    (struct pm_point_counts){.point = shader->points[j].point};
            told.points[at].entry_lanes += shader->points[j].entry_lanes;
            told.points[at].counts[0] += shader->points[j].counts[0];
            told.points[at].counts[1] += shader->points[j].counts[1];
        }
    }
    return true;
}

static void read_told(void)
{
    char folder[256];
    struct pm_spool_session *list = NULL;
    size_t count = 0;
    struct pm_error error = {0};
    told.count = 0;
    snprintf(folder, sizeof folder, "%s/piecemeal/spool", pm_layered_home());
    assert_true(pm_spool_list(folder, &list, &count, &error));
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged_at;
        if (!pm_spool_read(list[i].path, take, NULL, &damaged_at, &error))
            fail_msg("%s", error.message);
    }
    pm_spool_list_free(list, count);
}

static double told_log(uint32_t at)
{
    return pm_variant_log((double)told.points[at].counts[PM_VARIANT_SAID] /
                          (double)told.points[at].counts[PM_VARIANT_MOST]);
}

/* A session that measures all, which tells what there is. The first variant takes `first` of the
 * time, all others twice as much. */
static void learn(double first)
{
    contested_set_times(2);
    contested.times[1] = first;
    open_session("1");
    contested_run_to_the_end();
    close_session();
    read_told();
    contested_forget();
}

static void what_is_measured_is_told(void **state)
{
    (void)state;
    uint32_t fast = 0, slow = 0;
    learn(0.95);
    assert_true(told.count >= 3);
    assert_true(told.environment.vendor_id != 0 && told.environment.subgroup_size != 0);
    for (uint32_t i = 0; i < told.count; i++) {
        assert_true(pm_variant_is_known(told.points[i].point));
        assert_true(told.points[i].entry_lanes >= 3);
        assert_int_equal(told.points[i].counts[PM_VARIANT_MOST],
                         told.points[i].entry_lanes * PM_VARIANT_UNIT);
        fast += fabs(told_log(i) - log(0.95)) < 1e-3;
        slow += fabs(told_log(i) - PM_VARIANT_CLIP) < 1e-6;
    }
    assert_int_equal(fast, 1);
    assert_int_equal(slow, told.count - 1);
}

/* ---- what is said ---- */

/* A race of the variants that were told: `winner` of them has won (told.count: none), and all from
 * `lost` on have lost. */
static void publish(uint32_t winner, uint32_t lost)
{
    struct pm_race_variant variants[CONTESTED_MOST];
    for (uint32_t i = 0; i < told.count; i++)
        variants[i] = (struct pm_race_variant){
            .point = told.points[i].point, .share = 0.02, .clusters = 9, .lost = i >= lost};
    for (uint32_t i = 1; i < told.count; i++) /* ascending */
        for (uint32_t j = i; j > 0 && variants[j - 1].point > variants[j].point; j--) {
            const struct pm_race_variant swapped = variants[j];
            variants[j] = variants[j - 1];
            variants[j - 1] = swapped;
        }
    const struct pm_race race = {.key = told.key,
                                 .environment = told.environment,
                                 .winner = winner < told.count ? told.points[winner].point : 0,
                                 .low = -0.1,
                                 .mean = -0.08,
                                 .high = -0.06,
                                 .variants = variants,
                                 .variant_count = told.count};
    const struct pm_races races = {"game", 1, &race, 1};
    struct pm_buffer body;
    struct pm_error error = {0};
    char path[256];
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    if (!pm_races_body_encode(&races, &body, &error))
        fail_msg("%s", error.message);
    snprintf(path, sizeof path, "%s/game.pmraces", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(body.data, 1, body.size, file), body.size);
    fclose(file);
    pm_buffer_finish(&body);
}

/* The seed of a machine that follows a winner, or that goes on with the race, by its lot. */
static const char *seed_that(bool follows)
{
    static char seed[24];
    for (uint64_t number = 1;; number++) {
        if (pm_lot_falls(number, &told.key, 0.05) ||
            pm_lot_falls(number, &told.key, 0.25) == follows)
            continue;
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)number);
        return seed;
    }
}

/* The winner alone is measured, then tried, and bound; all else is left in peace. */
static void a_winner_is_tried_first(void **state)
{
    (void)state;
    learn(2);
    publish(1, told.count);
    contested_set_times(0.8);
    open_session(seed_that(true));
    contested_run_to_the_end();
    optimized_assert_logged("what others found fastest is tried first", 1);
    optimized_assert_logged("of 1 variants the fastest is", 1);
    assert_int_equal(contested.count, 2);
    assert_int_equal(contested_bound(), 1);
    close_session();
    read_told();
    assert_int_equal(told.count, 1);
}

/* Whatever others say: what is slower here is not bound, and the next session looks at others. */
static void a_winner_that_is_slower_here(void **state)
{
    (void)state;
    char name[PM_VARIANT_POINT_NAME];
    learn(2);
    publish(1, told.count);
    pm_variant_point_name(told.points[1].point, name);
    contested_set_times(1.3);
    open_session(seed_that(true));
    contested_run_to_the_end();
    optimized_assert_logged("of 1 variants none is faster", 1);
    assert_int_equal(contested_bound(), 0);
    close_session();
    char log[256];
    snprintf(log, sizeof log, "%s/log", pm_layered_home());
    assert_int_equal(remove(log), 0);
    open_session(seed_that(true));
    contested_run_to_the_end();
    optimized_assert_logged("variants are drawn by what others ask for", 1);
    assert_true(contested.count > 2);
    close_session();
}

/* Nothing has won: some are drawn, and none that has lost. */
static void what_has_lost_is_left_out(void **state)
{
    (void)state;
    learn(2);
    const uint32_t all = told.count;
    assert_true(all >= 3);
    publish(all, 1);
    struct pm_point_counts points[CONTESTED_MOST];
    memcpy(points, told.points, sizeof points);
    contested_set_times(2);
    open_session(seed_that(true));
    contested_run_to_the_end();
    optimized_assert_logged("variants are drawn by what others ask for", 1);
    close_session();
    read_told();
    assert_true(told.count >= 1);
    for (uint32_t i = 0; i < told.count; i++)
        for (uint32_t j = 1; j < all; j++)
            assert_int_not_equal(told.points[i].point, points[j].point);
}

/* Recipes by a profile of blocks are in no race: they take nothing from what that asks for, and two
 * at most are measured beside it. */
static void what_no_race_knows_comes_beside(void **state)
{
    enum { DRAWN = 8, BESIDE = 2, MACHINES = 6 };
    uint32_t beside = 0, measured = 0;
    (void)state;
    trying_learn_blocks_of(plenty_comp, sizeof plenty_comp);
    knows_blocks = true;
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "1", 1); /* not what this is about */
    contested_set_times(2);
    open_session("1");
    contested_run_to_the_end();
    measured = contested.count - 1;
    close_session();
    read_told();
    contested_forget();
    assert_true(told.count > DRAWN);
    assert_true(measured - told.count > BESIDE);
    publish(told.count, told.count);
    for (uint32_t machine = 2; machine < 2 + MACHINES; machine++) {
        char seed[16];
        snprintf(seed, sizeof seed, "%u", machine);
        if (pm_lot_falls(machine, &told.key, 0.05))
            continue;
        open_session(seed);
        contested_run_to_the_end();
        optimized_assert_logged("variants are drawn by what others ask for", 1);
        measured = contested.count - 1;
        close_session();
        read_told();
        contested_forget();
        assert_int_equal(told.count, DRAWN);
        assert_in_range(measured - told.count, 0, BESIDE);
        beside += measured - told.count;
    }
    assert_true(beside > 0);
    knows_blocks = false;
    unsetenv("PIECEMEAL_LIMITS_TRIAL_SHARE");
}

/* By its lot a machine measures all for itself. */
static void who_doubts_measures_all(void **state)
{
    (void)state;
    learn(2);
    const uint32_t all = told.count;
    publish(1, 2);
    contested_set_times(2);
    setenv("PIECEMEAL_OPTIMIZE_DOUBT_SHARE", "1", 1);
    open_session("1");
    contested_run_to_the_end();
    close_session();
    read_told();
    assert_int_equal(told.count, all);
}

/* What cannot be read changes nothing. */
static void damaged_races(void **state)
{
    (void)state;
    learn(2);
    const uint32_t all = told.count;
    char path[256];
    snprintf(path, sizeof path, "%s/game.pmraces", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no races", file);
    fclose(file);
    open_session("1");
    contested_run_to_the_end();
    optimized_assert_logged("races of variants are not used", 1);
    close_session();
    read_told();
    assert_int_equal(told.count, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_no_race_knows_comes_beside),
        PM_LAYERED_TEST(what_is_measured_is_told),
        PM_LAYERED_TEST(a_winner_is_tried_first),
        PM_LAYERED_TEST(a_winner_that_is_slower_here),
        PM_LAYERED_TEST(what_has_lost_is_left_out),
        PM_LAYERED_TEST(who_doubts_measures_all),
        PM_LAYERED_TEST(damaged_races),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
