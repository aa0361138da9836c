/* What is kept of trials from session to session (profile/verdicts.h). */
#include "profile/verdicts.h"
#include "tests/profile/journals.h"

#include "base/file.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GAME "A Game"
#define LAYER "1.2.3"
enum { NOW = 1700000000, DAY = 24 * 60 * 60 };

static const struct pm_environment gpu = {32, 0x10de, 0x2684, 4, 0x80000001};

static struct pm_verdicts *open_it(struct pm_error *damaged)
{
    struct pm_verdicts *verdicts = pm_verdicts_open(journals_home, GAME, LAYER, damaged);
    assert_non_null(verdicts);
    return verdicts;
}

static struct pm_kept_variant variant(uint8_t name, enum pm_verdict verdict, double ratio)
{
    return (struct pm_kept_variant){
        .key = journals_key(name),
        .original = journals_key((uint8_t)(name + 1)),
        .environment = gpu,
        .used_at = NOW,
        .verdict = verdict,
        .kind = PM_TIMED_PASSES,
        .ratio = ratio,
        .low = ratio * 0.9,
        .high = ratio * 1.1,
        .pairs = 64,
        .decided_at = NOW,
    };
}

static void keep(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    struct pm_error error = {0};
    pm_verdicts_put(verdicts, kept);
    if (!pm_verdicts_save(verdicts, &error))
        fail_msg("%s", error.message);
}

static void keep_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    pm_verdicts_put_trial(verdicts, kept);
    assert_true(pm_verdicts_save(verdicts, NULL));
}

static bool find(struct pm_verdicts *verdicts, const struct pm_kept_variant *named,
                 const struct pm_environment *environment, struct pm_kept_variant *found)
{
    return pm_verdicts_find(verdicts, &named->key, &named->original, environment, found);
}

static bool add_half(struct pm_verdicts *verdicts, const struct pm_kept_variant *named,
                     const struct pm_session_half *half, struct pm_kept_variant *found)
{
    return pm_verdicts_add_half(verdicts, &named->key, &named->original, &named->environment, half,
                                found);
}

static void assert_kept(const struct pm_kept_variant *expected)
{
    struct pm_error damaged = {0};
    struct pm_kept_variant kept;
    struct pm_verdicts *verdicts = open_it(&damaged);
    assert_int_equal(damaged.code, PM_OK);
    assert_true(find(verdicts, expected, &expected->environment, &kept));
    pm_verdicts_close(verdicts);
    assert_true(pm_shader_key_equal(&kept.original, &expected->original));
    assert_int_equal(kept.verdict, expected->verdict);
    assert_int_equal(kept.kind, expected->kind);
    assert_int_equal(kept.pairs, expected->pairs);
    assert_true(kept.decided_at == expected->decided_at && kept.used_at == expected->used_at);
    assert_float_equal(kept.ratio, expected->ratio, 1e-6);
    assert_float_equal(kept.low, expected->low, 1e-6);
    assert_float_equal(kept.high, expected->high, 1e-6);
}

static void path_of(char *path, size_t size)
{
    snprintf(path, size, "%s/A%%20Game/verdicts", journals_home);
}

static void sessions_share_what_is_kept(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8),
                                 c = variant('c', PM_VERDICT_SLOWER, 1.3);
    /* Two that run at once: what either learns stays. */
    struct pm_verdicts *one = open_it(NULL), *other = open_it(NULL);
    keep(one, &a);
    keep(other, &c);
    pm_verdicts_close(one);
    pm_verdicts_close(other);
    assert_kept(&a);
    assert_kept(&c);
    /* And a later verdict takes the earlier one's place. */
    const struct pm_kept_variant later = variant('a', PM_VERDICT_UNDECIDED, 0.999);
    one = open_it(NULL);
    keep(one, &later);
    pm_verdicts_close(one);
    assert_kept(&later);
    assert_kept(&c);
}

static void another_driver_has_none(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant kept;
    struct pm_verdicts *verdicts = open_it(NULL);
    keep(verdicts, &a);
    struct pm_environment environments[5] = {gpu, gpu, gpu, gpu, gpu};
    environments[0].subgroup_size++;
    environments[1].vendor_id++;
    environments[2].device_id++;
    environments[3].driver_id++;
    environments[4].driver_version++;
    for (int i = 0; i < 5; i++)
        assert_false(find(verdicts, &a, &environments[i], &kept));
    assert_true(find(verdicts, &a, &gpu, &kept));
    pm_verdicts_close(verdicts);
    /* Nor has another version of the layer. */
    verdicts = pm_verdicts_open(journals_home, GAME, "1.2.4", NULL);
    assert_non_null(verdicts);
    assert_false(find(verdicts, &a, &gpu, &kept));
    pm_verdicts_close(verdicts);
}

