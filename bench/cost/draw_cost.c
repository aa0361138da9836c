/*
 * draw_cost KIND COUNT: records or submits COUNT of something on the null driver, under whatever
 * layers the environment asks for. bench/cost/draw_cost.sh counts its instructions at two counts;
 * the difference is what one more costs.
 *
 *     draw, dispatch      in one command buffer
 *     odraw               a draw with the second of two pipelines that share a shader
 *     kdraw               likewise, in one that may be submitted again
 *     ksubmit             a submission of such a one with HELD draws, once more
 *     bind                a compute pipeline, the same again and again
 *     bind2, gbind2       two compute or graphics pipelines in turn
 *     kbind2, kgbind2     the same in a recording that may be submitted again
 *     qbind2, qgbind2     the same where a query of pipeline statistics might begin
 *     object              a compute shader object, the same again and again
 *     gobject2            two pairs of vertex and fragment shader objects in turn
 *     occlusion           an occlusion query, begun and ended
 *     qoccluded           a bind as in qbind2, and such a query
 *     pass, rendering     a render pass, or dynamic rendering, begun and ended
 *     execute             a secondary command buffer, where it is known that the game records anew
 *     early               the same where it is not yet
 *     buffer              a command buffer begun and ended, for one submission that never comes
 *     reset               the same with a reset between
 *     sbuffer, sreset     both with a secondary one
 *     ubuffer             a primary one with SIMULTANEOUS_USE, not said to be for one submission
 *     qbuffer             with a bind in it, where a query of pipeline statistics might begin
 *     frame               a submission of a command buffer with a bind and a hundred draws
 */
#include "tests/null_driver/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recording {
    struct pm_harness *harness;
    VkCommandBuffer buffer, secondary, kept;
    VkPipeline compute[2], graphics[2];
    VkShaderEXT dispatched, drawn[2][2]; /* vertex, fragment; where a kind has objects */
    VkQueryPool queries;
};

static void do_draw(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdDraw(r->buffer, 3, 1, 0, 0);
}

static void do_dispatch(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdDispatch(r->buffer, 1, 1, 1);
}

static void do_submit(const struct recording *r, unsigned long i)
{
    (void)i;
    pm_harness_submit(r->harness, r->harness->queue, r->kept, VK_NULL_HANDLE);
    PM_CHECK(r->harness->vk.QueueWaitIdle(r->harness->queue));
}

static void do_bind(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdBindPipeline(r->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, r->compute[0]);
}

static void do_bind2(const struct recording *r, unsigned long i)
{
    r->harness->vk.CmdBindPipeline(r->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, r->compute[i & 1]);
}

static void do_gbind2(const struct recording *r, unsigned long i)
{
    r->harness->vk.CmdBindPipeline(r->buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, r->graphics[i & 1]);
}

static void do_object(const struct recording *r, unsigned long i)
{
    static const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
    (void)i;
    r->harness->vk.CmdBindShadersEXT(r->buffer, 1, &stage, &r->dispatched);
}

static void do_gobject2(const struct recording *r, unsigned long i)
{
    static const VkShaderStageFlagBits stages[2] = {VK_SHADER_STAGE_VERTEX_BIT,
                                                    VK_SHADER_STAGE_FRAGMENT_BIT};
    r->harness->vk.CmdBindShadersEXT(r->buffer, 2, stages, r->drawn[i & 1]);
}

static void do_occlusion(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdBeginQuery(r->buffer, r->queries, 0, 0);
    r->harness->vk.CmdEndQuery(r->buffer, r->queries, 0);
}

static void do_occluded(const struct recording *r, unsigned long i)
{
    do_bind2(r, i);
    do_occlusion(r, i);
}

static void do_pass(const struct recording *r, unsigned long i)
{
    (void)i;
    pm_harness_begin_pass(r->harness, r->buffer);
    r->harness->vk.CmdEndRenderPass(r->buffer);
}

static void do_rendering(const struct recording *r, unsigned long i)
{
    (void)i;
    const VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = r->harness->view};
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &color};
    r->harness->vk.CmdBeginRendering(r->buffer, &info);
    r->harness->vk.CmdEndRendering(r->buffer);
}

static void do_execute(const struct recording *r, unsigned long i)
{
    (void)i;
    r->harness->vk.CmdExecuteCommands(r->buffer, 1, &r->secondary);
}

