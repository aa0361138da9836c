/* Sessions that had either side throughout make pairs (profile/verdicts_pairs.c). */
#include "profile/verdicts.h"
#include "tests/profile/journals.h"
#include "tests/profile/kept.h"

#include "tests/cmocka_includes.h"
#include <stdio.h>

/* Sessions that had either side make a pair, whichever came first. */
static void sessions_make_pairs(void **unused)
{
    (void)unused;
    struct pm_kept_variant made = kept_variant('a', PM_VERDICT_NONE, 1), found;
    made.made.count = 10;
    snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
    struct pm_session_half half = {
        .there = true, .at = KEPT_NOW, .nanoseconds = {1000, 0, 400}, .work = {3, 5, 7}};
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_made(verdicts, &made);
    assert_false(
        pm_verdicts_find_session(verdicts, &made.original, &kept_gpu, 0, KEPT_NOW, &found));
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
    assert_true(pm_verdicts_any_at_once(verdicts, &kept_gpu));
    assert_true(pm_verdicts_find_session(verdicts, &made.original, &kept_gpu, 0, KEPT_NOW, &found));
    for (int i = 0; i < 2; i++) {
        half.variant = i == 1;
        half.nanoseconds[0] = i == 1 ? 800 : 1000;
        half.nanoseconds[2] = i == 1 ? 320 : 400;
        assert_int_equal(kept_add_half(verdicts, &made, &half, &found), i == 1);
        assert_true(pm_verdicts_save(verdicts, NULL));
        pm_verdicts_close(verdicts);
        verdicts = kept_open(NULL);
    }
    /* The variant first, and what only one of them timed left out. */
    half.nanoseconds[1] = 123456;
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    /* The same side again takes its place. */
    half.nanoseconds[0] = 900;
    half.nanoseconds[2] = 0;
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    half =
        (struct pm_session_half){.there = true, .at = KEPT_NOW, .nanoseconds = {1000}, .work = {3}};
    assert_true(kept_add_half(verdicts, &made, &half, &found));
    assert_int_equal(found.sessions.count, 2);
    assert_int_equal(found.sessions.ratios[0], 800000);
    assert_int_equal(found.sessions.ratios[1], 900000);
    assert_false(found.sessions.half.there);
    /* What had other work is no partner; a use of the same is. */
    half.variant = false;
    half.work[0] = 0xfedcba9876543211;
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = kept_open(NULL);
    half.variant = true;
    half.work[0]++;
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    half.variant = false;
    assert_true(kept_add_half(verdicts, &made, &half, &found));
    assert_int_equal(found.sessions.count, 3);
    half.work[0] = 0;
    /* One that waited for too long is no partner, nor is one that timed other things. */
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    half.variant = true;
    half.at = KEPT_NOW + PM_DAYS_HALF * KEPT_DAY;
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    half = (struct pm_session_half){
        .there = true, .at = half.at, .nanoseconds = {0, 1000}, .work = {0, 5}};
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    /* With a verdict it is over. */
    struct pm_kept_variant decided = kept_variant('a', PM_VERDICT_SLOWER, 1.1);
    decided.kind = PM_TIMED_SESSIONS;
    kept_put(verdicts, &decided);
    assert_false(
        pm_verdicts_find_session(verdicts, &made.original, &kept_gpu, 0, KEPT_NOW, &found));
    assert_true(pm_verdicts_find_session(verdicts, &made.original, &kept_gpu, 0,
                                         KEPT_NOW + PM_DAYS_SLOWER * KEPT_DAY, &found));
    assert_int_equal(found.sessions.count, 0);
    /* What can be timed in turn is not tried so again, nor is what they can time nothing of. */
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, false);
    assert_true(kept_find(verdicts, &made, &kept_gpu, &found));
    assert_false(found.sessions.wanted);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
    decided.kind = PM_TIMED_CALLS;
    kept_put(verdicts, &decided);
    assert_true(kept_find(verdicts, &made, &kept_gpu, &found));
    assert_false(found.sessions.wanted);
    pm_verdicts_close(verdicts);
}