/* Into another journal, which PIECEMEAL_JOURNAL may name. */
static void another_journal_gets_a_copy(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant kept;
    struct pm_error error = {0};
    char first[128], second[128];
    snprintf(first, sizeof first, "%s/copy", journals_home);
    snprintf(second, sizeof second, "%s/second", journals_home);
    struct pm_verdicts *verdicts = open_it(NULL);
    keep(verdicts, &a);
    pm_verdicts_close(verdicts);
    assert_true(pm_verdicts_copy(journals_home, first, "another", &error));
    assert_true(pm_verdicts_copy(first, second, NULL, &error)); /* there is none to copy */
    assert_true(pm_verdicts_copy(journals_home, first, NULL, &error));
    /* It is the one that is used then, and what it learns stays there. */
    setenv("PIECEMEAL_JOURNAL", first, 1);
    verdicts = pm_verdicts_open(NULL, GAME, LAYER, NULL);
    assert_true(find(verdicts, &a, &gpu, &kept));
    const struct pm_kept_variant b = variant('b', PM_VERDICT_SLOWER, 1.2);
    keep(verdicts, &b);
    pm_verdicts_close(verdicts);
    assert_true(pm_verdicts_copy(NULL, second, "A%20Game", &error));
    unsetenv("PIECEMEAL_JOURNAL");
    verdicts = open_it(NULL);
    assert_false(find(verdicts, &b, &gpu, &kept));
    pm_verdicts_close(verdicts);
    verdicts = pm_verdicts_open(second, GAME, LAYER, NULL);
    assert_true(find(verdicts, &a, &gpu, &kept));
    assert_true(find(verdicts, &b, &gpu, &kept));
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
        const struct pm_kept_variant kept = variant('a', cases[i].verdict, 1);
        const int64_t old = NOW + (int64_t)cases[i].days * DAY;
        assert_int_equal(pm_kept_verdict(&kept, NOW), cases[i].verdict);
        assert_int_equal(pm_kept_verdict(&kept, old - 1), cases[i].verdict);
        assert_int_equal(pm_kept_verdict(&kept, old), PM_VERDICT_NONE);
        /* A clock that was set back by an hour is no matter, by years it is. */
        assert_int_equal(pm_kept_verdict(&kept, NOW - 3600), cases[i].verdict);
        assert_int_equal(pm_kept_verdict(&kept, NOW - 400 * DAY), PM_VERDICT_NONE);
    }
}

/* What a contest has seen goes on in the next session, until there is a verdict. */
static void what_contests_saw(void **unused)
{
    (void)unused;
    struct pm_kept_variant a = variant('a', PM_VERDICT_NONE, 1), found;
    for (int i = 0; i < 24; i++)
        pm_anytime_add(&a.seen, i % 3 ? -0.1 : 0.5);
    a.seen_at = NOW;
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_seen(verdicts, &a);
    keep(verdicts, &a);
    pm_verdicts_put_seen(verdicts, &a);
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = open_it(NULL);
    assert_true(find(verdicts, &a, &gpu, &found));
    assert_true(found.seen.count == 24 && found.seen_at == NOW);
    assert_true(fabs(found.seen.sum - a.seen.sum) < 1e-6);
    assert_true(fabs(found.seen.squares - a.seen.squares) < 1e-6);
    const struct pm_kept_variant decided = variant('a', PM_VERDICT_SLOWER, 1.2);
    pm_verdicts_put(verdicts, &decided);
    assert_true(find(verdicts, &a, &gpu, &found));
    assert_true(found.seen.count == 0 && found.verdict == PM_VERDICT_SLOWER);
    pm_verdicts_close(verdicts);
}

