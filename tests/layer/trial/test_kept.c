/* Verdicts are kept from session to session (profile/verdicts.h, specialized_shader.h). */
#include "tests/layer/trial/trying.h"

#include "base/file.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *verdicts_path(void)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    return path;
}

/* The n-th word of the first line that begins with a word. */
static void word_of(const char *line, int n, char *out, size_t size)
{
    char text[512];
    FILE *file = fopen(verdicts_path(), "r");
    assert_non_null(file);
    out[0] = '\0';
    while (!out[0] && fgets(text, sizeof text, file)) {
        char *rest = NULL, *word = strtok_r(text, " \n", &rest);
        if (!word || strcmp(word, line) != 0)
            continue;
        for (int i = 0; i < n && word; i++)
            word = strtok_r(NULL, " \n", &rest);
        assert_non_null(word);
        snprintf(out, size, "%s", word);
    }
    fclose(file);
    assert_true(out[0] != '\0');
}

/* Writes another word for the n-th of the first line that begins with a word. */
static void change(const char *line, int n, const char *with)
{
    struct pm_buffer text;
    char start[64], *changed = NULL;
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(verdicts_path(), &text, NULL));
    assert_true(pm_buffer_append(&text, "", 1));
    snprintf(start, sizeof start, "\n%s ", line);
    char *at = strstr((char *)text.data, start);
    assert_non_null(at);
    for (int i = 0; i < n; i++)
        at += strcspn(at, " ") + 1;
    const int length = asprintf(&changed, "%.*s%s%s", (int)(at - (char *)text.data),
                                (char *)text.data, with, at + strcspn(at, " \n"));
    assert_true(length > 0 && pm_file_write(verdicts_path(), changed, (size_t)length, NULL));
    free(changed);
    pm_buffer_finish(&text);
}

/* A session that tries the dispatches' variant. */
static void a_session(uint64_t variant_cost, const char *outcome)
{
    trying.dispatches = true;
    trying_open(variant_cost, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, outcome));
    trying_close();
}

/* Opens the session after that. */
static void open_next(const char *retry_share)
{
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", retry_share, 1);
    trying.dispatches = true;
    trying_open(80000, NULL);
}

/* Whether dispatches get their variant at once, without being timed. */
static bool is_used_at_once(void)
{
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    return trying_foreign_binds(position) == 8 &&
           pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") == 0;
}

static void a_faster_one_is_used_at_once(void **state)
{
    (void)state;
    a_session(80000, "is used from now on");
    open_next("0");
    assert_true(is_used_at_once());
    optimized_assert_logged("tried a specialized shader", 1);
    trying_close();
}

static void assert_not_compiled(const char *why)
{
    watch_start(pm_harness_driver());
    open_next("0");
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    assert_true(optimized_logged(why) > 0);
    trying_close();
}

/* By default a session's trial counts for that session alone until another one agrees. */
static void several_sessions_must_agree(void **state)
{
    (void)state;
    unsetenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS");
    a_session(80000, "is used from now on");
    for (uint32_t tried = 2; tried < 4; tried++) {
        char ratios[2][64];
        open_next("0");
        if (tried == 3) {
            assert_true(is_used_at_once());
            optimized_assert_logged("tried a specialized shader", 2);
        } else {
            assert_false(is_used_at_once());
            uint64_t until = 0;
            while (optimized_logged("is used from now on") < tried && patience(&until))
                trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
            optimized_assert_logged("tried a specialized shader", tried);
        }
        trying_close();
        for (int i = 0; i < 2; i++)
            word_of("tried", 2 + i, ratios[i], sizeof ratios[i]);
        assert_string_equal(ratios[0], ratios[1]);
    }
}

/* Luck of one process: the next one, which tries it again, drops it. */
static void what_one_session_found_may_be_luck(void **state)
{
    (void)state;
    unsetenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS");
    a_session(80000, "is used from now on");
    trying.dispatches = true;
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    trying_open(TRYING_ORIGINAL * 11 / 10, NULL);
    uint64_t until = 0;
    while (optimized_logged("is dropped") == 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("is dropped", 1);
    trying_close();
    assert_not_compiled("a trial of an earlier session found it no faster");
}

/* The interval and what it is of are kept with it, as soon as they are there: the session may be
 * killed. */
static void its_spread_is_kept(void **state)
{
    (void)state;
    char word[64];
    trying.dispatches = true;
    trying_open(80000, NULL);
    trying.noise = 0.1;
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    uint64_t until = 0;
    while (access(verdicts_path(), F_OK) != 0 && patience(&until))
        ;
    word_of("verdict", 1, word, sizeof word);
    assert_string_equal(word, "faster");
    word_of("verdict", 2, word, sizeof word);
    assert_string_equal(word, "calls");
    uint32_t ratios[3];
    for (int i = 0; i < 3; i++) {
        word_of("verdict", 3 + i, word, sizeof word);
        ratios[i] = (uint32_t)strtoul(word, NULL, 10);
    }
    assert_in_range(ratios[0], 700000, 900000);
    assert_true(ratios[1] < ratios[0] && ratios[0] < ratios[2] && ratios[2] < 990000);
    word_of("verdict", 6, word, sizeof word);
    assert_in_range(strtoul(word, NULL, 10), 8, 4096);
    trying_close();
}

static void now_and_then_it_is_tried_again(void **state)
{
    (void)state;
    a_session(80000, "is used from now on");
    open_next("1");
    assert_false(is_used_at_once());
    uint64_t until = 0;
    while (optimized_logged("tried a specialized shader") < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    trying_close();
    optimized_assert_logged("tried a specialized shader", 2);
}

static void a_slower_one_is_not_compiled_again(void **state)
{
    (void)state;
    a_session(130000, "dropped");
    assert_not_compiled("a trial of an earlier session found it no faster");
}

/* Nor is one that is as fast. */
static void an_undecided_one_is_not_either(void **state)
{
    (void)state;
    trying.dispatches = true;
    trying_open(TRYING_ORIGINAL * 99 / 100, NULL);
    trying.noise = 0.05;
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "undecided"));
    trying_close();
    assert_not_compiled("a trial of an earlier session found it no faster");
}

