/* What stands for a pipeline (standing.h): said only while a bind has nothing else to do, and taken
 * back by whatever changes; a slot of the table is one pipeline's alone, and nearly all have one.
 */
#include "layer/generate/create_info.h"
#include "layer/shader/optimize.h"

#include "tests/cmocka_includes.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pm_device device;
static struct pm_optimized variant = {.built = {.handle = 0x5000}},
                           over = {.built = {.handle = 0x6000}};
static struct pm_pipeline pipeline;

static int set_up(void **state)
{
    (void)state;
    device.standing = pm_standing_create(&device.stands);
    return device.standing != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pm_standing_destroy(device.standing);
    return 0;
}

static void begin(struct pm_pipeline *of, uint64_t handle)
{
    memset(of, 0, sizeof *of);
    of->device = &device;
    of->handle = handle;
}

/* What the shortest way finds, with the pipeline that it is of; 0: nothing. */
static PM_FAST uint64_t found_of(uint64_t handle, struct pm_pipeline **of)
{
    const struct pm_standing_slot *slot = pm_standing_find(atomic_load(&device.stands), handle);
    if (slot == NULL)
        return 0;
    *of = atomic_load(&slot->pipeline);
    return atomic_load(&slot->stands);
}

static uint64_t found(uint64_t handle)
{
    struct pm_pipeline *of;
    const uint64_t stands = found_of(handle, &of);
    assert_true(stands == 0 || of->handle == handle);
    return stands;
}

static void expect(uint64_t handle)
{
    pm_optimize_learn(&pipeline);
    assert_int_equal(atomic_load(&pipeline.stands.now), handle);
    assert_int_equal(found(pipeline.handle), handle);
    pm_standing_change(device.standing, &pipeline.stands);
    assert_int_equal(atomic_load(&pipeline.stands.now), 0);
    assert_int_equal(found(pipeline.handle), 0);
}

static void what_is_best(void **state)
{
    (void)state;
    begin(&pipeline, 0x1000);
    atomic_store(&variant.bound, false);
    atomic_store(&over.bound, false);
    expect(pipeline.handle);
    atomic_store(&pipeline.optimized, &variant);
    expect(pipeline.handle);
    /* Its first use is the long way's. */
    atomic_store(&pipeline.best, variant.built.handle);
    expect(0);
    atomic_store(&variant.bound, true);
    expect(variant.built.handle);
    atomic_store(&pipeline.over_best, &over);
    expect(0);
    atomic_store(&over.bound, true);
    expect(over.built.handle);
    atomic_store(&pipeline.best, 0);
    expect(pipeline.handle);
}

static void where_there_is_more_to_do(void **state)
{
    (void)state;
    begin(&pipeline, 0x1000);
    atomic_store(&pipeline.wish, PM_WISH_BOUND);
    atomic_store(&pipeline.heat, PM_MOST_HEAT);
    expect(0);
    atomic_store(&pipeline.wish, PM_WISH_TOLD);
    expect(0);
    atomic_store(&pipeline.wish, PM_WISH_WAITING);
    expect(pipeline.handle);
    atomic_store(&pipeline.heat, PM_MOST_HEAT - 1);
    expect(0);
    atomic_store(&pipeline.wish, PM_WISH_NONE);
    expect(pipeline.handle);
    atomic_store(&pipeline.passes_best, &variant);
    expect(0);
    atomic_store(&pipeline.passes_best, NULL);
    atomic_store(&pipeline.folded, &variant);
    expect(0);
    atomic_store(&pipeline.folded, NULL);
    device.ab = (struct pm_ab *)&variant;
    expect(0);
    device.ab = NULL;
    device.trace = (struct pm_trace *)&variant;
    expect(0);
    device.trace = NULL;
    /* A shader object's handle may be that of a pipeline. */
    const VkShaderCreateInfoEXT object = {0};
    pipeline.object = &object;
    expect(0);
    pipeline.object = NULL;
    /* A thread that changes something is not waited for. */
    pthread_rwlock_rdlock(&device.standing->lock);
    pm_optimize_learn(&pipeline);
    pthread_rwlock_unlock(&device.standing->lock);
    assert_int_equal(atomic_load(&pipeline.stands.now), 0);
    expect(pipeline.handle);
}

static uint64_t home_of(uint64_t handle)
{
    return pm_standing_home(atomic_load(&device.stands), handle);
}