/* How a variant is made is kept beside what was said of it, and either may come first. */
static void how_it_is_made(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8),
                                 c = variant('c', PM_VERDICT_SLOWER, 1.3);
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
    struct pm_verdicts *verdicts = open_it(NULL);
    assert_false(pm_verdicts_any_at_once(verdicts, &gpu));
    pm_verdicts_put_made(verdicts, &made);
    assert_false(
        pm_verdicts_find_faster(verdicts, &a.original, &gpu, made.made.options, NOW, 1, &found));
    keep(verdicts, &a);
    keep(verdicts, &c);
    pm_verdicts_close(verdicts);
    assert_kept(&a);
    verdicts = open_it(NULL);
    assert_true(pm_verdicts_any_at_once(verdicts, &gpu));
    assert_true(
        pm_verdicts_find_faster(verdicts, &a.original, &gpu, made.made.options, NOW, 1, &found));
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
    assert_true(pm_kept_format(&table, LAYER, &text));
    free(table.variants);
    char *lines = (char *)text.data;
    assert_true(pm_kept_parse(&table, LAYER, lines, text.size, &error));
    free(table.variants);
    char *value = strstr(lines, " 3f ffffffff ");
    assert_non_null(value);
    memcpy(value, " 3f fffffffe ", 13);
    assert_false(pm_kept_parse(&table, LAYER, lines, text.size, &error));
    pm_buffer_finish(&text);
    /* Not with other options, not when the verdict is old, nor when it is another one. */
    assert_false(pm_verdicts_find_faster(verdicts, &a.original, &gpu, made.made.options + 1, NOW, 1,
                                         &found));
    assert_false(pm_verdicts_find_faster(verdicts, &a.original, &gpu, made.made.options,
                                         NOW + 1000LL * DAY, 1, &found));
    assert_false(
        pm_verdicts_find_faster(verdicts, &c.original, &gpu, made.made.options, NOW, 1, &found));
    pm_verdicts_close(verdicts);
}

/* A session that tries a variant and finds this; what is kept after it. */
static struct pm_kept_variant try_it(enum pm_verdict verdict, double ratio)
{
    const struct pm_kept_variant said = variant('a', verdict, ratio);
    struct pm_kept_variant kept;
    struct pm_error damaged = {0};
    struct pm_verdicts *verdicts = open_it(&damaged);
    assert_int_equal(damaged.code, PM_OK);
    keep_trial(verdicts, &said);
    pm_verdicts_close(verdicts);
    verdicts = open_it(&damaged);
    assert_int_equal(damaged.code, PM_OK);
    assert_true(find(verdicts, &said, &gpu, &kept));
    pm_verdicts_close(verdicts);
    return kept;
}

/* One session may have been lucky. */
static void several_sessions_must_agree(void **unused)
{
    (void)unused;
    struct pm_kept_variant kept = try_it(PM_VERDICT_FASTER, 0.8);
    assert_int_equal(kept.verdict, PM_VERDICT_FASTER);
    assert_true(pm_kept_is_sure(&kept, 1));
    assert_false(pm_kept_is_sure(&kept, 2));
    kept = try_it(PM_VERDICT_FASTER, 0.79);
    assert_true(pm_kept_is_sure(&kept, 2));
    assert_false(pm_kept_is_sure(&kept, 3));
    /* Now they do not agree, though it is faster on average; and then they do. */
    kept = try_it(PM_VERDICT_UNDECIDED, 1.0);
    assert_int_equal(kept.verdict, PM_VERDICT_FASTER);
    assert_true(pm_kept_is_sure(&kept, 1));
    assert_false(pm_kept_is_sure(&kept, 2));
    for (int i = 0; i < 2; i++)
        kept = try_it(PM_VERDICT_FASTER, 0.8);
    assert_true(pm_kept_is_sure(&kept, 5));
    /* A slower one is slower, and what was found before is forgotten. */
    kept = try_it(PM_VERDICT_SLOWER, 1.1);
    assert_int_equal(kept.verdict, PM_VERDICT_SLOWER);
    assert_int_equal(kept.tried.count, 0);
    kept = try_it(PM_VERDICT_FASTER, 0.8);
    assert_false(pm_kept_is_sure(&kept, 2));
}

static void those_that_never_agree_end(void **unused)
{
    (void)unused;
    struct pm_kept_variant kept;
    for (int i = 0; i < PM_SESSIONS_TRIED; i++) {
        kept =
            try_it(i % 2 == 0 ? PM_VERDICT_FASTER : PM_VERDICT_UNDECIDED, i % 2 == 0 ? 0.8 : 1.1);
        assert_int_equal(kept.verdict,
                         i + 1 < PM_SESSIONS_TRIED ? PM_VERDICT_FASTER : PM_VERDICT_UNDECIDED);
        assert_int_equal(kept.tried.count, i + 1);
    }
    /* Nor is what is no faster on average. */
    kept = try_it(PM_VERDICT_SLOWER, 1.2);
    kept = try_it(PM_VERDICT_FASTER, 0.9);
    kept = try_it(PM_VERDICT_UNDECIDED, 1.2);
    assert_int_equal(kept.verdict, PM_VERDICT_UNDECIDED);
}

/* However often a session tries it again; and of what else was timed, or long ago, nothing counts.
 */
