/* The text of what is kept (profile/verdicts_text.h): damage, and more than there is room for. */
#include "profile/verdicts_text.h"
#include "tests/profile/journals.h"
#include "tests/profile/kept.h"

#include "base/file.h"
#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void path_of(char *path, size_t size)
{
    snprintf(path, size, "%s/A%%20Game/verdicts", journals_home);
}

/* Every way to cut it short or to change a byte: ignored whole and said, or as good as ever. */
static void damage_is_ignored(void **unused)
{
    (void)unused;
    char path[200];
    struct pm_buffer text;
    const struct pm_kept_variant a = kept_variant('a', PM_VERDICT_FASTER, 0.8);
    struct pm_verdicts *verdicts = kept_open(NULL);
    kept_put_trial(verdicts, &a);
    pm_verdicts_close(verdicts);
    path_of(path, sizeof path);
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(path, &text, NULL));
    for (size_t cut = 0; cut <= text.size; cut++) {
        struct pm_kept_table table;
        struct pm_error error = {0};
        const bool good =
            pm_kept_parse(&table, KEPT_LAYER, (const char *)text.data, text.size - cut, &error);
        assert_true(good ? table.count <= 1 : table.count == 0 && error.code == PM_ERROR_INPUT);
        free(table.variants);
    }
    for (size_t at = 0; at < text.size; at++) {
        struct pm_kept_table table;
        text.data[at] ^= 0x10;
        if (pm_kept_parse(&table, KEPT_LAYER, (const char *)text.data, text.size, NULL))
            free(table.variants);
        text.data[at] ^= 0x10;
    }
    /* The next session begins anew, and can keep again. */
    assert_true(pm_file_write(path, text.data, text.size / 2, NULL));
    struct pm_error damaged = {0};
    struct pm_kept_variant kept;
    verdicts = kept_open(&damaged);
    assert_int_equal(damaged.code, PM_ERROR_INPUT);
    assert_false(kept_find(verdicts, &a, &kept_gpu, &kept));
    kept_put(verdicts, &a);
    pm_verdicts_close(verdicts);
    kept_assert(&a);
    pm_buffer_finish(&text);
}

/* The latest session with the game's own is none with the variant. */
static void own_is_of_the_original(void **unused)
{
    (void)unused;
    struct pm_kept_table table = {0};
    struct pm_kept_variant kept = kept_variant('a', PM_VERDICT_NONE, 1);
    struct pm_buffer text;
    kept.sessions.wanted = true;
    kept.sessions.half = (struct pm_session_half){.there = true, .variant = true, .at = KEPT_NOW};
    for (int i = 0; i < 2; i++) {
        struct pm_kept_table again;
        kept.sessions.own = (struct pm_session_half){.there = true, .variant = i == 1};
        assert_true(pm_kept_put(&table, &kept));
        pm_buffer_init(&text, 1 << 20);
        assert_true(pm_kept_format(&table, KEPT_LAYER, &text));
        assert_int_equal(
            pm_kept_parse(&again, KEPT_LAYER, (const char *)text.data, text.size, NULL), i == 0);
        free(again.variants);
        pm_buffer_finish(&text);
    }
    free(table.variants);
}

static void there_are_not_too_many(void **unused)
{
    (void)unused;
    struct pm_kept_table table = {0};
    enum { MORE = 10 };
    for (uint32_t i = 0; i < PM_VERDICTS_MOST + MORE; i++) {
        struct pm_kept_variant kept = kept_variant('a', PM_VERDICT_FASTER, 0.8);
        memcpy(kept.key.bytes, &i, sizeof i);
        kept.used_at = KEPT_NOW + i;
        assert_true(pm_kept_put(&table, &kept));
    }
    assert_int_equal(table.count, PM_VERDICTS_MOST);
    for (uint32_t i = 0; i < 2 * MORE; i++) {
        struct pm_shader_key key = journals_key('a'), original = journals_key('b');
        memcpy(key.bytes, &i, sizeof i);
        assert_int_equal(pm_kept_find(&table, &key, &original, &kept_gpu) != NULL, i >= MORE);
    }
    struct pm_buffer text;
    struct pm_kept_table again;
    pm_buffer_init(&text, 4 << 20);
    assert_true(pm_kept_format(&table, KEPT_LAYER, &text));
    assert_true(pm_kept_parse(&again, KEPT_LAYER, (const char *)text.data, text.size, NULL));
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
    struct pm_kept_variant faster = kept_variant('a', PM_VERDICT_FASTER, 0.8),
                           wanted = kept_variant('c', PM_VERDICT_NONE, 1),
                           old = kept_variant('e', PM_VERDICT_FASTER, 0.8);
    wanted.sessions.wanted = true;
    old.decided_at -= INT64_C(100) * KEPT_DAY;
    assert_true(pm_kept_put(&table, &old) && pm_kept_put(&table, &faster) &&
                pm_kept_put(&table, &wanted));
    for (uint32_t i = 0; i < 2 * PM_VERDICTS_MOST; i++) {
        struct pm_kept_variant kept = kept_variant('x', losers[i % 3], 1.1);
        memcpy(kept.key.bytes, &i, sizeof i);
        kept.used_at = KEPT_NOW + 1 + i;
        assert_true(pm_kept_put(&table, &kept));
    }
    assert_int_equal(table.count, PM_VERDICTS_MOST);
    assert_non_null(pm_kept_find(&table, &faster.key, &faster.original, &kept_gpu));
    assert_non_null(pm_kept_find(&table, &wanted.key, &wanted.original, &kept_gpu));
    assert_null(pm_kept_find(&table, &old.key, &old.original, &kept_gpu));
    free(table.variants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(damage_is_ignored),
        JOURNALS_TEST(own_is_of_the_original),
        JOURNALS_TEST(there_are_not_too_many),
        JOURNALS_TEST(losers_go_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
