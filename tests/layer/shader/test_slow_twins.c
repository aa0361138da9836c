/* Variants that turn slow (slow_later.h): what is to be bound for them, and what is said when they
 * are dropped: without the lock, for which binds would wait as long as a log takes. */
#include "layer/shader/slow_later.h"

#include "layer/shader/specialized.h"
#include "tests/cmocka_includes.h"
#include <string.h>

enum { FROM = 10, TWINS = 3, MEASURED = 2 /* one of a contest's */ };

static struct pm_instance instance;
static struct pm_device device = {.instance = &instance};
static struct pm_slow_later *later;
static struct pm_specialized_shader shader;
static struct pm_candidate variants[TWINS];
static struct pm_slow_twin *twins[TWINS];
static uint32_t said, dropped, locked /* messages, and those with the lock */;

static void hear(void *user, enum pm_log_level level, const char *message)
{
    (void)user;
    (void)level;
    said++;
    dropped += strstr(message, "that turned slow is dropped") != NULL;
    if (pthread_mutex_trylock(&later->lock) == 0)
        pthread_mutex_unlock(&later->lock);
    else
        locked++;
}

static void measured(struct pm_candidate *candidate, const struct pm_anytime *seen)
{
    (void)candidate;
    (void)seen;
}

static VKAPI_ATTR void VKAPI_CALL destroy(VkDevice of, VkPipeline pipeline,
                                          const VkAllocationCallbacks *allocator)
{
    (void)of;
    (void)pipeline;
    (void)allocator;
}

static int set_up(void **state)
{
    (void)state;
    said = dropped = locked = 0;
    device.dispatch.DestroyPipeline = destroy;
    instance.config.debug.slow_from = FROM;
    instance.log = pm_log_create(NULL, -1, PM_LOG_DEBUG, NULL);
    pm_log_set_callback(instance.log, hear, NULL);
    later = pm_slow_later_create(&device);
    assert_non_null(later);
    for (uint32_t i = 0; i < TWINS; i++) {
        variants[i] = (struct pm_candidate){.handle = 1 + i, .shader = &shader};
        variants[i].measured = i == MEASURED ? measured : NULL;
        struct pm_built built = {.handle = 101 + i};
        twins[i] = pm_slow_later_add(later, &variants[i], &built);
        assert_non_null(twins[i]);
        assert_int_equal(built.handle, 0);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TWINS; i++)
        pm_slow_twin_destroy(later, twins[i]);
    pm_slow_later_destroy(later);
    pm_log_destroy(instance.log);
    return 0;
}

static void a_twin_is_bound_once_it_turns(void **state)
{
    (void)state;
    pm_slow_later_heartbeat(later, FROM - 1);
    assert_int_equal(pm_slow_later_bound(later, 1), 1);
    assert_int_equal(said, 0);
    pm_slow_later_heartbeat(later, FROM);
    assert_int_equal(pm_slow_later_bound(later, 1), 101);
    assert_int_equal(pm_slow_later_bound(later, 7), 7);
    assert_int_equal(said, 1);
}

/* Each once, but what was dropped before it turned, and what lost a contest. */
static void what_is_dropped_is_said_without_the_lock(void **state)
{
    (void)state;
    atomic_store(&variants[0].dropped, true);
    pm_slow_later_heartbeat(later, FROM);
    assert_int_equal(dropped, 0);
    atomic_store(&variants[1].dropped, true);
    atomic_store(&variants[MEASURED].dropped, true);
    pm_slow_later_heartbeat(later, FROM + 1);
    pm_slow_later_heartbeat(later, FROM + 2);
    assert_int_equal(dropped, 1);
    assert_int_equal(said, 2);
    assert_int_equal(locked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_twin_is_bound_once_it_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_dropped_is_said_without_the_lock, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
