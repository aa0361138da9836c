/* What stands for a pipeline (standing.h): said only while a bind has nothing else to do, and taken
 * back by whatever changes; the home of a handle is one pipeline's alone. */
#include "layer/shader/optimize.h"

#include "tests/cmocka_includes.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct pm_device device;
static struct pm_optimized variant = {.built = {.handle = 0x5000}},
                           over = {.built = {.handle = 0x6000}};
static struct pm_pipeline pipeline;

static void begin(struct pm_pipeline *of, uint64_t handle)
{
    memset(of, 0, sizeof *of);
    of->device = &device;
    of->handle = handle;
}

/* What the shortest way finds, with the pipeline that it is of; 0: nothing. */
static uint64_t found_of(uint64_t handle, struct pm_pipeline **of)
{
    const struct pm_standing_slot *slot = pm_standing_slot(device.standing, handle);
    if (atomic_load(&slot->game) != handle)
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
    /* A thread that holds the lock is not waited for. */
    pthread_mutex_lock(&device.standing->lock);
    pm_optimize_learn(&pipeline);
    pthread_mutex_unlock(&device.standing->lock);
    assert_int_equal(atomic_load(&pipeline.stands.now), 0);
    expect(pipeline.handle);
}

/* Another handle with the same home. */
static uint64_t handle_beside(uint64_t handle)
{
    uint64_t other = handle + 1;
    while (pm_standing_home(other) != pm_standing_home(handle))
        other++;
    return other;
}

static void a_home_is_of_one(void **state)
{
    (void)state;
    struct pm_pipeline other;
    begin(&pipeline, 0x1000);
    begin(&other, handle_beside(pipeline.handle));
    pm_optimize_learn(&pipeline);
    pm_optimize_learn(&other);
    assert_int_equal(found(pipeline.handle), pipeline.handle);
    assert_int_equal(found(other.handle), 0);
    assert_int_equal(atomic_load(&other.stands.now), other.handle);
    /* Nothing is said of it, and the home is its own still. */
    pm_standing_change(device.standing, &pipeline.stands);
    pm_standing_change(device.standing, &other.stands);
    pm_optimize_learn(&other);
    assert_int_equal(found(other.handle), 0);
    pm_standing_forget(device.standing, &pipeline.stands);
    pm_optimize_learn(&other);
    assert_int_equal(found(other.handle), other.handle);
    /* That it is forgotten once more takes nothing from who has it now. */
    pm_standing_forget(device.standing, &pipeline.stands);
    assert_int_equal(found(other.handle), other.handle);
    pm_standing_forget(device.standing, &other.stands);
    assert_int_equal(found(other.handle), 0);
}

/* VK_NULL_HANDLE stands for itself, whoever came and went. */
static void nothing_is_at_home_nowhere(void **state)
{
    (void)state;
    begin(&pipeline, handle_beside(0));
    pm_optimize_learn(&pipeline);
    pm_standing_change(device.standing, &pipeline.stands);
    pm_standing_forget(device.standing, &pipeline.stands);
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
static uint64_t find_out_late(const struct pm_pipeline *of)
{
    enum { MOST_WAITS = 100 };
    const uint64_t now = atomic_load(&of->best);
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
        pm_standing_forget(device.standing, &pipeline.stands);
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

static int set_up(void **state)
{
    (void)state;
    device.standing = pm_standing_create();
    return device.standing != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pm_standing_destroy(device.standing);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_best, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_there_is_more_to_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_home_is_of_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_at_home_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_while_finding_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(while_others_bind, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