/* The next handle with the same home. */
static uint64_t handle_beside(uint64_t handle)
{
    uint64_t other = handle + 1;
    while (home_of(other) != home_of(handle))
        other++;
    return other;
}

static void a_slot_is_of_one(void **state)
{
    (void)state;
    struct pm_pipeline second, third;
    begin(&pipeline, 0x1000);
    begin(&second, handle_beside(pipeline.handle));
    begin(&third, handle_beside(second.handle));
    pm_optimize_learn(&pipeline);
    pm_optimize_learn(&second);
    pm_optimize_learn(&third);
    assert_int_equal(found(pipeline.handle), pipeline.handle);
    assert_int_equal(found(second.handle), second.handle);
    assert_int_equal(found(third.handle), 0);
    assert_int_equal(atomic_load(&third.stands.now), third.handle);
    /* Nothing is said of them, and the slots are their own still. */
    pm_standing_change(device.standing, &pipeline.stands);
    pm_standing_change(device.standing, &second.stands);
    pm_standing_change(device.standing, &third.stands);
    pm_optimize_learn(&third);
    assert_int_equal(found(third.handle), 0);
    pm_standing_forget(&pipeline.stands);
    pm_standing_change(device.standing, &third.stands);
    pm_optimize_learn(&third);
    assert_int_equal(found(third.handle), third.handle);
    /* That it is forgotten once more takes nothing from who has it now. */
    pm_standing_forget(&pipeline.stands);
    pm_standing_change(device.standing, &pipeline.stands);
    assert_int_equal(found(third.handle), third.handle);
    pm_standing_forget(&third.stands);
    assert_int_equal(found(third.handle), 0);
    pm_standing_forget(&second.stands);
}

/* A thread of the lowest priority that is changing something keeps the game from nothing: neither
 * from creating a pipeline that leaves another state to commands, nor from destroying one. */
static void changed_without_waiting(void **state)
{
    (void)state;
    begin(&pipeline, 0x1000);
    pm_optimize_learn(&pipeline);
    assert_int_equal(found(pipeline.handle), pipeline.handle);
    pthread_rwlock_rdlock(&device.standing->lock);
    pm_standing_change_all(device.standing);
    assert_int_equal(found(pipeline.handle), 0);
    pthread_rwlock_unlock(&device.standing->lock);
    pm_optimize_learn(&pipeline);
    assert_int_equal(found(pipeline.handle), pipeline.handle);
    pthread_rwlock_rdlock(&device.standing->lock);
    pm_standing_forget(&pipeline.stands);
    assert_int_equal(found(pipeline.handle), 0);
    pthread_rwlock_unlock(&device.standing->lock);
    struct pm_pipeline next;
    begin(&next, pipeline.handle);
    pm_optimize_learn(&next);
    assert_int_equal(found(next.handle), next.handle);
    pm_standing_forget(&next.stands);
}

/* What stands where something may begin that sees it is what may be put back, once the game has a
 * pool of such queries; and when the game leaves more states to commands, or makes its first such
 * pool, it is another for all. */
static void what_may_be_put_back(void **state)
{
    (void)state;
    struct pm_pipelines pipelines = {.device = &device};
    VkGraphicsPipelineCreateInfo info = {0};
    pm_dynamic_states_init(&pipelines.dynamic);
    device.pipelines = &pipelines;
    begin(&pipeline, 0x1000);
    pipeline.graphics = &info;
    atomic_store(&pipeline.optimized, &variant);
    atomic_store(&pipeline.best, variant.built.handle);
    atomic_store(&variant.bound, true);
    pm_optimize_learn(&pipeline);
    const struct pm_standing_slot *slot =
        pm_standing_find(atomic_load(&device.stands), pipeline.handle);
    assert_non_null(slot);
    assert_int_equal(atomic_load(&slot->careful), variant.built.handle);
    const VkDynamicState viewport = VK_DYNAMIC_STATE_VIEWPORT;
    const VkPipelineDynamicStateCreateInfo dynamic = {.dynamicStateCount = 1,
                                                      .pDynamicStates = &viewport};
    uint64_t left[PM_DYNAMIC_WORDS] = {0};
    pm_pipelines_leave(&pipelines, &dynamic, PM_ALL_STATE, left);
    assert_int_equal(found(pipeline.handle), 0);
    pm_optimize_learn(&pipeline);
    assert_int_equal(found(pipeline.handle), variant.built.handle);
    slot = pm_standing_find(atomic_load(&device.stands), pipeline.handle);
    assert_int_equal(atomic_load(&slot->careful), variant.built.handle);
    pm_pipelines_are_seen(&pipelines);
    assert_int_equal(found(pipeline.handle), 0);
    pm_optimize_learn(&pipeline);
    assert_int_equal(found(pipeline.handle), variant.built.handle);
    slot = pm_standing_find(atomic_load(&device.stands), pipeline.handle);
    assert_int_equal(atomic_load(&slot->careful), pipeline.handle);
    /* Another that leaves the same changes nothing, nor does another pool. */
    pm_pipelines_leave(&pipelines, &dynamic, PM_ALL_STATE, left);
    pm_pipelines_are_seen(&pipelines);
    assert_int_equal(found(pipeline.handle), variant.built.handle);
    pm_standing_forget(&pipeline.stands);
    pm_dynamic_states_finish(&pipelines.dynamic);
    device.pipelines = NULL;
}

