/* Who gets a variant: needs before heat, tokens by time, room by deaths. */
#include "layer/shader/variant_table.h"

#include "base/clock.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

static struct pm_variant_budget budget;

static uint32_t take_all(enum pm_need need, int64_t now)
{
    uint32_t taken = 0;
    while (pm_variant_budget_take(&budget, need, now) == PM_BUDGET_YES)
        taken++;
    return taken;
}

static void each_need_leaves_something_for_the_more_urgent(void **state)
{
    (void)state;
    pm_variant_budget_init(&budget, 256, 0, 0);
    assert_int_equal(take_all(PM_NEED_MORE, 0), 64);
    assert_int_equal(take_all(PM_NEED_BATCH, 0), 128);
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_BATCH, 0), PM_BUDGET_LATER);
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_SHADER, 0), PM_BUDGET_YES);
    assert_int_equal(take_all(PM_NEED_SHADER, 0), 64);
    assert_int_equal(budget.living, 256);
    pm_variant_budget_finish(&budget);
}

/* What is made ahead of need has a chance as long as anything can be made, and less the less. */
static void the_chance_falls_as_tokens_and_room_do(void **state)
{
    (void)state;
    pm_variant_budget_init(&budget, 256, 0, 0);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 0, 0) == 1);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 192, 0) == 1);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 224, 0) == 0.25);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_BATCH, 128, 0) == 1);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_BATCH, 191, 0) > 0.25);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_BATCH, 192, 0) == 0);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 255, 0) == 1 / 4096.0);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 256, 0) == 0);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 300, 0) == 0);
    assert_int_equal(take_all(PM_NEED_BATCH, 0), 192);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 0, 0) == 1);
    assert_int_equal(take_all(PM_NEED_SHADER, 0), 64);
    assert_true(pm_variant_budget_chance(&budget, PM_NEED_SHADER, 0, 0) == 0);
    pm_variant_budget_finish(&budget);
}

static void tokens_come_with_time(void **state)
{
    (void)state;
    pm_variant_budget_init(&budget, 4, 60, PM_SECOND);
    assert_int_equal(take_all(PM_NEED_SHADER, PM_SECOND), 4);
    for (int i = 0; i < 4; i++)
        pm_variant_budget_release(&budget);
    /* A death gives back room, but no token: each costs a compile. */
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_SHADER, PM_SECOND), PM_BUDGET_LATER);
    assert_int_equal(take_all(PM_NEED_SHADER, 2 * PM_SECOND + 1), 1);
    /* Never more than there is room for, however long nobody asked. */
    assert_int_equal(take_all(PM_NEED_SHADER, 1000 * PM_SECOND), 3);
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_SHADER, 1002 * PM_SECOND),
                     PM_BUDGET_FULL);
    pm_variant_budget_release(&budget);
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_SHADER, 1002 * PM_SECOND),
                     PM_BUDGET_YES);
    /* What was not made costs neither. */
    const double tokens = budget.tokens;
    assert_int_equal(pm_variant_budget_take(&budget, PM_NEED_SHADER, 1002 * PM_SECOND),
                     PM_BUDGET_YES);
    pm_variant_budget_refund(&budget);
    assert_true(budget.tokens >= tokens && budget.living == 3);
    pm_variant_budget_finish(&budget);
}

static void nothing_fits_while_counter_memory_is_used_up(void **state)
{
    (void)state;
    pm_variant_budget_init(&budget, 8, 0, 0);
    assert_int_equal(pm_variant_budget_take(&budget, PM_NEED_SHADER, 0), PM_BUDGET_YES);
    assert_true(pm_variant_budget_no_counters(&budget));
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_SHADER, 0), PM_BUDGET_FULL);
    pm_variant_budget_release(&budget);
    assert_int_equal(pm_variant_budget_ask(&budget, PM_NEED_SHADER, 0), PM_BUDGET_YES);
    assert_false(pm_variant_budget_no_counters(&budget)); /* nothing would ever go */
    pm_variant_budget_finish(&budget);
}

/* A variant, won: that was made ahead; seen: that a recording could have bound; taken: it was, for
 * so many calls. */
static uint32_t staying(bool won, bool seen, uint32_t taken, bool keeps_nothing, int64_t later)
{
    static struct pm_pipelines pipelines;
    struct pm_device device = {.pipelines = &pipelines};
    struct pm_pipeline_batch batch = {0};
    struct pm_shader_record record = {.batch_count = 1};
    struct pm_pipeline pipeline = {
        .device = &device, .batches = &batch, .record = &record, .won = won, .seen = seen};
    struct pm_variant variant = {.references = 1, .taken = taken};
    pm_variant_budget_init(&pipelines.budget, 1, 0, 0);
    pipelines.keeps_nothing = keeps_nothing;
    pipelines.budget.living = 1;
    pm_variant_publish(&pipeline, 0, &variant);
    const uint32_t stay = pm_variants_staying(&pipelines, pm_now() + later);
    pm_variant_budget_finish(&pipelines.budget);
    return stay;
}