static void a_session_counts_once(void **unused)
{
    (void)unused;
    const struct pm_kept_variant first = variant('a', PM_VERDICT_FASTER, 0.8),
                                 again = variant('a', PM_VERDICT_FASTER, 0.7);
    struct pm_kept_variant kept, other = first;
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_trial(verdicts, &first);
    pm_verdicts_put_trial(verdicts, &again);
    assert_true(find(verdicts, &first, &gpu, &kept));
    assert_int_equal(kept.tried.count, 1);
    assert_int_equal(kept.tried.ratios[0], 700000);
    pm_verdicts_close(verdicts);
    kept = try_it(PM_VERDICT_FASTER, 0.8);
    kept = try_it(PM_VERDICT_FASTER, 0.8);
    assert_int_equal(kept.tried.count, 2);
    verdicts = open_it(NULL);
    other.kind = PM_TIMED_CALLS;
    pm_verdicts_put_trial(verdicts, &other);
    assert_true(find(verdicts, &first, &gpu, &kept));
    assert_int_equal(kept.tried.count, 1);
    other.decided_at = NOW + (PM_DAYS_FASTER + 1) * (int64_t)DAY;
    pm_verdicts_put_trial(verdicts, &other);
    assert_true(find(verdicts, &first, &gpu, &kept));
    assert_int_equal(kept.tried.count, 1);
    /* A trial over sessions has asked them. */
    other.kind = PM_TIMED_SESSIONS;
    other.tried.count = 0;
    assert_true(pm_kept_is_sure(&other, 8));
    pm_verdicts_close(verdicts);
}

/* Two that run at once learn of the same variant: neither takes back what the other one has saved.
 */
static void what_another_one_found_stays(void **unused)
{
    (void)unused;
    const struct pm_kept_variant faster = variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant slower = variant('a', PM_VERDICT_SLOWER, 1.3), made = faster, kept;
    made.verdict = PM_VERDICT_NONE;
    made.made.count = 10;
    snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
    kept = try_it(PM_VERDICT_FASTER, 0.8);
    struct pm_verdicts *one = open_it(NULL), *other = open_it(NULL);
    slower.decided_at++;
    keep_trial(other, &slower);
    /* Whether the one has made it, */
    pm_verdicts_put_made(one, &made);
    assert_true(pm_verdicts_save(one, NULL));
    assert_kept(&slower);
    /* seen it, */
    pm_verdicts_put_seen(one, &made);
    pm_verdicts_want_sessions(one, &made.key, &made.original, &gpu, true);
    assert_true(pm_verdicts_save(one, NULL));
    assert_kept(&slower);
    /* or said of it, but earlier, that it is faster. */
    keep_trial(one, &faster);
    assert_kept(&slower);
    pm_verdicts_close(one);
    pm_verdicts_close(other);
    /* What the one has learned is there as well. */
    one = open_it(NULL);
    assert_true(find(one, &made, &gpu, &kept));
    assert_true(kept.made.count == 10 && kept.sessions.wanted);
    pm_verdicts_close(one);
}

/* Sessions that overlap agree, too. */
static void trials_at_once_both_count(void **unused)
{
    (void)unused;
    const struct pm_kept_variant found[] = {variant('a', PM_VERDICT_FASTER, 0.8),
                                            variant('a', PM_VERDICT_FASTER, 0.79)};
    struct pm_verdicts *both[2] = {open_it(NULL), open_it(NULL)};
    struct pm_kept_variant kept;
    for (int i = 0; i < 2; i++)
        keep_trial(both[i], &found[i]);
    /* Once each, however often it is saved. */
    keep_trial(both[1], &found[1]);
    for (int i = 0; i < 2; i++)
        pm_verdicts_close(both[i]);
    struct pm_verdicts *verdicts = open_it(NULL);
    assert_true(find(verdicts, &found[0], &gpu, &kept));
    pm_verdicts_close(verdicts);
    assert_int_equal(kept.tried.count, 2);
    assert_true(kept.tried.ratios[0] == 800000 && kept.tried.ratios[1] == 790000);
    assert_true(pm_kept_is_sure(&kept, 2));
}

/* Whichever of them is saved first. */
static void the_earlier_trial_counts_if_saved_later(void **unused)
{
    (void)unused;
    struct pm_kept_variant earlier = variant('a', PM_VERDICT_FASTER, 0.8), later = earlier, kept;
    later.ratio = 0.79;
    later.decided_at++;
    struct pm_verdicts *both[2] = {open_it(NULL), open_it(NULL)};
    keep_trial(both[0], &later);
    keep_trial(both[1], &earlier);
    for (int i = 0; i < 2; i++)
        pm_verdicts_close(both[i]);
    struct pm_verdicts *verdicts = open_it(NULL);
    assert_true(find(verdicts, &earlier, &gpu, &kept));
    pm_verdicts_close(verdicts);
    assert_true(kept.decided_at == later.decided_at);
    assert_int_equal(kept.tried.count, 2);
    assert_true(kept.tried.ratios[0] == 800000 && kept.tried.ratios[1] == 790000);
}