/* Handles as drivers give them: pointers to objects of one size, with sizes for which a product's
 * bits alone would be the same again and again; of several sizes; and numbers that go up. */
enum { HANDLES_MIXED = 6, HANDLES_NUMBERS, HANDLES_UPPER, HANDLES };
static uint64_t handle_of(int kind, uint64_t i)
{
    static const uint64_t sizes[HANDLES_MIXED] = {0x350, 0xe30, 0x12d0, 0x1bb0, 0x1f90, 0x1000};
    switch (kind) {
    case HANDLES_MIXED:
        return UINT64_C(0x7f3a10002b40) + i * 0x1e0 + (i * i % 23) * 0x10;
    case HANDLES_NUMBERS:
        return i + 1;
    case HANDLES_UPPER:
        return (i + 1) << 32;
    default:
        return UINT64_C(0x55d0c42a1010) + i * sizes[kind];
    }
}

static double share_with_a_slot(int kind, uint32_t count)
{
    struct pm_pipeline *many = calloc(count, sizeof *many);
    assert_non_null(many);
    uint32_t with = 0;
    for (uint32_t i = 0; i < count; i++)
        begin(&many[i], handle_of(kind, i));
    /* Those that were bound before the table grew come over when they are bound again. */
    for (const void *table = NULL; table != atomic_load(&device.stands);) {
        table = atomic_load(&device.stands);
        for (uint32_t i = 0; i < count; i++)
            pm_optimize_learn(&many[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct pm_pipeline *of = NULL;
        const uint64_t stands = found_of(many[i].handle, &of);
        assert_true(stands == 0 || (stands == many[i].handle && of == &many[i]));
        assert_int_equal(atomic_load(&many[i].stands.now), many[i].handle);
        with += stands != 0;
    }
    const uint32_t homes = atomic_load(&device.stands)->homes;
    for (uint32_t i = 0; i < count; i++)
        pm_standing_forget(&many[i].stands);
    assert_int_equal(atomic_load(&atomic_load(&device.stands)->taken), 0);
    free(many);
    print_message("%u handles of kind %d: %.2f %% in %u homes\n", count, kind, 100.0 * with / count,
                  homes);
    return (double)with / count;
}

static void most_have_a_slot(void **state)
{
    static const uint32_t counts[] = {100, 1000, 4000, 10000};
    for (int kind = 0; kind < HANDLES; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            const double share = share_with_a_slot(kind, counts[i]);
            assert_true(share >= 0.96);
            tear_down(state);
            assert_int_equal(set_up(state), 0);
        }
}

/* The table has grown while a bind was reading the one before: what that says is true. */
static void a_smaller_table_says_nothing_else(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct pm_pipeline *many = calloc(MANY, sizeof *many);
    assert_non_null(many);
    begin(&pipeline, 0x1000);
    pm_optimize_learn(&pipeline);
    const struct pm_standing_table *smaller = atomic_load(&device.stands);
    for (uint32_t i = 0; i < MANY; i++) {
        begin(&many[i], handle_of(HANDLES_MIXED, i));
        pm_optimize_learn(&many[i]);
    }
    assert_ptr_not_equal(smaller, atomic_load(&device.stands));
    assert_non_null(pm_standing_find(smaller, pipeline.handle));
    assert_int_equal(found(pipeline.handle), 0);
    pm_standing_change(device.standing, &pipeline.stands);
    assert_null(pm_standing_find(smaller, pipeline.handle));
    pm_optimize_learn(&pipeline);
    assert_null(pm_standing_find(smaller, pipeline.handle));
    assert_int_equal(found(pipeline.handle), pipeline.handle);
    /* One that has not come over is said until it does, and then in one of them. */
    for (uint32_t i = 0; i < MANY; i++) {
        pm_optimize_learn(&many[i]);
        assert_true(pm_standing_find(smaller, many[i].handle) == NULL);
        pm_standing_forget(&many[i].stands);
    }
    pm_standing_forget(&pipeline.stands);
    free(many);
}

/* VK_NULL_HANDLE stands for itself, whoever came and went. */
static void nothing_is_at_home_nowhere(void **state)
{
    (void)state;
    begin(&pipeline, handle_beside(0));
    assert_int_equal(home_of(pipeline.handle), home_of(0));
    pm_optimize_learn(&pipeline);
    pm_standing_change(device.standing, &pipeline.stands);
    pm_standing_forget(&pipeline.stands);
    assert_int_equal(found(0), 0);
}

/* What changes while a bind finds out: at which of its questions, and who changes it. */
static int questions, changed_at;
static pthread_t changing;
static _Atomic bool changed;

static void *change(void *unused)
{
    (void)unused;
    atomic_store(&pipeline.best, 0);
    pm_standing_change(device.standing, &pipeline.stands);
    atomic_store(&changed, true);
    return NULL;
}

/* Answers what was before the change. The second question is asked under the lock, and then who
 * changes something must wait: he has a while for going wrong. */
static struct pm_stand find_out_late(const struct pm_pipeline *of)
{
    enum { MOST_WAITS = 100 };
    const uint64_t best = atomic_load(&of->best);
    const struct pm_stand now = {.stands = best, .careful = best};
    if (++questions != changed_at)
        return now;
    assert_int_equal(pthread_create(&changing, NULL, change, NULL), 0);
    for (int i = 0; i < MOST_WAITS && !atomic_load(&changed); i++)
        usleep(1000);
    if (changed_at == 1)
        pthread_join(changing, NULL);
    return now;
}

/* Of what has changed while a bind found out, nobody says what was. */
static void changed_while_finding_out(void **state)
{
    (void)state;
    for (changed_at = 1; changed_at <= 2; changed_at++) {
        begin(&pipeline, 0x1000);
        atomic_store(&pipeline.best, variant.built.handle);
        atomic_store(&changed, false);
        questions = 0;
        pm_standing_learn(device.standing, &pipeline.stands, &pipeline, pipeline.handle,
                          find_out_late);
        assert_int_equal(questions, 2);
        if (changed_at == 2)
            pthread_join(changing, NULL);
        assert_int_equal(atomic_load(&pipeline.stands.now), 0);
        assert_int_equal(found(pipeline.handle), 0);
        pm_standing_forget(&pipeline.stands);
    }
}

enum { TURNS = 30000 };
static struct pm_pipeline turning[2];
static _Atomic bool ended;

static void *bind(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; !atomic_load(&ended); i++) {
        struct pm_pipeline *of = &turning[i & 1];
        struct pm_pipeline *said = of;
        const uint64_t stands = found_of(of->handle, &said);
        if (said != of ||
            (stands != 0 && stands != of->handle && (stands != variant.built.handle || i & 1)))
            return of;
        pm_optimize_learn(of);
    }
    return NULL;
}

/* While one thread changes its mind others bind: nobody binds what is another's, and once it was
 * changed nobody says what was. */
static void while_others_bind(void **state)
{
    (void)state;
    pthread_t threads[2];
    begin(&turning[0], 0x1000);
    begin(&turning[1], 0x2000);
    atomic_store(&turning[0].optimized, &variant);
    atomic_store(&variant.bound, true);
    atomic_store(&ended, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bind, NULL), 0);
    for (int i = 0; i < TURNS; i++) {
        const bool used = (i & 1) == 0;
        atomic_store(&turning[0].best, used ? variant.built.handle : 0);
        pm_standing_change(device.standing, &turning[0].stands);
        const uint64_t stands = atomic_load(&turning[0].stands.now),
                       seen = found(turning[0].handle);
        const uint64_t now = used ? variant.built.handle : turning[0].handle;
        assert_true((stands == 0 || stands == now) && (seen == 0 || seen == now));
    }
    atomic_store(&ended, true);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_best, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_there_is_more_to_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_slot_is_of_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_without_waiting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_may_be_put_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(most_have_a_slot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_smaller_table_says_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_at_home_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_while_finding_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(while_others_bind, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
