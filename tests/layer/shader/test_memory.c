/* What the layer's memory of pipelines comes to: a game makes thousands of them, each of a module
 * of its own, and binds few. */
#include "tests/layer/layered.h"
#include "tests/patience.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UP = 32, PIPELINES = 3000, WORDS = 8192 }; /* 32 KiB */

static struct pm_harness h;

/* A field of /proc/self/status, bytes. */
static long status_bytes(const char *field)
{
    char line[128];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field), NULL, 10);
    }
    if (file)
        fclose(file);
    return kib * 1024;
}

static long resident(void)
{
    return status_bytes("RssAnon:") + status_bytes("RssFile:");
}

/* Pipelines whose modules are destroyed as games do; each has words of its own, from `first` on. */
static void make_pipelines(uint32_t first, uint32_t count)
{
    static uint32_t words[WORDS];
    struct pm_harness_pipeline of;
    words[0] = 0x07230203; /* nobody reads further */
    pm_harness_describe(&h, &of);
    for (uint32_t i = first; i < first + count; i++) {
        VkPipeline pipeline;
        words[WORDS - 1] = i;
        of.stages[1].module = pm_harness_make_module(&h, words, sizeof words);
        PM_CHECK(
            h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
        h.vk.DestroyShaderModule(h.device, of.stages[1].module, NULL);
    }
}

/* Waits until threads of ours have done what they had to. */
static void settle(void)
{
    long before = -1;
    uint64_t until = 0;
    for (int same = 0; same < 5 && patience(&until);) {
        const long now = resident();
        same = now == before ? same + 1 : 0;
        before = now;
        usleep(50000);
    }
}

static long allowed; /* bytes; 0: as many as there are */

/* More than before, once threads of ours have written what waits for them: they have the lowest
 * priority, and on a busy machine that is a while. */
static long more_than(long before)
{
    uint64_t until = 0;
    long more;
    do {
        malloc_trim(0);
        more = resident() - before;
    } while (allowed > 0 && more >= allowed && patience(&until));
    return more;
}

/* The bytes that so many pipelines cost the process. The first few bring in the code, our thread's
 * too, of which a kernel may map megabytes at once. */
static long cost_of_pipelines(enum pm_layered how)
{
    (void)how;
    pm_harness_open(&h, NULL);
    make_pipelines(0, WARM_UP);
    settle();
    const long before = resident();
    make_pipelines(WARM_UP, PIPELINES);
    return more_than(before);
}

static void thousands_of_pipelines_are_cheap(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer's own memory grows with what is used */
#endif
    allowed = 0;
    const long without = pm_layered_measure(cost_of_pipelines, PM_LAYER_OFF);
    allowed = without + ((long)8 << 20);
    const long with = pm_layered_measure(cost_of_pipelines, PM_LAYER_IMPLICIT);
    print_message("%d pipelines: %ld KiB without us, %ld KiB with us\n", PIPELINES, without / 1024,
                  with / 1024);
    assert_true(with < allowed);
    /* The words are where the next session finds them. */
    const long again = pm_layered_measure(cost_of_pipelines, PM_LAYER_IMPLICIT);
    assert_true(again < allowed);
}

static void dispatch(VkPipeline pipeline)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
}

/* Whoever tidies up the disk takes a shader's variants, and nothing else; nor is it tried again and
 * again. */
static void words_may_go(void **state)
{
    (void)state;
    char command[200];
    uint64_t until = 0;
    snprintf(command, sizeof command,
             "cd %s/piecemeal/shaders && test $(ls words | grep -vc '[.]new-') -ge 2 && "
             "mv words gone && rm -r gone",
             pm_layered_home());
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    unsetenv("PIECEMEAL_DEBUG_SYNCHRONOUS");
    pm_harness_driver()->hold_compiles(true); /* until the words are gone */
    pm_harness_open(&h, &(struct pm_harness_options){0});
    /* A thread of ours writes them. */
    while (system(command) != 0 && patience(&until))
        usleep(1000);
    pm_harness_driver()->hold_compiles(false);
    while (pm_layered_logged("gets no variant") == 0 && patience(&until))
        dispatch(h.dispatch);
    for (int i = 0; i < 50; i++) {
        dispatch(h.dispatch);
        usleep(2000);
    }
    /* Of either pipeline; that it is not kept for tools may be said, too. */
    assert_in_range(pm_layered_logged("gets no variant"), 1, 2);
    assert_true(pm_layered_logged("words are not there any more") > 0);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(thousands_of_pipelines_are_cheap),
        PM_LAYERED_TEST(words_may_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