static void assert_tried(uint32_t times)
{
    open_next("0");
    assert_false(is_used_at_once());
    uint64_t until = 0;
    while (optimized_logged("tried a specialized shader") < times && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    trying_close();
    optimized_assert_logged("tried a specialized shader", times);
}

static void an_old_one_is_tried_again(void **state)
{
    (void)state;
    a_session(80000, "is used from now on");
    change("verdict", 7, "1000000000");
    assert_tried(2);
}

static void an_old_slower_one_too(void **state)
{
    (void)state;
    a_session(130000, "dropped");
    change("verdict", 7, "1000000000");
    assert_tried(2);
}

static void another_driver_and_layer_try_again(void **state)
{
    (void)state;
    a_session(80000, "is used from now on");
    change("variant", 7, "77");
    assert_tried(2);
    change("layer", 1, "0.0.0");
    assert_tried(3);
    /* Of one version there are many builds: the version alone names none, and an id one. */
    change("layer", 1, PM_VERSION);
    assert_tried(4);
    change("layer", 1, PM_VERSION "+0123456789abcdef0123456789abcdef01234567");
    assert_tried(5);
    /* A release of it whose driverVersion is the same. */
    setenv("PM_NULL_DRIVER_INFO", "Mesa 25.0.8", 1);
    assert_tried(6);
}

static void damage_costs_a_trial(void **state)
{
    (void)state;
    a_session(80000, "is used from now on");
    change("verdict", 1, "sooner");
    open_next("0");
    assert_true(optimized_logged("of the verdicts is damaged") > 0);
    assert_false(is_used_at_once());
    trying_close();
}

/* Safe mode has the last word (HAZARDS 22). */
static void what_is_held_back_is_not_used(void **state)
{
    (void)state;
    char key[64], path[200];
    a_session(80000, "is used from now on");
    word_of("variant", 1, key, sizeof key);
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/history", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "piecemeal journal 1\nbad 1\nsafe 0\nstruck %s 1 5\n", key);
    fclose(file);
    assert_not_compiled("that is held back");
}

/* What others say of its time does not count where there is a verdict of our own. */
static void a_published_verdict_counts_less(void **state)
{
    (void)state;
    a_session(80000, "is used from now on");
    struct pm_shader_key keys[4];
    const size_t count = optimized_journal(keys, 4);
    char text[64], key[64];
    word_of("variant", 1, key, sizeof key);
    optimized_learn();
    for (size_t i = 0; i < count; i++) {
        pm_shader_key_format(&keys[i], text);
        if (strcmp(text, key) == 0)
            optimized_add_timing(&keys[i], 1.2, 1.3);
    }
    optimized_enable(false);
    setenv("PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0", 1);
    pm_harness_open(&trying.h, NULL);
    const VkPipeline compute = optimized_compute(&trying.h);
    assert_true(optimized_effective(&trying.h, compute, VK_PIPELINE_BIND_POINT_COMPUTE) != compute);
    trying.h.vk.DestroyPipeline(trying.h.device, compute, NULL);
    pm_harness_close(&trying.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_faster_one_is_used_at_once),
        PM_LAYERED_TEST(several_sessions_must_agree),
        PM_LAYERED_TEST(what_one_session_found_may_be_luck),
        PM_LAYERED_TEST(its_spread_is_kept),
        PM_LAYERED_TEST(now_and_then_it_is_tried_again),
        PM_LAYERED_TEST(a_slower_one_is_not_compiled_again),
        PM_LAYERED_TEST(an_undecided_one_is_not_either),
        PM_LAYERED_TEST(an_old_one_is_tried_again),
        PM_LAYERED_TEST(an_old_slower_one_too),
        PM_LAYERED_TEST(another_driver_and_layer_try_again),
        PM_LAYERED_TEST(damage_costs_a_trial),
        PM_LAYERED_TEST(what_is_held_back_is_not_used),
        PM_LAYERED_TEST(a_published_verdict_counts_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