static void do_buffer(const struct recording *r, unsigned long i)
{
    (void)i;
    pm_harness_begin(r->harness, r->buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    r->harness->vk.EndCommandBuffer(r->buffer);
}

static void do_reset(const struct recording *r, unsigned long i)
{
    do_buffer(r, i);
    r->harness->vk.ResetCommandBuffer(r->buffer, 0);
}

static void do_sbuffer(const struct recording *r, unsigned long i)
{
    (void)i;
    pm_harness_begin(r->harness, r->secondary,
                     VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT |
                         VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
    r->harness->vk.EndCommandBuffer(r->secondary);
}

static void do_sreset(const struct recording *r, unsigned long i)
{
    do_sbuffer(r, i);
    r->harness->vk.ResetCommandBuffer(r->secondary, 0);
}

static void do_ubuffer(const struct recording *r, unsigned long i)
{
    (void)i;
    pm_harness_begin(r->harness, r->buffer, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    r->harness->vk.EndCommandBuffer(r->buffer);
}

static void do_qbuffer(const struct recording *r, unsigned long i)
{
    pm_harness_begin(r->harness, r->buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    do_gbind2(r, i);
    r->harness->vk.EndCommandBuffer(r->buffer);
}

static const struct {
    const char *name;
    void (*once)(const struct recording *r, unsigned long i);
    bool in_pass, alone; /* inside a render pass; not inside a recording */
    bool objects;        /* with VK_EXT_shader_object */
    bool kept;           /* the recording may be submitted again */
    bool queries;        /* the game may ask for pipeline statistics, and never does */
    bool second;         /* drawn with the second pipeline */
    bool submits;        /* a recording of HELD draws, made before */
    bool late;           /* the game has recorded so much that it is known to record anew */
} kinds[] = {
    {"draw", do_draw, true, false},
    {"odraw", do_draw, true, false, .second = true},
    {"dispatch", do_dispatch, false, false},
    {"kdraw", do_draw, true, false, .kept = true},
    {"ksubmit", do_submit, false, true, .submits = true},
    {"bind", do_bind, false, false},
    {"bind2", do_bind2, false, false},
    {"gbind2", do_gbind2, false, false},
    {"kbind2", do_bind2, false, false, false, true},
    {"kgbind2", do_gbind2, false, false, false, true},
    {"qbind2", do_bind2, false, false, .queries = true},
    {"qgbind2", do_gbind2, false, false, .queries = true},
    {"occlusion", do_occlusion, false, false},
    {"qoccluded", do_occluded, false, false, .queries = true},
    {"pass", do_pass, false, false},
    {"rendering", do_rendering, false, false},
    {"execute", do_execute, false, false, .late = true},
    {"early", do_execute, false, false},
    {"buffer", do_buffer, false, true},
    {"reset", do_reset, false, true},
    {"sbuffer", do_sbuffer, false, true, .late = true},
    {"sreset", do_sreset, false, true, .late = true},
    {"ubuffer", do_ubuffer, false, true, .late = true},
    {"qbuffer", do_qbuffer, false, true, .queries = true, .late = true},
    {"object", do_object, false, false, true},
    {"gobject2", do_gobject2, false, false, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Recordings after which a layer need not learn any more. */
enum { RECORDED = 1100 };

static void make(struct recording *r)
{
    struct pm_harness *h = r->harness;
    r->buffer = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    r->secondary = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    r->compute[0] = h->dispatch;
    r->graphics[0] = h->graphics;
    r->compute[1] = pm_harness_make_compute(h);
    r->graphics[1] = pm_harness_make_graphics(h);
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_OCCLUSION,
                                           .queryCount = 1};
    PM_CHECK(h->vk.CreateQueryPool(h->device, &queries, NULL, &r->queries));
    pm_harness_begin(h, r->secondary, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    PM_CHECK(h->vk.EndCommandBuffer(r->secondary));
}

static void make_objects(struct recording *r)
{
    r->dispatched = pm_harness_make_object(r->harness, VK_SHADER_STAGE_COMPUTE_BIT);
    for (int i = 0; i < 2; i++) {
        r->drawn[i][0] = pm_harness_make_object(r->harness, VK_SHADER_STAGE_VERTEX_BIT);
        r->drawn[i][1] = pm_harness_make_object(r->harness, VK_SHADER_STAGE_FRAGMENT_BIT);
    }
}

static void finish(struct recording *r)
{
    struct pm_harness *h = r->harness;
    for (int i = 0; r->dispatched && i < 2; i++) {
        h->vk.DestroyShaderEXT(h->device, r->drawn[i][0], NULL);
        h->vk.DestroyShaderEXT(h->device, r->drawn[i][1], NULL);
    }
    if (r->dispatched)
        h->vk.DestroyShaderEXT(h->device, r->dispatched, NULL);
    h->vk.DestroyQueryPool(h->device, r->queries, NULL);
    h->vk.DestroyPipeline(h->device, r->compute[1], NULL);
    h->vk.DestroyPipeline(h->device, r->graphics[1], NULL);
}

enum { HELD = 128 };

static void make_kept(struct recording *r)
{
    struct pm_harness *h = r->harness;
    r->kept = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(h, r->kept, 0);
    pm_harness_bind_set(h, r->kept);
    pm_harness_begin_pass(h, r->kept);
    h->vk.CmdBindPipeline(r->kept, VK_PIPELINE_BIND_POINT_GRAPHICS, r->graphics[0]);
    for (int i = 0; i < HELD; i++)
        h->vk.CmdDraw(r->kept, 3, 1, 0, 0);
    h->vk.CmdEndRenderPass(r->kept);
    PM_CHECK(h->vk.EndCommandBuffer(r->kept));
}

/* Window and API sampling come from the environment; the pipelines exist, and with
 * debug.synchronous their variants too, before the first counted call. */
static void record(struct pm_harness *harness, int kind, unsigned long count)
{
    struct recording r = {.harness = harness};
    make(&r);
    if (kinds[kind].objects)
        make_objects(&r);
    if (kinds[kind].submits)
        make_kept(&r);
    for (unsigned long i = 0; kinds[kind].late && i < RECORDED; i++)
        do_buffer(&r, i);
    if (!kinds[kind].alone) {
        pm_harness_begin(harness, r.buffer,
                         kinds[kind].kept ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(harness, r.buffer);
        harness->vk.CmdBindPipeline(r.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, r.compute[0]);
        if (kinds[kind].in_pass)
            pm_harness_begin_pass(harness, r.buffer);
        harness->vk.CmdBindPipeline(r.buffer, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    r.graphics[kinds[kind].second]);
    }
    for (unsigned long i = 0; i < count; i++)
        kinds[kind].once(&r, i);
    if (!kinds[kind].alone) {
        if (kinds[kind].in_pass)
            harness->vk.CmdEndRenderPass(r.buffer);
        PM_CHECK(harness->vk.EndCommandBuffer(r.buffer));
        pm_harness_submit(harness, harness->queue, r.buffer, VK_NULL_HANDLE);
    }
    PM_CHECK(harness->vk.QueueWaitIdle(harness->queue));
    finish(&r);
}

static void submit_frames(struct pm_harness *harness, unsigned long count)
{
    VkCommandBuffer buffer = pm_harness_allocate(harness, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (unsigned long frame = 0; frame < count; frame++) {
        pm_harness_begin(harness, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(harness, buffer);
        pm_harness_begin_pass(harness, buffer);
        harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, harness->graphics);
        for (int i = 0; i < 100; i++)
            harness->vk.CmdDraw(buffer, 3, 1, 0, 0);
        harness->vk.CmdEndRenderPass(buffer);
        PM_CHECK(harness->vk.EndCommandBuffer(buffer));
        pm_harness_submit(harness, harness->queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(harness->vk.QueueWaitIdle(harness->queue));
    }
}

int main(int argc, char **argv)
{
    int kind = 0;
    while (argc == 3 && kind < KINDS && strcmp(argv[1], kinds[kind].name) != 0)
        kind++;
    if (argc != 3 || (kind == KINDS && strcmp(argv[1], "frame") != 0)) {
        fprintf(stderr, "usage: draw_cost KIND COUNT (see draw_cost.c)\n");
        return 2;
    }
    unsigned long count = strtoul(argv[2], NULL, 10);
    setenv("VK_DRIVER_FILES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("VK_ICD_FILENAMES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("PM_NULL_RECORD", "0", 1);
    struct pm_harness harness;
    static const char *const extensions[] = {"VK_EXT_shader_object", NULL};
    const bool objects = kind < KINDS && kinds[kind].objects;
    static const VkPhysicalDeviceFeatures statistics = {.pipelineStatisticsQuery = VK_TRUE};
    const bool queries = kind < KINDS && kinds[kind].queries;
    pm_harness_open(&harness,
                    &(struct pm_harness_options){.device_extensions = objects ? extensions : NULL,
                                                 .features = queries ? &statistics : NULL});
    if (kind == KINDS)
        submit_frames(&harness, count);
    else
        record(&harness, kind, count);
    pm_harness_close(&harness);
    return 0;
}
