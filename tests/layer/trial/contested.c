#include "tests/layer/trial/contested.h"

#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct contested contested;

uint32_t contested_index(VkPipeline pipeline)
{
    uint32_t i = 0;
    while (i < contested.count && contested.pipelines[i] != pipeline)
        i++;
    if (i == contested.count && i < CONTESTED_MOST) {
        contested.pipelines[contested.count++] = pipeline;
        if (contested.first)
            contested.first(i);
    }
    return i < CONTESTED_MOST ? i : CONTESTED_MOST - 1;
}

static uint64_t cost(void *user, VkPipeline pipeline)
{
    (void)user;
    const uint32_t i = contested_index(pipeline);
    contested.calls[i]++;
    const double other = contested.other ? contested.other(i) : 0;
    const double time = other > 0 ? other : contested.times[i];
    return (uint64_t)(TRYING_ORIGINAL * (time > 0 ? time : 1) *
                      (1 + contested.noise * (2 * pm_random_unit(&contested.random) - 1)));
}

void contested_open_with(const struct contested_session *session)
{
    contested.count = 0;
    memset(contested.calls, 0, sizeof contested.calls);
    pm_random_init(&contested.random, 5);
    trying_open_contests(session->options);
    trying.h.driver->set_callback(session->see, NULL);
    if (session->faults)
        assert_true(trying.h.driver->inject(session->faults));
    trying.compute = session->words ? pm_harness_compute_of(&trying.h, session->words,
                                                            session->size, trying.h.layout)
                                    : optimized_compute(&trying.h);
    contested_index(trying.compute);
    trying.h.driver->set_cost(cost, NULL);
}

void contested_open(void)
{
    contested_open_with(&(struct contested_session){0});
}

void contested_close(void)
{
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.driver->set_callback(NULL, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    trying_close_contests();
    contested.first = NULL;
    contested.other = NULL;
}

void contested_set_times(double variants)
{
    contested.times[0] = 1;
    for (uint32_t i = 1; i < CONTESTED_MOST; i++)
        contested.times[i] = variants;
    contested.noise = 0;
}

uint32_t contested_bound(void)
{
    return contested_index(
        optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE));
}

bool contested_run_until(const char *text)
{
    return trying_run_until(trying_dispatch, TRYING_ONCE, text);
}

void contested_run_until_logged(const char *text, uint32_t times)
{
    uint64_t until = 0;
    while (optimized_logged(text) < times && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    optimized_assert_logged(text, times);
}

void contested_run_until_count(uint32_t count)
{
    uint64_t until = 0;
    while (contested.count < count && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
}

void contested_run_to_the_end(void)
{
    uint64_t until = 0;
    while (optimized_logged("the fastest is") + optimized_logged("none is faster") == 0 &&
           patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    assert_int_equal(optimized_logged("the fastest is") + optimized_logged("none is faster"), 1);
}

void contested_forget(void)
{
    char command[512];
    snprintf(command, sizeof command, "cd '%s' && rm -rf log piecemeal/journal piecemeal/spool",
             pm_layered_home());
    assert_int_equal(system(command), 0);
}

uint32_t contested_variants(const char *before)
{
    for (uint32_t n = 1; n < CONTESTED_MOST; n++) {
        char text[64];
        snprintf(text, sizeof text, "%sof %u variants", before, n);
        if (optimized_logged(text) > 0)
            return n;
    }
    return 0;
}
