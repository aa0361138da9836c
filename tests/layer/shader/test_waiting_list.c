/* Pipelines that wait (waiting.h): each once, whoever puts it. */
#include "layer/shader/waiting.h"

#include "tests/cmocka_includes.h"

/* More references than anyone here lets go of. */
static struct pm_pipeline pipelines[2] = {{.references = 100}, {.references = 100}};

static void a_pipeline_waits_once(void **state)
{
    (void)state;
    struct pm_waiting waiting;
    pm_waiting_init(&waiting);
    pm_waiting_put(&waiting, &pipelines[0], true);
    pm_waiting_put(&waiting, &pipelines[1], false);
    assert_true(pm_waiting_try_put(&waiting, &pipelines[1]));
    /* It was for lack of room alone, and is not any more. */
    pm_waiting_put(&waiting, &pipelines[0], false);
    pm_waiting_put(&waiting, &pipelines[0], true);
    assert_int_equal(waiting.count, 2);
    assert_int_equal(waiting.held, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pipelines[i].references, 101);
        assert_non_null(pm_waiting_take(&waiting, false));
        pm_pipeline_release(&pipelines[i]);
    }
    assert_null(pm_waiting_take(&waiting, true));
    assert_false(pm_waiting_any(&waiting, true));
    pm_waiting_finish(&waiting);
}

/* One that the game destroys while it waits, put twice. */
static void what_is_gone_waits_no_more(void **state)
{
    (void)state;
    struct pm_waiting waiting;
    pm_waiting_init(&waiting);
    pm_waiting_put(&waiting, &pipelines[0], true);
    pm_waiting_put(&waiting, &pipelines[0], true);
    assert_int_equal(waiting.held, 1);
    pm_waiting_remove(&waiting, &pipelines[0]);
    assert_int_equal(waiting.count, 0);
    assert_int_equal(waiting.held, 0);
    assert_int_equal(pipelines[0].references, 100);
    pm_waiting_finish(&waiting);
}

/* Whoever takes it from the list finds that it waits: it may be made, and have another wish, before
 * the bind that put it goes on. */
static void it_waits_before_it_can_be_taken(void **state)
{
    (void)state;
    struct pm_waiting waiting;
    pm_waiting_init(&waiting);
    atomic_store(&pipelines[0].wish, PM_WISH_TOLD);
    pthread_mutex_lock(&waiting.lock);
    assert_false(pm_waiting_try_put(&waiting, &pipelines[0]));
    assert_int_equal(atomic_load(&pipelines[0].wish), PM_WISH_TOLD);
    pthread_mutex_unlock(&waiting.lock);
    assert_true(pm_waiting_try_put(&waiting, &pipelines[0]));
    assert_int_equal(atomic_load(&pipelines[0].wish), PM_WISH_WAITING);
    pm_waiting_remove(&waiting, &pipelines[0]);
    pm_waiting_finish(&waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_waits_once),
        cmocka_unit_test(what_is_gone_waits_no_more),
        cmocka_unit_test(it_waits_before_it_can_be_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