/* Of uses of the same size nobody knows which is which. */
static void sessions_compare_uses_as_a_whole(void **unused)
{
    (void)unused;
    static const struct {
        struct pm_session_half original, variant;
        uint32_t ratio; /* in millionths; 0: they are no pair */
    } cases[] = {
        {{.nanoseconds = {100, 400, 1600}}, {.nanoseconds = {1280, 80, 320}}, 800000},
        /* One was never there, or could not be timed. */
        {{.nanoseconds = {100, 400, 1600}}, {.nanoseconds = {1280, 80}}, 0},
        {{.nanoseconds = {100, 400}, .work = {9, 9, 9}},
         {.nanoseconds = {1280, 320}, .work = {9, 9, 9}},
         0},
        {{.nanoseconds = {100, 400}, .work = {9, 9}},
         {.nanoseconds = {320, 80}, .work = {9, 9, 7}},
         800000},
        /* Others are compared. */
        {{.nanoseconds = {500, 400}, .work = {7, 9}},
         {.nanoseconds = {320, 80, 450}, .work = {9, 9, 7}},
         900000},
        /* What takes long weighs as much as it takes. */
        {{.nanoseconds = {100, 8000}, .work = {3, 5}},
         {.nanoseconds = {100, 12000}, .work = {3, 5}},
         1493827},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_kept_variant made = kept_variant('a', PM_VERDICT_NONE, 1), found;
        struct pm_session_half original = cases[i].original, other = cases[i].variant;
        original.there = other.there = other.variant = true;
        original.at = other.at = KEPT_NOW;
        struct pm_verdicts *verdicts = kept_open(NULL);
        made.made.count = 10;
        snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
        made.key.bytes[1] = (uint8_t)i;
        pm_verdicts_put_made(verdicts, &made);
        pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
        assert_false(kept_add_half(verdicts, &made, &original, &found));
        assert_int_equal(kept_add_half(verdicts, &made, &other, &found), cases[i].ratio != 0);
        if (cases[i].ratio != 0)
            assert_int_equal(found.sessions.ratios[0], cases[i].ratio);
        pm_verdicts_close(verdicts);
    }
}

/* How many sessions had nothing of one size is kept, until two have. */
static void sessions_that_are_unlike_are_counted(void **unused)
{
    (void)unused;
    const struct pm_kept_variant made = kept_variant('e', PM_VERDICT_NONE, 1);
    struct pm_kept_variant kept;
    struct pm_session_half half = {.there = true, .at = KEPT_NOW, .nanoseconds = {1000}};
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_made(verdicts, &made);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
    for (uint32_t i = 0; i < 4; i++) {
        half.variant = i % 2 != 0;
        half.work[0] = 100 + i;
        assert_false(kept_add_half(verdicts, &made, &half, &kept));
        assert_int_equal(kept.sessions.half.unlike, i);
        assert_true(pm_verdicts_save(verdicts, NULL));
        pm_verdicts_close(verdicts);
        verdicts = kept_open(NULL);
    }
    half.variant = false;
    assert_true(kept_add_half(verdicts, &made, &half, &kept));
    assert_int_equal(kept.sessions.half.unlike, 0);
    pm_verdicts_close(verdicts);
}

