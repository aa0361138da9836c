#include "tests/profile/kept.h"

#include "tests/cmocka_includes.h"
#include "tests/profile/journals.h"

const struct pm_environment kept_gpu = {32, 0x10de, 0x2684, 4, 0x80000001};

struct pm_verdicts *kept_open(struct pm_error *damaged)
{
    struct pm_verdicts *verdicts = pm_verdicts_open(journals_home, KEPT_GAME, KEPT_LAYER, damaged);
    assert_non_null(verdicts);
    return verdicts;
}

struct pm_kept_variant kept_variant(uint8_t name, enum pm_verdict verdict, double ratio)
{
    return (struct pm_kept_variant){
        .key = journals_key(name),
        .original = journals_key((uint8_t)(name + 1)),
        .environment = kept_gpu,
        .used_at = KEPT_NOW,
        .verdict = verdict,
        .kind = PM_TIMED_PASSES,
        .ratio = ratio,
        .low = ratio * 0.9,
        .high = ratio * 1.1,
        .pairs = 64,
        .decided_at = KEPT_NOW,
    };
}

void kept_put(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    struct pm_error error = {0};
    pm_verdicts_put(verdicts, kept);
    if (!pm_verdicts_save(verdicts, &error))
        fail_msg("%s", error.message);
}

void kept_put_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept)
{
    pm_verdicts_put_trial(verdicts, kept);
    assert_true(pm_verdicts_save(verdicts, NULL));
}

bool kept_find(struct pm_verdicts *verdicts, const struct pm_kept_variant *named,
               const struct pm_environment *environment, struct pm_kept_variant *found)
{
    return pm_verdicts_find(verdicts, &named->key, &named->original, environment, found);
}

bool kept_add_half(struct pm_verdicts *verdicts, const struct pm_kept_variant *named,
                   const struct pm_session_half *half, struct pm_kept_variant *found)
{
    return pm_verdicts_add_half(verdicts, &named->key, &named->original, &named->environment, half,
                                found);
}

void kept_assert(const struct pm_kept_variant *expected)
{
    struct pm_error damaged = {0};
    struct pm_kept_variant kept;
    struct pm_verdicts *verdicts = kept_open(&damaged);
    assert_int_equal(damaged.code, PM_OK);
    assert_true(kept_find(verdicts, expected, &expected->environment, &kept));
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

struct pm_kept_variant kept_try(enum pm_verdict verdict, double ratio)
{
    const struct pm_kept_variant said = kept_variant('a', verdict, ratio);
    struct pm_kept_variant kept;
    struct pm_error damaged = {0};
    struct pm_verdicts *verdicts = kept_open(&damaged);
    assert_int_equal(damaged.code, PM_OK);
    kept_put_trial(verdicts, &said);
    pm_verdicts_close(verdicts);
    verdicts = kept_open(&damaged);
    assert_int_equal(damaged.code, PM_OK);
    assert_true(kept_find(verdicts, &said, &kept_gpu, &kept));
    pm_verdicts_close(verdicts);
    return kept;
}
