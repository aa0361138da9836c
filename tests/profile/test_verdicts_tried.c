/* What the trials of several sessions found of a variant, and whether they agree
 * (profile/verdicts_tried.c). */
#include "profile/verdicts.h"
#include "tests/profile/journals.h"
#include "tests/profile/kept.h"

#include "tests/cmocka_includes.h"
#include <stdio.h>

/* One session may have been lucky. */
static void several_sessions_must_agree(void **unused)
{
    (void)unused;
    struct pm_kept_variant kept = kept_try(PM_VERDICT_FASTER, 0.8);
    assert_int_equal(kept.verdict, PM_VERDICT_FASTER);
    assert_true(pm_kept_is_sure(&kept, 1));
    assert_false(pm_kept_is_sure(&kept, 2));
    kept = kept_try(PM_VERDICT_FASTER, 0.79);
    assert_true(pm_kept_is_sure(&kept, 2));
    assert_false(pm_kept_is_sure(&kept, 3));
    /* Now they do not agree, though it is faster on average; and then they do. */
    kept = kept_try(PM_VERDICT_UNDECIDED, 1.0);
    assert_int_equal(kept.verdict, PM_VERDICT_FASTER);
    assert_true(pm_kept_is_sure(&kept, 1));
    assert_false(pm_kept_is_sure(&kept, 2));
    for (int i = 0; i < 2; i++)
        kept = kept_try(PM_VERDICT_FASTER, 0.8);
    assert_true(pm_kept_is_sure(&kept, 5));
    /* A slower one is slower, and what was found before is forgotten. */
    kept = kept_try(PM_VERDICT_SLOWER, 1.1);
    assert_int_equal(kept.verdict, PM_VERDICT_SLOWER);
    assert_int_equal(kept.tried.count, 0);
    kept = kept_try(PM_VERDICT_FASTER, 0.8);
    assert_false(pm_kept_is_sure(&kept, 2));
}

static void those_that_never_agree_end(void **unused)
{
    (void)unused;
    struct pm_kept_variant kept;
    for (int i = 0; i < PM_SESSIONS_TRIED; i++) {
        kept =
            kept_try(i % 2 == 0 ? PM_VERDICT_FASTER : PM_VERDICT_UNDECIDED, i % 2 == 0 ? 0.8 : 1.1);
        assert_int_equal(kept.verdict,
                         i + 1 < PM_SESSIONS_TRIED ? PM_VERDICT_FASTER : PM_VERDICT_UNDECIDED);
        assert_int_equal(kept.tried.count, i + 1);
    }
    /* Nor is what is no faster on average. */
    kept = kept_try(PM_VERDICT_SLOWER, 1.2);
    kept = kept_try(PM_VERDICT_FASTER, 0.9);
    kept = kept_try(PM_VERDICT_UNDECIDED, 1.2);
    assert_int_equal(kept.verdict, PM_VERDICT_UNDECIDED);
}

/* However often a session tries it again; and of what else was timed, or long ago, nothing counts.
 */
static void a_session_counts_once(void **unused)
{
    (void)unused;
    const struct pm_kept_variant first = kept_variant('a', PM_VERDICT_FASTER, 0.8),
                                 again = kept_variant('a', PM_VERDICT_FASTER, 0.7);
    struct pm_kept_variant kept, other = first;
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_trial(verdicts, &first);
    pm_verdicts_put_trial(verdicts, &again);
    assert_true(kept_find(verdicts, &first, &kept_gpu, &kept));
    assert_int_equal(kept.tried.count, 1);
    assert_int_equal(kept.tried.ratios[0], 700000);
    pm_verdicts_close(verdicts);
    kept = kept_try(PM_VERDICT_FASTER, 0.8);
    kept = kept_try(PM_VERDICT_FASTER, 0.8);
    assert_int_equal(kept.tried.count, 2);
    verdicts = kept_open(NULL);
    other.kind = PM_TIMED_CALLS;
    pm_verdicts_put_trial(verdicts, &other);
    assert_true(kept_find(verdicts, &first, &kept_gpu, &kept));
    assert_int_equal(kept.tried.count, 1);
    other.decided_at = KEPT_NOW + (PM_DAYS_FASTER + 1) * (int64_t)KEPT_DAY;
    pm_verdicts_put_trial(verdicts, &other);
    assert_true(kept_find(verdicts, &first, &kept_gpu, &kept));
    assert_int_equal(kept.tried.count, 1);
    /* A trial over sessions has asked them. */
    other.kind = PM_TIMED_SESSIONS;
    other.tried.count = 0;
    assert_true(pm_kept_is_sure(&other, 8));
    pm_verdicts_close(verdicts);
}