/* What two originals become that are made for different values: the same module. */
static void two_originals_share_nothing(void **unused)
{
    (void)unused;
    struct pm_kept_variant one = kept_variant('a', PM_VERDICT_NONE, 1), other = one, found;
    one.made.count = other.made.count = 10;
    snprintf(one.made.entry_point, sizeof one.made.entry_point, "main");
    snprintf(other.made.entry_point, sizeof other.made.entry_point, "main");
    one.made.pushed_count = other.made.pushed_count = 1;
    one.made.pushed[0].value = 1;
    other.original = journals_key('x');
    other.made.pushed[0].word = 3;
    other.made.pushed[0].value = 9;
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_made(verdicts, &one);
    pm_verdicts_put_made(verdicts, &other);
    const struct pm_kept_variant faster = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    kept_put(verdicts, &faster);
    pm_verdicts_close(verdicts);
    verdicts = kept_open(NULL);
    /* The verdict is the one's, and it runs with its own values alone. */
    assert_true(
        pm_verdicts_find_faster(verdicts, &one.original, &kept_gpu, 0, KEPT_NOW, 1, &found));
    assert_int_equal(found.made.pushed[0].word, 0);
    assert_int_equal(found.made.pushed[0].value, 1);
    assert_false(
        pm_verdicts_find_faster(verdicts, &other.original, &kept_gpu, 0, KEPT_NOW, 1, &found));
    assert_true(kept_find(verdicts, &other, &kept_gpu, &found));
    assert_int_equal(found.verdict, PM_VERDICT_NONE);
    assert_int_equal(found.made.pushed[0].word, 3);
    /* What a contest saw, and sessions, too. */
    struct pm_kept_variant seen = other;
    seen.seen = (struct pm_anytime){.count = 3, .sum = 0.3, .squares = 0.1};
    seen.seen_at = KEPT_NOW;
    pm_verdicts_put_seen(verdicts, &seen);
    assert_true(kept_find(verdicts, &one, &kept_gpu, &found));
    assert_true(found.seen.count == 0 && found.verdict == PM_VERDICT_FASTER);
    assert_true(kept_find(verdicts, &other, &kept_gpu, &found));
    assert_true(found.seen.count == 3 && found.made.pushed[0].value == 9);
    struct pm_session_half half = {.there = true, .at = KEPT_NOW, .nanoseconds = {1000}};
    pm_verdicts_want_sessions(verdicts, &other.key, &other.original, &kept_gpu, true);
    assert_true(kept_find(verdicts, &one, &kept_gpu, &found));
    assert_false(found.sessions.wanted);
    assert_false(kept_add_half(verdicts, &one, &half, &found));
    half.variant = true;
    assert_false(kept_add_half(verdicts, &other, &half, &found));
    half.variant = false;
    assert_true(kept_add_half(verdicts, &other, &half, &found));
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = kept_open(NULL);
    assert_true(kept_find(verdicts, &one, &kept_gpu, &found));
    assert_true(found.sessions.count == 0 && found.verdict == PM_VERDICT_FASTER);
    assert_true(kept_find(verdicts, &other, &kept_gpu, &found));
    assert_int_equal(found.sessions.count, 1);
    pm_verdicts_close(verdicts);
}

static void the_latest_original_is_kept(void **unused)
{
    (void)unused;
    struct pm_kept_variant made = kept_variant('f', PM_VERDICT_NONE, 1), found;
    struct pm_session_half half = {
        .there = true, .at = KEPT_NOW, .share = 500000, .nanoseconds = {1000}, .work = {9}};
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_made(verdicts, &made);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
    /* It is of no pair. */
    pm_verdicts_look(verdicts, &made.key, &made.original, &kept_gpu, &half);
    half.variant = true;
    half.nanoseconds[0] = 1300;
    assert_false(kept_add_half(verdicts, &made, &half, &found));
    assert_true(pm_session_ratio(&half, &found.sessions.own) > 1.299);
    half.variant = false;
    half.nanoseconds[0] = 1100;
    assert_true(kept_add_half(verdicts, &made, &half, &found));
    assert_int_equal(found.sessions.own.nanoseconds[0], 1100);
    /* A verdict over sessions leaves it. */
    struct pm_kept_variant decided = kept_variant('f', PM_VERDICT_FASTER, 0.9);
    decided.kind = PM_TIMED_SESSIONS;
    kept_put(verdicts, &decided);
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = kept_open(NULL);
    assert_true(kept_find(verdicts, &made, &kept_gpu, &found));
    assert_true(found.sessions.own.there && !found.sessions.half.there);
    assert_int_equal(found.sessions.own.share, 500000);
    assert_int_equal(found.sessions.own.nanoseconds[0], 1100);
    assert_int_equal(found.sessions.own.work[0], 9);
    pm_verdicts_close(verdicts);
}

/* What sessions took is summed up over them, until there is a verdict. */
static void what_sessions_take_is_kept(void **unused)
{
    (void)unused;
    static const int64_t charges[] = {5000000000, -7000000000, 3000000000, 4000000000};
    const struct pm_kept_variant made = kept_variant('g', PM_VERDICT_NONE, 1);
    struct pm_kept_variant found, decided = kept_variant('g', PM_VERDICT_UNDECIDED, 1);
    for (size_t i = 0; i < sizeof charges / sizeof *charges; i++) {
        struct pm_verdicts *verdicts = kept_open(NULL);
        if (i == 0) {
            pm_verdicts_put_made(verdicts, &made);
            pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
        }
        pm_verdicts_charge(verdicts, &made.key, &made.original, &kept_gpu, charges[i], KEPT_NOW);
        assert_true(pm_verdicts_save(verdicts, NULL));
        pm_verdicts_close(verdicts);
    }
    struct pm_verdicts *verdicts = kept_open(NULL);
    assert_true(kept_find(verdicts, &made, &kept_gpu, &found));
    assert_true(found.sessions.charged == 7000000000);
    decided.kind = PM_TIMED_SESSIONS;
    kept_put(verdicts, &decided);
    pm_verdicts_charge(verdicts, &made.key, &made.original, &kept_gpu, charges[0], KEPT_NOW);
    assert_true(kept_find(verdicts, &made, &kept_gpu, &found));
    assert_true(found.sessions.wanted && found.sessions.charged == 0);
    pm_verdicts_close(verdicts);
}

