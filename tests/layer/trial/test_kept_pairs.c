/* A trial that is not over when its session ends goes on in the next one
 * (layer/trial/pair_list.h). */
#include "tests/layer/trial/trying.h"

#include "base/file.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wide enough that so many pairs decide nothing. */
#define NOISE 0.95
enum { FRAMES = 2 * 28 };

static struct {
    char path[300];
    uint32_t count;
} found;

static void look(void *user, const char *path)
{
    (void)user;
    snprintf(found.path, sizeof found.path, "%s", path);
    found.count++;
}

/* How many files of pairs there are; found.path is one of them. */
static uint32_t files(void)
{
    char folder[200];
    snprintf(folder, sizeof folder, "%s/piecemeal/trials", pm_layered_home());
    found.count = 0;
    pm_folder_each(folder, "", look, NULL);
    return found.count;
}

static void open_session(double noise)
{
    trying.dispatches = true;
    trying_open(80000, NULL);
    trying.noise = noise;
}

/* A session that is too short for its trial. */
static void a_short_session(void)
{
    open_session(NOISE);
    trying_run_frames(trying_dispatch, TRYING_ONCE, FRAMES);
    trying_close();
    optimized_assert_logged("tried a specialized shader", 0);
}

static void the_next_session_goes_on(void **state)
{
    (void)state;
    a_short_session();
    assert_int_equal(files(), 1);
    a_short_session();
    assert_int_equal(files(), 1);
    optimized_assert_logged("goes on behind", 1);
    open_session(0);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged("goes on behind", 2);
    /* 8 would have been enough of this session's alone. */
    optimized_assert_logged(" 8 pairs", 0);
    /* It is over: the verdict is what is kept. */
    uint64_t until = 0;
    while (files() > 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    assert_int_equal(files(), 0);
    trying_close();
    assert_int_equal(files(), 0);
}

/* As one that was not there. */
static void what_is_damaged_is_timed_again(void **state)
{
    (void)state;
    a_short_session();
    assert_int_equal(files(), 1);
    FILE *file = fopen(found.path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -3, SEEK_END), 0);
    const int was = fgetc(file);
    assert_int_equal(fseek(file, -3, SEEK_END), 0);
    assert_int_equal(fputc(was ^ 0x55, file), was ^ 0x55);
    fclose(file);
    open_session(0);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged("goes on behind", 0);
    optimized_assert_logged(" 8 pairs", 1);
    trying_close();
}

/* What another driver took says nothing of this one. */
static void another_driver_begins_anew(void **state)
{
    (void)state;
    a_short_session();
    setenv("PM_NULL_DRIVER_INFO", "Mesa 25.0.8", 1);
    open_session(0);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged("goes on behind", 0);
    trying_close();
}

/* What is used already stays bound whether its second trial ends or not: that one is of now. */
static void what_is_tried_again_keeps_none(void **state)
{
    (void)state;
    open_session(0);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying.noise = NOISE;
    for (int i = 0; i < 1 << 14; i++)
        PM_CHECK(trying.h.vk.QueueSubmit(trying.h.queue, 0, NULL, VK_NULL_HANDLE));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, FRAMES);
    assert_true(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") > 0);
    trying_close();
    optimized_assert_logged("tried a specialized shader", 1);
    assert_int_equal(files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_next_session_goes_on),
        PM_LAYERED_TEST(what_is_damaged_is_timed_again),
        PM_LAYERED_TEST(another_driver_begins_anew),
        PM_LAYERED_TEST(what_is_tried_again_keeps_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
