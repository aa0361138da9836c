#include "tests/layer/trial/steady_sessions.h"

#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMES = 10 /* of a use that are enough for a session that ends then; it takes up to 64 */ };

struct steady steady;

void steady_set_seed(int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv("PIECEMEAL_SAMPLER_SEED", text, 1);
}

void steady_submit(VkCommandBuffer buffer)
{
    steady.submissions += STEADY_SUBMISSIONS;
    for (int i = 0; i < STEADY_SUBMISSIONS; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
}

/* Times that were asked for since a position, each of a later submission. The layer asks ever more
 * rarely, up to each 20 ms. */
static uint32_t times_since(uint64_t *position, bool *submitted)
{
    uint32_t count = 0;
    struct pm_null_call call;
    for (; trying.h.driver->read(*position, &call); (*position)++) {
        if (strcmp(call.command, "vkQueueWaitIdle") == 0)
            *submitted = true;
        if (strcmp(call.command, "vkGetQueryPoolResults") != 0 || !*submitted)
            continue;
        *submitted = false;
        count++;
    }
    return count;
}

/* Until the session says something when it ends. */
static void submit_until_timed(VkCommandBuffer buffer)
{
    uint64_t until = 0, position = trying.h.driver->position();
    bool submitted = false;
    uint32_t times = 0;
    do
        steady_submit(buffer);
    while ((times += times_since(&position, &submitted)) < TIMES && patience(&until));
    assert_true(times >= TIMES);
}

int steady_record(bool draws, VkCommandBuffer *out)
{
    *out = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = trying.h.driver->position();
    pm_harness_begin(&trying.h, *out, 0);
    if (draws)
        trying_draw(*out);
    else
        trying_dispatch(*out);
    PM_CHECK(trying.h.vk.EndCommandBuffer(*out));
    return (int)trying_foreign_binds(position);
}

void steady_open(uint64_t variant_cost, bool draws)
{
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    trying.dispatches = true;
    trying.background = true;
    trying.variant_cost = variant_cost;
    pm_harness_open(&trying.h, NULL);
    if (draws)
        trying.graphics = optimized_graphics(&trying.h);
    else
        trying.compute = optimized_compute(&trying.h);
    trying_costs();
}

int steady_session(uint64_t variant_cost, bool draws, const char *until_logged)
{
    steady_open(variant_cost, draws);
    VkCommandBuffer buffer, later;
    const int variant = steady_record(draws, &buffer);
    const uint32_t logged = optimized_logged(until_logged), withdrawn = optimized_logged(WITHDRAWN);
    const bool is_timed = strcmp(until_logged, SESSION_TIMED) == 0;
    uint64_t until = 0;
    steady_submit(buffer);
    if (is_timed)
        submit_until_timed(buffer);
    while (!is_timed && until_logged[0] && optimized_logged(until_logged) == logged &&
           patience(&until))
        steady_submit(buffer);
    steady_submit(buffer);
    while (steady.until_enough && optimized_logged(SESSION_TIMED) == logged && patience(&until))
        steady_submit(buffer);
    for (int i = 0; i < steady.further; i += STEADY_SUBMISSIONS)
        steady_submit(buffer);
    usleep(trying.linger);
    if (steady.before_end != NULL)
        steady.before_end(buffer);
    if (is_timed)
        assert_int_equal(steady_record(draws, &later),
                         optimized_logged(WITHDRAWN) > withdrawn ? 0 : variant);
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
    trying_close();
    if (is_timed)
        optimized_assert_logged(SESSION_TIMED, logged + 1);
    return variant;
}
