/*
 * Tests of the layer on the null driver: a home of the test's own, the layer's switches, and
 * looking at what reached the driver.
 */
#pragma once

#include "draw_commands.h"
#include "tests/cmocka_includes.h"
#include "tests/null_driver/harness.h"

/* How a test wants the layer. */
enum pm_layered {
    PM_LAYER_OFF,
    PM_LAYER_IMPLICIT, /* PIECEMEAL_ENABLE=1 */
    PM_LAYER_EXPLICIT, /* VK_INSTANCE_LAYERS */
    PM_LAYER_BOTH,
};

/* cmocka's set-up and tear-down: the environment and a temporary home (spool, config, cache),
 * removed again; the driver must have noticed no wrong use, and nothing may be left in it. */
int pm_layered_set_up(void **state);
int pm_layered_tear_down(void **state);
#define PM_LAYERED_TEST(name)                                                                      \
    cmocka_unit_test_setup_teardown(name, pm_layered_set_up, pm_layered_tear_down)

/* Sets the layer's switches for instances made from now on. */
void pm_layered_enable(enum pm_layered how);
/* What `measure` returns in a process of its own, so that nothing that was freed before is used;
 * the null driver records no calls there. */
long pm_layered_measure(long (*measure)(enum pm_layered how), enum pm_layered how);

/* Everything is sampled from the start: q 1, p as given ("1"), instrumented when a pipeline is
 * created. */
void pm_layered_sample_all(const char *probability);

/* The test's home, for looking into its spool and log (log.file is HOME/log). */
const char *pm_layered_home(void);

/* How many lines of the log have the text; 0 while there is no log. */
uint32_t pm_layered_logged(const char *text);

/* A game's allocator: its own calls are known by it, since nothing of ours may use it. */
extern const VkAllocationCallbacks pm_layered_allocator;

/* ---- what reached the driver ---- */

/* The calls since a position whose first argument is the handle, as one line: "vkCmdDraw
 * vkCmdBindPipeline ". The caller frees. */
char *pm_calls_on(const struct pm_null_api *driver, uint64_t since, const void *handle);

/* How many calls of a command there were since a position. */
uint32_t pm_calls_of(const struct pm_null_api *driver, uint64_t since, const char *command);

/* The n-th (from 0) call of a command since a position; fails the test when there is none. */
struct pm_null_call pm_call(const struct pm_null_api *driver, uint64_t since, const char *command,
                            uint32_t n);