/* What has proven itself is used while a newer one has yet to. */
static void a_sure_one_comes_before_a_newer_one(void **unused)
{
    (void)unused;
    struct pm_kept_variant sure = variant('a', PM_VERDICT_FASTER, 0.8), newer = sure, found;
    newer.key = journals_key('n');
    newer.decided_at++;
    for (int i = 0; i < 2; i++)
        (void)try_it(PM_VERDICT_FASTER, 0.8);
    sure.made.count = newer.made.count = 10;
    snprintf(sure.made.entry_point, sizeof sure.made.entry_point, "main");
    snprintf(newer.made.entry_point, sizeof newer.made.entry_point, "main");
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_made(verdicts, &sure);
    pm_verdicts_put_made(verdicts, &newer);
    keep_trial(verdicts, &newer);
    for (uint32_t least = 1; least < 4; least++) {
        assert_true(pm_verdicts_find_faster(verdicts, &sure.original, &gpu, 0, NOW, least, &found));
        assert_true(pm_shader_key_equal(&found.key, least == 2 ? &sure.key : &newer.key));
    }
    pm_verdicts_close(verdicts);
}

/* How many sessions had nothing of one size is kept, until two have. */
static void sessions_that_are_unlike_are_counted(void **unused)
{
    (void)unused;
    const struct pm_kept_variant made = variant('e', PM_VERDICT_NONE, 1);
    struct pm_kept_variant kept;
    struct pm_session_half half = {.there = true, .at = NOW, .nanoseconds = {1000}};
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_made(verdicts, &made);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &gpu, true);
    for (uint32_t i = 0; i < 4; i++) {
        half.variant = i % 2 != 0;
        half.work[0] = 100 + i;
        assert_false(add_half(verdicts, &made, &half, &kept));
        assert_int_equal(kept.sessions.half.unlike, i);
        assert_true(pm_verdicts_save(verdicts, NULL));
        pm_verdicts_close(verdicts);
        verdicts = open_it(NULL);
    }
    half.variant = false;
    assert_true(add_half(verdicts, &made, &half, &kept));
    assert_int_equal(kept.sessions.half.unlike, 0);
    pm_verdicts_close(verdicts);
}

/* A variant that takes next to nothing is no damage. */
static void tiny_ratios_are_kept(void **unused)
{
    (void)unused;
    const struct pm_kept_variant made = variant('c', PM_VERDICT_NONE, 1);
    struct pm_kept_variant kept;
    struct pm_session_half half = {.there = true, .at = NOW, .nanoseconds = {10000000}};
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_made(verdicts, &made);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &gpu, true);
    assert_false(add_half(verdicts, &made, &half, &kept));
    half.variant = true;
    half.nanoseconds[0] = 1;
    assert_true(add_half(verdicts, &made, &half, &kept));
    assert_int_equal(kept.sessions.ratios[0], 1);
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    kept = try_it(PM_VERDICT_FASTER, 4e-7);
    assert_int_equal(kept.tried.ratios[0], 1);
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
    struct pm_verdicts *verdicts = open_it(NULL);
    for (int i = 0; i < 5; i++) {
        kept[i] = variant(names[i], PM_VERDICT_FASTER, ratios[i]);
        kept[i].tried.count = i == 3 ? 1 : 2;
        kept[i].tried.ratios[0] = (uint32_t)(ratios[i] * 1e6);
        kept[i].tried.ratios[1] = (uint32_t)(ratios[i] * 1e6) + 1000;
        kept[i].made.count = 10;
        kept[i].made.took = took[i];
        kept[i].made.by = PM_MADE_BY_RECIPE | (i == 4 ? (uint32_t)PM_MADE_OVER : 0);
        snprintf(kept[i].made.entry_point, sizeof kept[i].made.entry_point, "main");
        pm_verdicts_put_made(verdicts, &kept[i]);
        keep(verdicts, &kept[i]);
    }
    const struct pm_at_once_sum all = pm_verdicts_sum_at_once(verdicts, &gpu, NOW, 2);
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_kept_variant made = variant('a', PM_VERDICT_NONE, 1), found;
        struct pm_session_half original = cases[i].original, other = cases[i].variant;
        original.there = other.there = other.variant = true;
        original.at = other.at = NOW;
        struct pm_verdicts *verdicts = open_it(NULL);
        made.made.count = 10;
        snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
        made.key.bytes[1] = (uint8_t)i;
        pm_verdicts_put_made(verdicts, &made);
        pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &gpu, true);
        assert_false(add_half(verdicts, &made, &original, &found));
        assert_int_equal(add_half(verdicts, &made, &other, &found), cases[i].ratio != 0);
        if (cases[i].ratio != 0)
            assert_int_equal(found.sessions.ratios[0], cases[i].ratio);
        pm_verdicts_close(verdicts);
    }
}