/* Sessions that overlap agree, too. */
static void trials_at_once_both_count(void **unused)
{
    (void)unused;
    const struct pm_kept_variant found[] = {kept_variant('a', PM_VERDICT_FASTER, 0.8),
                                            kept_variant('a', PM_VERDICT_FASTER, 0.79)};
    struct pm_verdicts *both[2] = {kept_open(NULL), kept_open(NULL)};
    struct pm_kept_variant kept;
    for (int i = 0; i < 2; i++)
        kept_put_trial(both[i], &found[i]);
    /* Once each, however often it is saved. */
    kept_put_trial(both[1], &found[1]);
    for (int i = 0; i < 2; i++)
        pm_verdicts_close(both[i]);
    struct pm_verdicts *verdicts = kept_open(NULL);
    assert_true(kept_find(verdicts, &found[0], &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
    assert_int_equal(kept.tried.count, 2);
    assert_true(kept.tried.ratios[0] == 800000 && kept.tried.ratios[1] == 790000);
    assert_true(pm_kept_is_sure(&kept, 2));
}

/* Whichever of them is saved first. */
static void the_earlier_trial_counts_if_saved_later(void **unused)
{
    (void)unused;
    struct pm_kept_variant earlier = kept_variant('a', PM_VERDICT_FASTER, 0.8), later = earlier,
                           kept;
    later.ratio = 0.79;
    later.decided_at++;
    struct pm_verdicts *both[2] = {kept_open(NULL), kept_open(NULL)};
    kept_put_trial(both[0], &later);
    kept_put_trial(both[1], &earlier);
    for (int i = 0; i < 2; i++)
        pm_verdicts_close(both[i]);
    struct pm_verdicts *verdicts = kept_open(NULL);
    assert_true(kept_find(verdicts, &earlier, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
    assert_true(kept.decided_at == later.decided_at);
    assert_int_equal(kept.tried.count, 2);
    assert_true(kept.tried.ratios[0] == 800000 && kept.tried.ratios[1] == 790000);
}

/* What has proven itself is used while a newer one has yet to. */
static void a_sure_one_comes_before_a_newer_one(void **unused)
{
    (void)unused;
    struct pm_kept_variant sure = kept_variant('a', PM_VERDICT_FASTER, 0.8), newer = sure, found;
    newer.key = journals_key('n');
    newer.decided_at++;
    for (int i = 0; i < 2; i++)
        (void)kept_try(PM_VERDICT_FASTER, 0.8);
    sure.made.count = newer.made.count = 10;
    snprintf(sure.made.entry_point, sizeof sure.made.entry_point, "main");
    snprintf(newer.made.entry_point, sizeof newer.made.entry_point, "main");
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_made(verdicts, &sure);
    pm_verdicts_put_made(verdicts, &newer);
    kept_put_trial(verdicts, &newer);
    for (uint32_t least = 1; least < 4; least++) {
        assert_true(pm_verdicts_find_faster(verdicts, &sure.original, &kept_gpu, 0, KEPT_NOW, least,
                                            &found));
        assert_true(pm_shader_key_equal(&found.key, least == 2 ? &sure.key : &newer.key));
    }
    pm_verdicts_close(verdicts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(several_sessions_must_agree),
        JOURNALS_TEST(those_that_never_agree_end),
        JOURNALS_TEST(a_session_counts_once),
        JOURNALS_TEST(trials_at_once_both_count),
        JOURNALS_TEST(the_earlier_trial_counts_if_saved_later),
        JOURNALS_TEST(a_sure_one_comes_before_a_newer_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