/* What is not used makes room; what waits for its level to be recorded waits for longer. */
static void what_is_not_recorded_yet_stays(void **state)
{
    (void)state;
    assert_int_equal(staying(false, false, 0, false, 9 * PM_SECOND), 1);
    assert_int_equal(staying(false, false, 0, false, 11 * PM_SECOND), 0);
    assert_int_equal(staying(true, false, 0, false, 11 * PM_SECOND), 1);
    assert_int_equal(staying(true, false, 0, false, 121 * PM_SECOND), 0);
    assert_int_equal(staying(true, true, 0, false, 9 * PM_SECOND), 1);
    assert_int_equal(staying(true, true, 0, false, 11 * PM_SECOND), 0);
    assert_int_equal(staying(true, true, 1, false, 11 * PM_SECOND), 0);
    assert_int_equal(staying(true, false, 0, true, 11 * PM_SECOND), 0);
}

/* A shader with some batches, one pipeline, and variants of so many of them that told enough. */
struct shader {
    struct pm_shader_record record;
    struct pm_batch_use use[2];
    struct pm_pipeline_batch batches[2];
    struct pm_pipeline pipeline;
};

static struct shader *make_shader(struct pm_device *device, uint32_t variants)
{
    struct shader *shader = aligned_alloc(PM_CACHE_LINE, sizeof *shader);
    assert_non_null(shader);
    memset(shader, 0, sizeof *shader);
    shader->record.batch_count = 2;
    shader->pipeline.device = device;
    shader->pipeline.batches = shader->batches;
    shader->pipeline.record = &shader->record;
    for (uint32_t i = 0; i < variants; i++) {
        struct pm_variant *variant = calloc(1, sizeof *variant);
        assert_non_null(variant);
        variant->device = device;
        variant->references = 1;
        variant->taken = PM_ENOUGH_CALLS;
        variant->use = &shader->use[i];
        variant->budget = &device->pipelines->budget;
        variant->budget->living++;
        shader->use[i].variants++;
        shader->record.whole.variants++;
        pm_variant_publish(&shader->pipeline, i, variant);
    }
    return shader;
}

/* What a shader gives up for itself is its own: nobody else may take that meanwhile. */
static void a_place_is_handed_over(void **state)
{
    (void)state;
    static struct pm_pipelines pipelines;
    struct pm_device device = {.pipelines = &pipelines};
    struct pm_variant_budget *of = &pipelines.budget;
    const int64_t now = pm_now();
    pm_variant_budget_init(of, 2, 0, now);
    struct shader *one = make_shader(&device, 1), *two = make_shader(&device, 1);
    of->tokens = 0;
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now), PM_RETIRED_NONE);
    of->tokens = 2;
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now), PM_RETIRED_OWN);
    assert_int_equal(pm_variant_budget_take(of, PM_NEED_SHADER, now), PM_BUDGET_FULL);
    assert_int_equal(of->living, 2);
    assert_true(of->tokens == 1);
    /* It may not come to be: what is being made is no reason to give up the other. */
    one->record.whole.variants = two->record.whole.variants = 2;
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now), PM_RETIRED_NONE);
    pm_variant_budget_refund(of);
    assert_int_equal(of->living, 1);
    pm_variants_drop(&two->pipeline);
    assert_int_equal(of->living, 0);
    free(one);
    free(two);
    pm_variant_budget_finish(of);
}

/* For another shader's further batch one is given up that is not the last of its shader, unless it
 * is idle; for its own, and for a shader that has none, that too. */
static void a_shader_keeps_its_last(void **state)
{
    (void)state;
    static struct pm_pipelines pipelines;
    struct pm_device device = {.pipelines = &pipelines};
    pm_variant_budget_init(&pipelines.budget, 4, 0, 0);
    struct shader *two = make_shader(&device, 2), *one = make_shader(&device, 1),
                  *none = make_shader(&device, 0);
    const int64_t now = pm_now();
    assert_int_equal(pm_variants_retire(&pipelines, &none->record, now), PM_RETIRED_OTHER);
    assert_int_equal(two->record.whole.variants, 1);
    assert_int_equal(pm_variants_retire(&pipelines, &none->record, now), PM_RETIRED_NONE);
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now), PM_RETIRED_OWN);
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now), PM_RETIRED_NONE);
    assert_int_equal(pm_variants_retire(&pipelines, NULL, now), PM_RETIRED_OTHER);
    assert_int_equal(two->record.whole.variants, 0);
    struct shader *idle = make_shader(&device, 1);
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now), PM_RETIRED_NONE);
    assert_int_equal(pm_variants_retire(&pipelines, &one->record, now + 11 * PM_SECOND),
                     PM_RETIRED_OTHER);
    assert_null(pipelines.budget.first);
    free(two);
    free(one);
    free(none);
    free(idle);
    pm_variant_budget_finish(&pipelines.budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_need_leaves_something_for_the_more_urgent),
        cmocka_unit_test(the_chance_falls_as_tokens_and_room_do),
        cmocka_unit_test(tokens_come_with_time),
        cmocka_unit_test(nothing_fits_while_counter_memory_is_used_up),
        cmocka_unit_test(what_is_not_recorded_yet_stays),
        cmocka_unit_test(a_place_is_handed_over),
        cmocka_unit_test(a_shader_keeps_its_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