/* Sessions that had either side make a pair, whichever came first. */
static void sessions_make_pairs(void **unused)
{
    (void)unused;
    struct pm_kept_variant made = variant('a', PM_VERDICT_NONE, 1), found;
    made.made.count = 10;
    snprintf(made.made.entry_point, sizeof made.made.entry_point, "main");
    struct pm_session_half half = {
        .there = true, .at = NOW, .nanoseconds = {1000, 0, 400}, .work = {3, 5, 7}};
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_made(verdicts, &made);
    assert_false(pm_verdicts_find_session(verdicts, &made.original, &gpu, 0, NOW, &found));
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &gpu, true);
    assert_true(pm_verdicts_any_at_once(verdicts, &gpu));
    assert_true(pm_verdicts_find_session(verdicts, &made.original, &gpu, 0, NOW, &found));
    for (int i = 0; i < 2; i++) {
        half.variant = i == 1;
        half.nanoseconds[0] = i == 1 ? 800 : 1000;
        half.nanoseconds[2] = i == 1 ? 320 : 400;
        assert_int_equal(add_half(verdicts, &made, &half, &found), i == 1);
        assert_true(pm_verdicts_save(verdicts, NULL));
        pm_verdicts_close(verdicts);
        verdicts = open_it(NULL);
    }
    /* The variant first, and what only one of them timed left out. */
    half.nanoseconds[1] = 123456;
    assert_false(add_half(verdicts, &made, &half, &found));
    /* The same side again takes its place. */
    half.nanoseconds[0] = 900;
    half.nanoseconds[2] = 0;
    assert_false(add_half(verdicts, &made, &half, &found));
    half = (struct pm_session_half){.there = true, .at = NOW, .nanoseconds = {1000}, .work = {3}};
    assert_true(add_half(verdicts, &made, &half, &found));
    assert_int_equal(found.sessions.count, 2);
    assert_int_equal(found.sessions.ratios[0], 800000);
    assert_int_equal(found.sessions.ratios[1], 900000);
    assert_false(found.sessions.half.there);
    /* What had other work is no partner; a use of the same is. */
    half.variant = false;
    half.work[0] = 0xfedcba9876543211;
    assert_false(add_half(verdicts, &made, &half, &found));
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = open_it(NULL);
    half.variant = true;
    half.work[0]++;
    assert_false(add_half(verdicts, &made, &half, &found));
    half.variant = false;
    assert_true(add_half(verdicts, &made, &half, &found));
    assert_int_equal(found.sessions.count, 3);
    half.work[0] = 0;
    /* One that waited for too long is no partner, nor is one that timed other things. */
    assert_false(add_half(verdicts, &made, &half, &found));
    half.variant = true;
    half.at = NOW + PM_DAYS_HALF * DAY;
    assert_false(add_half(verdicts, &made, &half, &found));
    half = (struct pm_session_half){
        .there = true, .at = half.at, .nanoseconds = {0, 1000}, .work = {0, 5}};
    assert_false(add_half(verdicts, &made, &half, &found));
    /* With a verdict it is over. */
    struct pm_kept_variant decided = variant('a', PM_VERDICT_SLOWER, 1.1);
    decided.kind = PM_TIMED_SESSIONS;
    keep(verdicts, &decided);
    assert_false(pm_verdicts_find_session(verdicts, &made.original, &gpu, 0, NOW, &found));
    assert_true(pm_verdicts_find_session(verdicts, &made.original, &gpu, 0,
                                         NOW + PM_DAYS_SLOWER * DAY, &found));
    assert_int_equal(found.sessions.count, 0);
    /* What can be timed in turn is not tried so again, nor is what they can time nothing of. */
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &gpu, false);
    assert_true(find(verdicts, &made, &gpu, &found));
    assert_false(found.sessions.wanted);
    pm_verdicts_want_sessions(verdicts, &made.key, &made.original, &gpu, true);
    decided.kind = PM_TIMED_CALLS;
    keep(verdicts, &decided);
    assert_true(find(verdicts, &made, &gpu, &found));
    assert_false(found.sessions.wanted);
    pm_verdicts_close(verdicts);
}

