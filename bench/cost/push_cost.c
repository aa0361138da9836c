/*
 * push_cost KIND COUNT: records COUNT of something around push constants on the null driver, under
 * whatever layers the environment asks for. bench/cost/push_cost.sh counts its instructions at two
 * counts; the difference is what one more costs.
 *
 *     learn        a session of its own: COUNT dispatches with the words that are usual
 *     word         a push of one word that variants watch, to another value; never the usual one
 *     words        a push of four words, of which one changes that variants watch; likewise
 *     fits         a push of four words; those that variants watch stay the usual ones
 *     turns        a push of four words, the usual ones and others in turn
 *     beside       a push of four words that nobody watches
 *     dispatch     behind a push of the usual words
 *     bind         a pipeline, behind a push of the usual words
 *     others       two pipelines in turn that have no variants
 *     buffer       a command buffer begun and ended, for one submission that never comes
 *     execute      a secondary command buffer
 */
#include "tests/null_driver/harness.h"

#include "mode.comp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of mode.comp, and as many that it does not have. */
struct words {
    int32_t mode, taps;
    float strength, scale;
    int32_t more[12];
};

struct recording {
    struct pm_harness *harness;
    VkCommandBuffer buffer, secondary;
    VkPipelineLayout layout;
    VkPipeline moded, others[2];
};

enum { WORD = sizeof(int32_t), USUAL = 1 };

static void push(const struct recording *r, const struct words *words, uint32_t first,
                 uint32_t count)
{
    r->harness->vk.CmdPushConstants(r->buffer, r->layout, VK_SHADER_STAGE_COMPUTE_BIT, WORD * first,
                                    WORD * count, (const char *)words + (size_t)WORD * first);
}

static void push_mode(const struct recording *r, int32_t mode, float scale, uint32_t count)
{
    const struct words words = {mode, 3, 0.5f, scale, {0}};
    push(r, &words, 0, count);
}

static void do_word(const struct recording *r, unsigned long i)
{
    push_mode(r, USUAL + 1 + (int32_t)(i & 1), 2, 1);
}

static void do_words(const struct recording *r, unsigned long i)
{
    push_mode(r, USUAL + 1 + (int32_t)(i & 1), 2, 4);
}

static void do_fits(const struct recording *r, unsigned long i)
{
    push_mode(r, USUAL, (float)(i & 7), 4);
}

static void do_turns(const struct recording *r, unsigned long i)
{
    push_mode(r, USUAL + (int32_t)(i & 1), 2, 4);
}

static void do_beside(const struct recording *r, unsigned long i)
{
    const struct words words = {.more = {(int32_t)i}};
    push(r, &words, 4, 4);
}

static void do_dispatch(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdDispatch(r->buffer, 1, 1, 1);
}

static void bind(const struct recording *r, VkPipeline pipeline)
{
    r->harness->vk.CmdBindPipeline(r->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
}

static void do_bind(const struct recording *r, unsigned long i)
{
    (void)i;
    bind(r, r->moded);
}

static void do_others(const struct recording *r, unsigned long i)
{
    bind(r, r->others[i & 1]);
}

static void do_buffer(const struct recording *r, unsigned long i)
{
    (void)i;
    pm_harness_begin(r->harness, r->buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    r->harness->vk.EndCommandBuffer(r->buffer);
}

static void do_execute(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdExecuteCommands(r->buffer, 1, &r->secondary);
}

static const struct {
    const char *name;
    void (*once)(const struct recording *r, unsigned long i);
    bool alone; /* not inside a recording */
} kinds[] = {
    {"learn", do_dispatch, false},    {"word", do_word, false},       {"words", do_words, false},
    {"fits", do_fits, false},         {"turns", do_turns, false},     {"beside", do_beside, false},
    {"dispatch", do_dispatch, false}, {"bind", do_bind, false},       {"others", do_others, false},
    {"buffer", do_buffer, true},      {"execute", do_execute, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void make(struct recording *r)
{
    struct pm_harness *h = r->harness;
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct words)};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &h->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    PM_CHECK(h->vk.CreatePipelineLayout(h->device, &layout, NULL, &r->layout));
    r->moded = pm_harness_compute_of(h, mode_comp, sizeof mode_comp, r->layout);
    r->others[0] = h->dispatch;
    r->others[1] = pm_harness_make_compute(h);
    r->buffer = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    r->secondary = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    pm_harness_begin(h, r->secondary, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    PM_CHECK(h->vk.EndCommandBuffer(r->secondary));
}

static void record(struct recording *r, int kind, unsigned long count)
{
    struct pm_harness *h = r->harness;
    if (!kinds[kind].alone) {
        pm_harness_begin(h, r->buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(h, r->buffer);
        bind(r, r->moded);
        push_mode(r, USUAL, 2, 4);
    }
    for (unsigned long i = 0; i < count; i++)
        kinds[kind].once(r, i);
    if (!kinds[kind].alone) {
        PM_CHECK(h->vk.EndCommandBuffer(r->buffer));
        pm_harness_submit(h, h->queue, r->buffer, VK_NULL_HANDLE);
    }
    PM_CHECK(h->vk.QueueWaitIdle(h->queue));
}

int main(int argc, char **argv)
{
    int kind = 0;
    while (argc == 3 && kind < KINDS && strcmp(argv[1], kinds[kind].name) != 0)
        kind++;
    if (argc != 3 || kind == KINDS) {
        fprintf(stderr, "usage: push_cost KIND COUNT (see push_cost.c)\n");
        return 2;
    }
    setenv("VK_DRIVER_FILES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("VK_ICD_FILENAMES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("PM_NULL_RECORD", "0", 1);
    struct pm_harness harness;
    struct recording r = {.harness = &harness};
    pm_harness_open(&harness, NULL);
    make(&r);
    record(&r, kind, strtoul(argv[2], NULL, 10));
    harness.vk.DestroyPipeline(harness.device, r.moded, NULL);
    harness.vk.DestroyPipeline(harness.device, r.others[1], NULL);
    harness.vk.DestroyPipelineLayout(harness.device, r.layout, NULL);
    pm_harness_close(&harness);
    return 0;
}
