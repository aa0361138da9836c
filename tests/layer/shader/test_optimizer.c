/* What a bind asks of the optimizer (layer/shader/optimize.h), which waits for no one. */
#include "layer/shader/optimize.h"
#include "layer/shader/optimizer.h"

#include "tests/cmocka_includes.h"

static struct pm_instance instance;
static struct pm_optimizer optimizer;
static struct pm_device device = {.instance = &instance, .optimizer = &optimizer};
static struct pm_pipeline pipeline = {.device = &device, .references = 1};

static void run(struct pm_job *job)
{
    (void)job;
}

static int set_up(void **unused)
{
    (void)unused;
    instance.config.limits.variants = 8;
    instance.config.limits.compile_threads = 1;
    instance.config.limits.background_share = 1;
    device.compiler = pm_compiler_create(&device);
    optimizer.device = &device;
    optimizer.job = (struct pm_job){.run = run, .drop = run, .always = true};
    pthread_mutex_init(&optimizer.lock, NULL);
    pm_waiting_init(&optimizer.waiting);
    return device.compiler ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    pm_compiler_destroy(device.compiler);
    pthread_mutex_destroy(&optimizer.lock);
    return 0;
}

static void bind_once(void)
{
    pm_optimize_notice(&pipeline);
}

static void a_bind_waits_for_nobody(void **unused)
{
    (void)unused;
    atomic_store(&pipeline.wish, PM_WISH_BOUND);
    /* Somebody looks at all that wait: a later bind tries again. */
    pthread_mutex_lock(&optimizer.waiting.lock);
    bind_once();
    pthread_mutex_unlock(&optimizer.waiting.lock);
    assert_int_equal(atomic_load(&pipeline.wish), PM_WISH_BOUND);
    /* Somebody looks at what there is to do: the job is due. */
    pthread_mutex_lock(&optimizer.lock);
    bind_once();
    pthread_mutex_unlock(&optimizer.lock);
    assert_int_equal(atomic_load(&pipeline.wish), PM_WISH_WAITING);
    assert_true(atomic_load(&optimizer.due) && !optimizer.queued);
    assert_ptr_equal(pm_waiting_take(&optimizer.waiting, true), &pipeline);
    /* Nobody does. */
    atomic_store(&optimizer.due, false);
    atomic_store(&pipeline.heat, 0);
    atomic_store(&pipeline.wish, PM_WISH_BOUND);
    bind_once();
    assert_int_equal(atomic_load(&pipeline.wish), PM_WISH_WAITING);
    assert_true(!atomic_load(&optimizer.due) && optimizer.queued);
    assert_ptr_equal(pm_waiting_take(&optimizer.waiting, true), &pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bind_waits_for_nobody)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