/* What two originals become that are made for different values: the same module. */
static void two_originals_share_nothing(void **unused)
{
    (void)unused;
    struct pm_kept_variant one = variant('a', PM_VERDICT_NONE, 1), other = one, found;
    one.made.count = other.made.count = 10;
    snprintf(one.made.entry_point, sizeof one.made.entry_point, "main");
    snprintf(other.made.entry_point, sizeof other.made.entry_point, "main");
    one.made.pushed_count = other.made.pushed_count = 1;
    one.made.pushed[0].value = 1;
    other.original = journals_key('x');
    other.made.pushed[0].word = 3;
    other.made.pushed[0].value = 9;
    struct pm_verdicts *verdicts = open_it(NULL);
    pm_verdicts_put_made(verdicts, &one);
    pm_verdicts_put_made(verdicts, &other);
    const struct pm_kept_variant faster = variant('a', PM_VERDICT_FASTER, 0.8);
    keep(verdicts, &faster);
    pm_verdicts_close(verdicts);
    verdicts = open_it(NULL);
    /* The verdict is the one's, and it runs with its own values alone. */
    assert_true(pm_verdicts_find_faster(verdicts, &one.original, &gpu, 0, NOW, 1, &found));
    assert_int_equal(found.made.pushed[0].word, 0);
    assert_int_equal(found.made.pushed[0].value, 1);
    assert_false(pm_verdicts_find_faster(verdicts, &other.original, &gpu, 0, NOW, 1, &found));
    assert_true(find(verdicts, &other, &gpu, &found));
    assert_int_equal(found.verdict, PM_VERDICT_NONE);
    assert_int_equal(found.made.pushed[0].word, 3);
    /* What a contest saw, and sessions, too. */
    struct pm_kept_variant seen = other;
    seen.seen = (struct pm_anytime){.count = 3, .sum = 0.3, .squares = 0.1};
    seen.seen_at = NOW;
    pm_verdicts_put_seen(verdicts, &seen);
    assert_true(find(verdicts, &one, &gpu, &found));
    assert_true(found.seen.count == 0 && found.verdict == PM_VERDICT_FASTER);
    assert_true(find(verdicts, &other, &gpu, &found));
    assert_true(found.seen.count == 3 && found.made.pushed[0].value == 9);
    struct pm_session_half half = {.there = true, .at = NOW, .nanoseconds = {1000}};
    pm_verdicts_want_sessions(verdicts, &other.key, &other.original, &gpu, true);
    assert_true(find(verdicts, &one, &gpu, &found));
    assert_false(found.sessions.wanted);
    assert_false(add_half(verdicts, &one, &half, &found));
    half.variant = true;
    assert_false(add_half(verdicts, &other, &half, &found));
    half.variant = false;
    assert_true(add_half(verdicts, &other, &half, &found));
    assert_true(pm_verdicts_save(verdicts, NULL));
    pm_verdicts_close(verdicts);
    verdicts = open_it(NULL);
    assert_true(find(verdicts, &one, &gpu, &found));
    assert_true(found.sessions.count == 0 && found.verdict == PM_VERDICT_FASTER);
    assert_true(find(verdicts, &other, &gpu, &found));
    assert_int_equal(found.sessions.count, 1);
    pm_verdicts_close(verdicts);
}

/* Killed right after it was saved. */
static void a_killed_session_keeps_them(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        keep(open_it(NULL), &a);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_kept(&a);
}

static void a_forked_child_saves_nothing(void **unused)
{
    (void)unused;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_kept_variant kept;
    struct pm_verdicts *verdicts = open_it(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        keep(verdicts, &a);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pm_verdicts_close(verdicts);
    verdicts = open_it(NULL);
    assert_false(find(verdicts, &a, &gpu, &kept));
    pm_verdicts_close(verdicts);
}

/* Every way to cut it short or to change a byte: ignored whole and said, or as good as ever. */
static void damage_is_ignored(void **unused)
{
    (void)unused;
    char path[200];
    struct pm_buffer text;
    const struct pm_kept_variant a = variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_verdicts *verdicts = open_it(NULL);
    keep_trial(verdicts, &a);
    pm_verdicts_close(verdicts);
    path_of(path, sizeof path);
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(path, &text, NULL));
    for (size_t cut = 0; cut <= text.size; cut++) {
        struct pm_kept_table table;
        struct pm_error error = {0};
        const bool good =
            pm_kept_parse(&table, LAYER, (const char *)text.data, text.size - cut, &error);
        assert_true(good ? table.count <= 1 : table.count == 0 && error.code == PM_ERROR_INPUT);
        free(table.variants);
    }
    for (size_t at = 0; at < text.size; at++) {
        struct pm_kept_table table;
        text.data[at] ^= 0x10;
        if (pm_kept_parse(&table, LAYER, (const char *)text.data, text.size, NULL))
            free(table.variants);
        text.data[at] ^= 0x10;
    }
    /* The next session begins anew, and can keep again. */
    assert_true(pm_file_write(path, text.data, text.size / 2, NULL));
    struct pm_error damaged = {0};
    struct pm_kept_variant kept;
    verdicts = open_it(&damaged);
    assert_int_equal(damaged.code, PM_ERROR_INPUT);
    assert_false(find(verdicts, &a, &gpu, &kept));
    keep(verdicts, &a);
    pm_verdicts_close(verdicts);
    assert_kept(&a);
    pm_buffer_finish(&text);
}