/* A session that keeps what it takes as it goes on leaves alone what another process has timed
 * meanwhile. */
static void what_sessions_take_is_apart(void **unused)
{
    (void)unused;
    const struct pm_kept_variant made = kept_variant('i', PM_VERDICT_NONE, 1);
    const struct pm_session_half half = {.there = true, .at = KEPT_NOW, .nanoseconds = {1000}};
    struct pm_kept_variant found;
    struct pm_verdicts *ours = kept_open(NULL);
    pm_verdicts_put_made(ours, &made);
    pm_verdicts_want_sessions(ours, &made.key, &made.original, &kept_gpu, true);
    assert_true(pm_verdicts_save(ours, NULL));
    struct pm_verdicts *other = kept_open(NULL);
    assert_false(kept_add_half(other, &made, &half, &found));
    assert_true(pm_verdicts_save(other, NULL));
    pm_verdicts_close(other);
    pm_verdicts_charge(ours, &made.key, &made.original, &kept_gpu, 5, KEPT_NOW);
    assert_true(pm_verdicts_save(ours, NULL));
    pm_verdicts_close(ours);
    ours = kept_open(NULL);
    assert_true(kept_find(ours, &made, &kept_gpu, &found));
    assert_true(found.sessions.half.there && found.sessions.charged == 5);
    pm_verdicts_close(ours);
}

/* Whoever is there in a session is not the one that was used longest ago. */
static void who_is_there_is_used(void **unused)
{
    (void)unused;
    const struct pm_kept_variant made = kept_variant('h', PM_VERDICT_NONE, 1);
    struct pm_kept_variant found;
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_use(verdicts, &made.key, &made.original, &kept_gpu, KEPT_NOW);
    assert_false(kept_find(verdicts, &made, &kept_gpu, &found));
    pm_verdicts_put_made(verdicts, &made);
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    for (int day = 1; day >= 0; day--) {
        verdicts = kept_open(NULL);
        pm_verdicts_use(verdicts, &made.key, &made.original, &kept_gpu,
                        made.used_at + day * KEPT_DAY);
        assert_true(pm_verdicts_save(verdicts, NULL));
        pm_verdicts_close(verdicts);
        verdicts = kept_open(NULL);
        assert_true(kept_find(verdicts, &made, &kept_gpu, &found));
        assert_int_equal(found.used_at, made.used_at + KEPT_DAY);
        pm_verdicts_close(verdicts);
    }
}

/* A variant that takes next to nothing is no damage. */
static void tiny_ratios_are_kept(void **unused)
{
    (void)unused;
    const struct pm_kept_variant made = kept_variant('c', PM_VERDICT_NONE, 1);
    struct pm_kept_variant kept;
    struct pm_session_half half = {.there = true, .at = KEPT_NOW, .nanoseconds = {10000000}};
    struct pm_verdicts *verdicts = kept_open(NULL);
    pm_verdicts_put_made(verdicts, &made);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &kept_gpu, true);
    assert_false(kept_add_half(verdicts, &made, &half, &kept));
    half.variant = true;
    half.nanoseconds[0] = 1;
    assert_true(kept_add_half(verdicts, &made, &half, &kept));
    assert_int_equal(kept.sessions.ratios[0], 1);
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    kept = kept_try(PM_VERDICT_FASTER, 4e-7);
    assert_int_equal(kept.tried.ratios[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(sessions_make_pairs),
        JOURNALS_TEST(sessions_compare_uses_as_a_whole),
        JOURNALS_TEST(sessions_that_are_unlike_are_counted),
        JOURNALS_TEST(the_latest_original_is_kept),
        JOURNALS_TEST(what_sessions_take_is_kept),
        JOURNALS_TEST(two_originals_share_nothing),
        JOURNALS_TEST(what_sessions_take_is_apart),
        JOURNALS_TEST(who_is_there_is_used),
        JOURNALS_TEST(tiny_ratios_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
