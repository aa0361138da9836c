/* What is kept of trials from session to session (profile/verdicts.h): who shares it, how long it
 * counts, and which variant is found by it. */
#include "profile/verdicts.h"
#include "tests/profile/journals.h"
#include "tests/profile/kept.h"

#include "profile/verdicts_text.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void sessions_share_what_is_kept(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8),
                                 c = kept_variant('c', PM_VERDICT_SLOWER, 1.3);
    /* Two that run at once: what either learns stays. */
    struct pm_verdicts *one = kept_open(NULL), *other = kept_open(NULL);
    kept_put(one, &a);
    kept_put(other, &c);
    pm_verdicts_close(one);
    pm_verdicts_close(other);
    kept_assert(&a);
    kept_assert(&c);
    /* And a later verdict takes the earlier one's place. */
    const struct pm_kept_variant later = kept_variant('a', PM_VERDICT_UNDECIDED, 0.999);
    one = kept_open(NULL);
    kept_put(one, &later);
    pm_verdicts_close(one);
    kept_assert(&later);
    kept_assert(&c);
}

static void another_driver_has_none(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant kept;
    struct pm_verdicts *verdicts = kept_open(NULL);
    kept_put(verdicts, &a);
    struct pm_environment environments[5] = {kept_gpu, kept_gpu, kept_gpu, kept_gpu, kept_gpu};
    environments[0].subgroup_size++;
    environments[1].vendor_id++;
    environments[2].device_id++;
    environments[3].driver_id++;
    environments[4].driver_version++;
    for (int i = 0; i < 5; i++)
        assert_false(kept_find(verdicts, &a, &environments[i], &kept));
    assert_true(kept_find(verdicts, &a, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
    /* Nor has another version of the layer. */
    verdicts = pm_verdicts_open(journals_home, KEPT_GAME, "1.2.4", NULL);
    assert_non_null(verdicts);
    assert_false(kept_find(verdicts, &a, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
}

/* Into another journal, which PIECEMEAL_JOURNAL may name. */
static void another_journal_gets_a_copy(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant kept;
    struct pm_error error = {0};
    char first[128], second[128];
    snprintf(first, sizeof first, "%s/copy", journals_home);
    snprintf(second, sizeof second, "%s/second", journals_home);
    struct pm_verdicts *verdicts = kept_open(NULL);
    kept_put(verdicts, &a);
    pm_verdicts_close(verdicts);
    assert_true(pm_verdicts_copy(journals_home, first, "another", &error));
    assert_true(pm_verdicts_copy(first, second, NULL, &error)); /* there is none to copy */
    assert_true(pm_verdicts_copy(journals_home, first, NULL, &error));
    /* It is the one that is used then, and what it learns stays there. */
    setenv("PIECEMEAL_JOURNAL", first, 1);
    verdicts = pm_verdicts_open(NULL, KEPT_GAME, KEPT_LAYER, NULL);
    assert_true(kept_find(verdicts, &a, &kept_gpu, &kept));
    const struct pm_kept_variant b = kept_variant('b', PM_VERDICT_SLOWER, 1.2);
    kept_put(verdicts, &b);
    pm_verdicts_close(verdicts);
    assert_true(pm_verdicts_copy(NULL, second, "A%20Game", &error));
    unsetenv("PIECEMEAL_JOURNAL");
    verdicts = kept_open(NULL);
    assert_false(kept_find(verdicts, &b, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
    verdicts = pm_verdicts_open(second, KEPT_GAME, KEPT_LAYER, NULL);
    assert_true(kept_find(verdicts, &a, &kept_gpu, &kept));
    assert_true(kept_find(verdicts, &b, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
}

static void they_grow_old(void **unused)
{
    (void)unused;
    const struct {
        enum pm_verdict verdict;
        int days;
    } cases[] = {{PM_VERDICT_FASTER, PM_DAYS_FASTER},
                 {PM_VERDICT_SLOWER, PM_DAYS_SLOWER},
                 {PM_VERDICT_UNDECIDED, PM_DAYS_UNDECIDED}};
    for (int i = 0; i < 3; i++) {
        const struct pm_kept_variant kept = kept_variant('a', cases[i].verdict, 1);
        const int64_t old = KEPT_NOW + (int64_t)cases[i].days * KEPT_DAY;
        assert_int_equal(pm_kept_verdict(&kept, KEPT_NOW), cases[i].verdict);
        assert_int_equal(pm_kept_verdict(&kept, old - 1), cases[i].verdict);
        assert_int_equal(pm_kept_verdict(&kept, old), PM_VERDICT_NONE);
        /* A clock that was set back by an hour is no matter, by years it is. */
        assert_int_equal(pm_kept_verdict(&kept, KEPT_NOW - 3600), cases[i].verdict);
        assert_int_equal(pm_kept_verdict(&kept, KEPT_NOW - 400 * KEPT_DAY), PM_VERDICT_NONE);
    }
}

/* What a contest has seen goes on in the next session, until there is a verdict. */
static void what_contests_saw(void **unused)
{
    (void)unused;
    struct pm_kept_variant a = kept_variant('a', PM_VERDICT_NONE, 1), found;
    for (int i = 0; i < 24; i++)
        pm_anytime_add(&a.seen, i % 3 ? -0.1 : 0.5);
    a.seen_at = KEPT_NOW;
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_seen(verdicts, &a);
    kept_put(verdicts, &a);
    pm_verdicts_put_seen(verdicts, &a);
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = kept_open(NULL);
    assert_true(kept_find(verdicts, &a, &kept_gpu, &found));
    assert_true(found.seen.count == 24 && found.seen_at == KEPT_NOW);
    assert_true(fabs(found.seen.sum - a.seen.sum) < 1e-6);
    assert_true(fabs(found.seen.squares - a.seen.squares) < 1e-6);
    const struct pm_kept_variant decided = kept_variant('a', PM_VERDICT_SLOWER, 1.2);
    pm_verdicts_put(verdicts, &decided);
    assert_true(kept_find(verdicts, &a, &kept_gpu, &found));
    assert_true(found.seen.count == 0 && found.verdict == PM_VERDICT_SLOWER);
    pm_verdicts_close(verdicts);
}

/* How a variant is made is kept beside what was said of it, and either may come first. */
static void how_it_is_made(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8),
                                 c = kept_variant('c', PM_VERDICT_SLOWER, 1.3);
    struct pm_kept_variant made = a, found;
    made.verdict = PM_VERDICT_NONE;
    made.made.options = UINT64_C(0xfedcba9876543210);
    made.made.hash = (struct pm_words_hash){UINT64_MAX, 7};
    made.made.count = 1000;
    made.made.took = 1234567;
    made.made.by = PM_MADE_BY_ZEROS | PM_MADE_BY_BLOCKS;
    snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
    snprintf(made.made.recipe, sizeof made.made.recipe, "hoist+strength");
    made.made.pushed_count = 2;
    made.made.pushed[0].word = 63;
    made.made.pushed[0].value = UINT32_MAX;
    made.made.pushed[1].word = 1;
    struct pm_verdicts *verdicts = kept_open(NULL);
    assert_false(pm_verdicts_any_at_once(verdicts, &kept_gpu));
    pm_verdicts_put_made(verdicts, &made);
    assert_false(pm_verdicts_find_faster(verdicts, &a.original, &kept_gpu, made.made.options,
                                         KEPT_NOW, 1, &found));
    kept_put(verdicts, &a);
    kept_put(verdicts, &c);
    pm_verdicts_close(verdicts);
    kept_assert(&a);
    verdicts = kept_open(NULL);
    assert_true(pm_verdicts_any_at_once(verdicts, &kept_gpu));
    assert_true(pm_verdicts_find_faster(verdicts, &a.original, &kept_gpu, made.made.options,
                                        KEPT_NOW, 1, &found));
    assert_true(pm_shader_key_equal(&found.key, &a.key));
    assert_true(found.made.hash.high == UINT64_MAX && found.made.hash.low == 7);
    assert_true(found.made.count == 1000 && found.made.took == 1234567);
    assert_int_equal(found.made.by, PM_MADE_BY_ZEROS | PM_MADE_BY_BLOCKS);
    assert_string_equal(found.made.entry_point, "main");
    assert_string_equal(found.made.recipe, "hoist+strength");
    assert_int_equal(found.made.pushed_count, 2);
    assert_true(found.made.pushed[0].word == 63 && found.made.pushed[0].value == UINT32_MAX);
    assert_true(found.made.pushed[1].word == 1 && found.made.pushed[1].value == 0);
    /* Of what it may run with no digit may be another. */
    struct pm_kept_table table = {0};
    struct pm_buffer text;
    struct pm_error error = {0};
    pm_buffer_init(&text, 1 << 16);
    assert_true(pm_kept_put(&table, &found));
    assert_true(pm_kept_format(&table, KEPT_LAYER, &text));
    free(table.variants);
    char *lines = (char *)text.data;
    assert_true(pm_kept_parse(&table, KEPT_LAYER, lines, text.size, &error));
    free(table.variants);
    char *value = strstr(lines, " 3f ffffffff ");
    assert_non_null(value);
    memcpy(value, " 3f fffffffe ", 13);
    assert_false(pm_kept_parse(&table, KEPT_LAYER, lines, text.size, &error));
    pm_buffer_finish(&text);
    /* Not with other options, not when the verdict is old, nor when it is another one. */
    assert_false(pm_verdicts_find_faster(verdicts, &a.original, &kept_gpu, made.made.options + 1,
                                         KEPT_NOW, 1, &found));
    assert_false(pm_verdicts_find_faster(verdicts, &a.original, &kept_gpu, made.made.options,
                                         KEPT_NOW + 1000LL * KEPT_DAY, 1, &found));
    assert_false(pm_verdicts_find_faster(verdicts, &c.original, &kept_gpu, made.made.options,
                                         KEPT_NOW, 1, &found));
    pm_verdicts_close(verdicts);
}

/* Two that run at once learn of the same variant: neither takes back what the other one has saved.
 */
static void what_another_one_found_stays(void **unused)
{
    (void)unused;
    const struct pm_kept_variant faster = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant slower = kept_variant('a', PM_VERDICT_SLOWER, 1.3), made = faster, kept;
    made.verdict = PM_VERDICT_NONE;
    made.made.count = 10;
    snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
    kept = kept_try(PM_VERDICT_FASTER, 0.8);
    struct pm_verdicts *one = kept_open(NULL), *other = kept_open(NULL);
    slower.decided_at++;
    kept_put_trial(other, &slower);
    /* Whether the one has made it, */
    pm_verdicts_put_made(one, &made);
    assert_true(pm_verdicts_save(one, NULL));
    kept_assert(&slower);
    /* seen it, */
    pm_verdicts_put_seen(one, &made);
    pm_verdicts_want_sessions(one, &made.key, &made.original, &kept_gpu, true);
    assert_true(pm_verdicts_save(one, NULL));
    kept_assert(&slower);
    /* or said of it, but earlier, that it is faster. */
    kept_put_trial(one, &faster);
    kept_assert(&slower);
    pm_verdicts_close(one);
    pm_verdicts_close(other);
    /* What the one has learned is there as well. */
    one = kept_open(NULL);
    assert_true(kept_find(one, &made, &kept_gpu, &kept));
    assert_true(kept.made.count == 10 && kept.sessions.wanted);
    pm_verdicts_close(one);
}

/* Killed right after it was saved. */
static void a_killed_session_keeps_them(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kept_put(kept_open(NULL), &a);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    kept_assert(&a);
}

static void a_forked_child_saves_nothing(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant kept;
    struct pm_verdicts *verdicts = kept_open(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kept_put(verdicts, &a);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pm_verdicts_close(verdicts);
    verdicts = kept_open(NULL);
    assert_false(kept_find(verdicts, &a, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
}

/* Those that two sessions are sure of are summed up; where there is not enough time for all, it is
 * for those that gain the most in it. */
static void the_best_first(void **unused)
{
    (void)unused;
    const uint8_t names[] = {'a', 'b', 'c', 'd', 'e'};
    const double ratios[] = {0.5, 0.9, 0.8, 0.5, 0.4};
    const uint64_t took[] = {2000, 8000, 3000, 90000, 70000};
    struct pm_kept_variant kept[5];
    struct pm_verdicts *verdicts = kept_open(NULL);
    for (int i = 0; i < 5; i++) {
        kept[i] = kept_variant(names[i], PM_VERDICT_FASTER, ratios[i]);
        kept[i].tried.count = i == 3 ? 1 : 2;
        kept[i].tried.ratios[0] = (uint32_t)(ratios[i] * 1e6);
        kept[i].tried.ratios[1] = (uint32_t)(ratios[i] * 1e6) + 1000;
        kept[i].made.count = 10;
        kept[i].made.took = took[i];
        kept[i].made.by = PM_MADE_BY_RECIPE | (i == 4 ? (uint32_t)PM_MADE_OVER : 0);
        snprintf(kept[i].made.entry_point, sizeof kept[i].made.entry_point, "main");
        pm_verdicts_put_made(verdicts, &kept[i]);
        kept_put(verdicts, &kept[i]);
    }
    const struct pm_at_once_sum all = pm_verdicts_sum_at_once(verdicts, &kept_gpu, KEPT_NOW, 2);
    assert_true(all.took > 12999 && all.took < 13001); /* and not what one session
                                                          found, nor what is over another */
    assert_true(all.gain > 0.799 && all.gain < 0.801);
    for (int i = 0; i < 3; i++)
        assert_true(pm_kept_is_worth(&kept[i], &all, 13001));
    assert_true(pm_kept_is_worth(&kept[0], &all, 10000));
    assert_false(pm_kept_is_worth(&kept[1], &all, 10000));
    assert_true(pm_kept_is_worth(&kept[2], &all, 10000));
    pm_verdicts_close(verdicts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(sessions_share_what_is_kept),
        JOURNALS_TEST(another_driver_has_none),
        JOURNALS_TEST(another_journal_gets_a_copy),
        JOURNALS_TEST(they_grow_old),
        JOURNALS_TEST(what_contests_saw),
        JOURNALS_TEST(how_it_is_made),
        JOURNALS_TEST(what_another_one_found_stays),
        JOURNALS_TEST(a_killed_session_keeps_them),
        JOURNALS_TEST(a_forked_child_saves_nothing),
        JOURNALS_TEST(the_best_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