static void there_are_not_too_many(void **unused)
{
    (void)unused;
    struct pm_kept_table table = {0};
    enum { MORE = 10 };
    for (uint32_t i = 0; i < PM_VERDICTS_MOST + MORE; i++) {
        struct pm_kept_variant kept = variant('a', PM_VERDICT_FASTER, 0.8);
        memcpy(kept.key.bytes, &i, sizeof i);
        kept.used_at = NOW + i;
        assert_true(pm_kept_put(&table, &kept));
    }
    assert_int_equal(table.count, PM_VERDICTS_MOST);
    for (uint32_t i = 0; i < 2 * MORE; i++) {
        struct pm_shader_key key = journals_key('a'), original = journals_key('b');
        memcpy(key.bytes, &i, sizeof i);
        assert_int_equal(pm_kept_find(&table, &key, &original, &gpu) != NULL, i >= MORE);
    }
    struct pm_buffer text;
    struct pm_kept_table again;
    pm_buffer_init(&text, 4 << 20);
    assert_true(pm_kept_format(&table, LAYER, &text));
    assert_true(pm_kept_parse(&again, LAYER, (const char *)text.data, text.size, NULL));
    assert_int_equal(again.count, PM_VERDICTS_MOST);
    pm_buffer_finish(&text);
    free(again.variants);
    free(table.variants);
}

/* However many lose later, what was found faster stays while that counts, and so does what sessions
 * are to try. */
static void losers_go_first(void **unused)
{
    (void)unused;
    static const enum pm_verdict losers[] = {PM_VERDICT_SLOWER, PM_VERDICT_UNDECIDED,
                                             PM_VERDICT_NONE};
    struct pm_kept_table table = {0};
    struct pm_kept_variant faster = variant('a', PM_VERDICT_FASTER, 0.8),
                           wanted = variant('c', PM_VERDICT_NONE, 1),
                           old = variant('e', PM_VERDICT_FASTER, 0.8);
    wanted.sessions.wanted = true;
    old.decided_at -= INT64_C(100) * DAY;
    assert_true(pm_kept_put(&table, &old) && pm_kept_put(&table, &faster) &&
                pm_kept_put(&table, &wanted));
    for (uint32_t i = 0; i < 2 * PM_VERDICTS_MOST; i++) {
        struct pm_kept_variant kept = variant('x', losers[i % 3], 1.1);
        memcpy(kept.key.bytes, &i, sizeof i);
        kept.used_at = NOW + 1 + i;
        assert_true(pm_kept_put(&table, &kept));
    }
    assert_int_equal(table.count, PM_VERDICTS_MOST);
    assert_non_null(pm_kept_find(&table, &faster.key, &faster.original, &gpu));
    assert_non_null(pm_kept_find(&table, &wanted.key, &wanted.original, &gpu));
    assert_null(pm_kept_find(&table, &old.key, &old.original, &gpu));
    free(table.variants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(sessions_share_what_is_kept),
        JOURNALS_TEST(another_driver_has_none),
        JOURNALS_TEST(another_journal_gets_a_copy),
        JOURNALS_TEST(they_grow_old),
        JOURNALS_TEST(a_killed_session_keeps_them),
        JOURNALS_TEST(a_forked_child_saves_nothing),
        JOURNALS_TEST(damage_is_ignored),
        JOURNALS_TEST(there_are_not_too_many),
        JOURNALS_TEST(losers_go_first),
        JOURNALS_TEST(how_it_is_made),
        JOURNALS_TEST(what_contests_saw),
        JOURNALS_TEST(several_sessions_must_agree),
        JOURNALS_TEST(those_that_never_agree_end),
        JOURNALS_TEST(a_session_counts_once),
        JOURNALS_TEST(what_another_one_found_stays),
        JOURNALS_TEST(trials_at_once_both_count),
        JOURNALS_TEST(the_earlier_trial_counts_if_saved_later),
        JOURNALS_TEST(a_sure_one_comes_before_a_newer_one),
        JOURNALS_TEST(tiny_ratios_are_kept),
        JOURNALS_TEST(sessions_that_are_unlike_are_counted),
        JOURNALS_TEST(the_best_first),
        JOURNALS_TEST(sessions_make_pairs),
        JOURNALS_TEST(sessions_compare_uses_as_a_whole),
        JOURNALS_TEST(two_originals_share_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
