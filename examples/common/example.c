#include "examples/common/example.h"
#include "base/clock.h"
#include "examples/common/picture.h"
#include "layer/public/piecemeal.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct frame {
    VkCommandBuffer commands;
    VkCommandBuffer secondaries[PM_EXAMPLE_MAX_PASSES];
    VkFence fence;
    VkQueryPool queries; /* NULL: passes are not timed */
    struct pm_gpu_buffer picture;
    bool recorded, submitted;
};

struct outputs {
    FILE *hash, *time, *passes;
    double last; /* milliseconds */
};

struct program {
    const struct pm_example *example;
    const struct pm_example_options *options;
    struct pm_gpu gpu;
    struct pm_gpu_image picture;
    struct frame frames[PM_FRAMES_IN_FLIGHT];
    struct pm_example_setting setting, next_setting;
    void *renderer, *next_renderer; /* the other one of the next scene, or of the one before; NULL:
                                       there is none */
    uint32_t pass_count;
    struct outputs out;
};

/* ---- frames ---- */

/* The next pass begins behind the timestamp, so that passes do not share time; lavapipe also needs
 * the barrier to take the timestamp before it dispatches what follows. */
static void write_timestamp(VkCommandBuffer commands, VkQueryPool queries, uint32_t query)
{
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, query);
    pm_gpu_memory_barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                          VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

void pm_example_pass_done(const struct pm_example_recording *recording, uint32_t pass)
{
    if (recording->queries)
        write_timestamp(recording->commands, recording->queries, pass + 1);
}

static bool create_queries(const struct program *p, struct frame *frame, struct pm_error *error)
{
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = p->pass_count + 1,
    };
    return pm_gpu_check(vkCreateQueryPool(p->gpu.device, &info, NULL, &frame->queries),
                        "vkCreateQueryPool", error);
}

static bool allocate_secondaries(const struct program *p, struct frame *frame,
                                 struct pm_error *error)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->gpu.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
        .commandBufferCount = p->pass_count,
    };
    return pm_gpu_check(vkAllocateCommandBuffers(p->gpu.device, &info, frame->secondaries),
                        "vkAllocateCommandBuffers", error);
}

static bool create_frame(const struct program *p, struct frame *frame, struct pm_error *error)
{
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->gpu.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return pm_gpu_buffer_init(&frame->picture, &p->gpu,
                              (VkDeviceSize)p->options->width * p->options->height * 4,
                              VK_BUFFER_USAGE_TRANSFER_DST_BIT, PM_GPU_READBACK, error) &&
           pm_gpu_check(vkAllocateCommandBuffers(p->gpu.device, &commands, &frame->commands),
                        "vkAllocateCommandBuffers", error) &&
           pm_gpu_check(vkCreateFence(p->gpu.device, &fence, NULL, &frame->fence), "vkCreateFence",
                        error) &&
           (!p->options->secondary || allocate_secondaries(p, frame, error)) &&
           (!p->options->passes || create_queries(p, frame, error));
}

static bool create_frames(struct program *p, struct pm_error *error)
{
    const struct pm_gpu_image_info info = {
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .width = p->options->width,
        .height = p->options->height,
        .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
    };
    if (!pm_gpu_image_init(&p->picture, &p->gpu, &info, error))
        return false;
    while (p->pass_count < PM_EXAMPLE_MAX_PASSES && p->example->passes[p->pass_count])
        p->pass_count++;
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        if (!create_frame(p, &p->frames[i], error))
            return false;
    return true;
}

static void finish_frames(struct program *p)
{
    if (!p->gpu.device)
        return;
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++) {
        pm_gpu_buffer_finish(&p->frames[i].picture, &p->gpu);
        vkDestroyFence(p->gpu.device, p->frames[i].fence, NULL);
        vkDestroyQueryPool(p->gpu.device, p->frames[i].queries, NULL);
    }
    pm_gpu_image_finish(&p->picture, &p->gpu);
}

static bool wait_frame(struct program *p, struct frame *frame, struct pm_error *error)
{
    if (!frame->submitted)
        return true;
    const VkDevice device = p->gpu.device;
    if (!pm_gpu_check(vkWaitForFences(device, 1, &frame->fence, VK_TRUE, UINT64_MAX),
                      "vkWaitForFences", error))
        return false;
    frame->submitted = false;
    return pm_gpu_check(vkResetFences(device, 1, &frame->fence), "vkResetFences", error);
}

static void record_picture(const struct program *p, const struct frame *frame)
{
    const VkCommandBuffer commands = frame->commands;
    pm_gpu_image_barrier(commands, &p->picture, VK_IMAGE_LAYOUT_GENERAL,
                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_ACCESS_TRANSFER_READ_BIT);
    const VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {p->picture.width, p->picture.height, 1},
    };
    vkCmdCopyImageToBuffer(commands, p->picture.handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           frame->picture.handle, 1, &copy);
    pm_gpu_memory_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                          VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

/* How it says its commands are used. */
static VkCommandBufferUsageFlags usage_of(const struct pm_example_options *options)
{
    return options->record_once || options->no_one_time
               ? 0
               : (VkCommandBufferUsageFlags)VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
}

static bool record_frame(struct program *p, uint32_t index, struct pm_error *error)
{
    struct frame *frame = &p->frames[index];
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = usage_of(p->options),
    };
    if (!pm_gpu_check(vkBeginCommandBuffer(frame->commands, &begin), "vkBeginCommandBuffer", error))
        return false;
    VkResult result = VK_SUCCESS;
    const struct pm_example_recording recording = {
        .commands = frame->commands,
        .queries = frame->queries,
        .secondaries = p->options->secondary ? frame->secondaries : NULL,
        .usage = begin.flags,
        .result = &result,
    };
    /* What the frame before wrote and read, it has; its picture too. */
    pm_gpu_memory_barrier(
        frame->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_SHADER_WRITE_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    pm_gpu_image_barrier(frame->commands, &p->picture, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
    if (frame->queries) {
        vkCmdResetQueryPool(frame->commands, frame->queries, 0, p->pass_count + 1);
        write_timestamp(frame->commands, frame->queries, 0);
    }
    p->example->record(p->renderer, index, &recording);
    record_picture(p, frame);
    frame->recorded = true;
    return pm_gpu_check(result, "a secondary command buffer", error) &&
           pm_gpu_check(vkEndCommandBuffer(frame->commands), "vkEndCommandBuffer", error);
}

/* Records the commands, unless they are there already and stay, and submits them. */
static bool submit_frame(struct program *p, uint32_t index, struct pm_error *error)
{
    struct frame *frame = &p->frames[index];
    if ((!frame->recorded || !p->options->record_once) && !record_frame(p, index, error))
        return false;
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &frame->commands,
    };
    if (!pm_gpu_check(vkQueueSubmit(p->gpu.queue, 1, &submit, frame->fence), "vkQueueSubmit",
                      error))
        return false;
    frame->submitted = true;
    return true;
}

/* ---- outputs ---- */

static bool open_output(FILE **file, const char *path, struct pm_error *error)
{
    if (!path)
        return true;
    *file = fopen(path, "w");
    if (!*file)
        return pm_fail_errno(error, errno, "%s", path);
    /* A line is there as soon as its frame is, whatever comes next. */
    setvbuf(*file, NULL, _IOLBF, 0);
    return true;
}

static bool close_output(FILE *file, const char *path, struct pm_error *error)
{
    if (!file || fclose(file) == 0)
        return true;
    return pm_fail_errno(error, errno, "%s", path);
}

static bool open_outputs(struct program *p, struct pm_error *error)
{
    struct outputs *out = &p->out;
    if (!open_output(&out->hash, p->options->hash, error) ||
        !open_output(&out->time, p->options->time, error) ||
        !open_output(&out->passes, p->options->passes, error))
        return false;
    for (uint32_t i = 0; out->passes && i < p->pass_count; i++)
        fprintf(out->passes, "%s%c", p->example->passes[i], i + 1 < p->pass_count ? ' ' : '\n');
    return true;
}

static bool write_passes(const struct program *p, const struct frame *frame, struct pm_error *error)
{
    uint64_t ticks[PM_EXAMPLE_MAX_PASSES + 1];
    const uint32_t count = p->pass_count;
    if (!pm_gpu_check(vkGetQueryPoolResults(p->gpu.device, frame->queries, 0, count + 1,
                                            sizeof ticks, ticks, sizeof *ticks,
                                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                      "vkGetQueryPoolResults", error))
        return false;
    const uint64_t mask =
        p->gpu.timestamp_bits < 64 ? (UINT64_C(1) << p->gpu.timestamp_bits) - 1 : UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        fprintf(p->out.passes, "%.4f%c",
                (double)((ticks[i + 1] - ticks[i]) & mask) *
                    (double)p->gpu.properties.limits.timestampPeriod * 1e-6,
                i + 1 < count ? ' ' : '\n');
    return true;
}

/* A complete frame, in order. */
static bool take_picture(struct program *p, const struct frame *frame, struct pm_error *error)
{
    const double now = pm_now_ms();
    if (p->out.time)
        fprintf(p->out.time, "%.3f\n", now - p->out.last);
    p->out.last = now;
    if (p->out.hash) {
        char hash[PM_PICTURE_HASH_SIZE];
        pm_picture_hash(frame->picture.mapped, p->options->width, p->options->height, hash);
        fprintf(p->out.hash, "%s\n", hash);
    }
    return !p->out.passes || write_passes(p, frame, error);
}

/* ---- scenes ---- */

/* As any game may tell Piecemeal, when it is there. */
static void name_scene(const struct program *p, unsigned scene)
{
    const PFN_vkSetScenePIECEMEAL set_scene =
        (PFN_vkSetScenePIECEMEAL)vkGetDeviceProcAddr(p->gpu.device, PIECEMEAL_SET_SCENE_NAME);
    if (set_scene && !p->options->unnamed)
        set_scene(p->gpu.device, p->example->scenes[scene].name);
}

/* Before a frame is drawn. What was loaded for the scene before stays until the end. */
static void enter_scene(struct program *p, uint32_t frame)
{
    void *renderer = p->renderer;
    if (frame != p->options->next_from)
        return;
    p->renderer = p->next_renderer;
    p->next_renderer = renderer;
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        p->frames[i].recorded = false;
    name_scene(p, p->options->next_scene);
}

/* ---- loops ---- */

static volatile sig_atomic_t asked_to_end;

static void on_end(int number)
{
    (void)number;
    asked_to_end = 1;
}

/* Who is asked to end finishes the frames in flight. */
static void end_when_asked(void)
{
    const struct sigaction action = {.sa_handler = on_end, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

static bool draw_all(struct program *p, uint32_t *drawn, struct pm_error *error)
{
    uint32_t frames = p->options->frames;
    end_when_asked();
    for (uint32_t i = 0; i < frames + PM_FRAMES_IN_FLIGHT; i++) {
        if (asked_to_end && i < frames)
            frames = i;
        const uint32_t index = i % PM_FRAMES_IN_FLIGHT;
        struct frame *frame = &p->frames[index];
        const bool pending = frame->submitted;
        if (!wait_frame(p, frame, error) || (pending && !take_picture(p, frame, error)))
            return false;
        if (i >= frames)
            continue;
        enter_scene(p, i);
        p->example->update(p->renderer, index, (float)i / 60.0f);
        if (!submit_frame(p, index, error))
            return false;
        *drawn = i + 1;
    }
    return true;
}

static bool draw_steps(struct program *p, uint32_t *drawn, struct pm_error *error)
{
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint32_t i = 0; i < p->options->frames && getchar() != EOF; i++) {
        const uint32_t index = i % PM_FRAMES_IN_FLIGHT;
        enter_scene(p, i);
        p->example->update(p->renderer, index, (float)i / 60.0f);
        const double start = pm_now_ms();
        if (!submit_frame(p, index, error) || !wait_frame(p, &p->frames[index], error))
            return false;
        const double end = pm_now_ms();
        *drawn = i + 1;
        if (!take_picture(p, &p->frames[index], error))
            return false;
        printf("%.4f\n", end - start);
    }
    return true;
}

static bool draw(struct program *p, struct pm_error *error)
{
    const struct pm_example_options *o = p->options;
    const double start = p->out.last = pm_now_ms();
    uint32_t drawn = 0;
    if (!(o->step ? draw_steps : draw_all)(p, &drawn, error))
        return false;
    if (!o->quiet && !o->step && drawn)
        printf("%s, seed %llu, on %s: %u frames of %ux%u, %.1f ms a frame\n",
               p->example->scenes[o->scene].name, (unsigned long long)o->seed,
               p->gpu.properties.deviceName, drawn, o->width, o->height,
               (pm_now_ms() - start) / drawn);
    if (!o->png || !drawn)
        return true;
    const struct frame *last = &p->frames[(drawn - 1) % PM_FRAMES_IN_FLIGHT];
    return pm_picture_write(o->png, last->picture.mapped, o->width, o->height, error);
}

/* A game makes its pipelines while it loads: also those of the scene to come. */
static bool create_renderers(struct program *p, struct pm_error *error)
{
    const struct pm_example_options *o = p->options;
    p->setting = (struct pm_example_setting){
        .gpu = &p->gpu,
        .width = o->width,
        .height = o->height,
        .scene = o->scene,
        .seed = o->seed,
        .scalar = o->scalar,
        .picture = &p->picture,
    };
    p->next_setting = p->setting;
    p->next_setting.scene = o->next_scene;
    return p->example->init(p->renderer, &p->setting, error) &&
           (!p->next_renderer || p->example->init(p->next_renderer, &p->next_setting, error));
}

static bool run(const struct pm_example *example, const struct pm_example_options *o,
                struct pm_error *error)
{
    struct program p = {.example = example, .options = o};
    const struct pm_gpu_info info = {.application = example->name, .device = o->device};
    bool done = false;
    p.renderer = calloc(1, example->renderer_size);
    if (o->next_from != UINT32_MAX)
        p.next_renderer = calloc(1, example->renderer_size);
    if (!p.renderer || (o->next_from != UINT32_MAX && !p.next_renderer)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        goto end;
    }
    if (!pm_gpu_init(&p.gpu, &info, error))
        goto end;
    name_scene(&p, o->scene);
    if (o->passes && !p.gpu.timestamp_bits) {
        pm_fail(error, PM_ERROR_DEVICE, "--passes: the device's queue has no timestamps");
        goto end;
    }
    done = create_frames(&p, error) && create_renderers(&p, error) && open_outputs(&p, error) &&
           draw(&p, error);
end:
    done = close_output(p.out.hash, o->hash, done ? error : NULL) && done;
    done = close_output(p.out.time, o->time, done ? error : NULL) && done;
    done = close_output(p.out.passes, o->passes, done ? error : NULL) && done;
    if (p.gpu.device) {
        vkDeviceWaitIdle(p.gpu.device);
        example->finish(p.renderer);
        if (p.next_renderer)
            example->finish(p.next_renderer);
    }
    finish_frames(&p);
    pm_gpu_finish(&p.gpu);
    free(p.renderer);
    free(p.next_renderer);
    return done;
}

int pm_example_main(const struct pm_example *example, int argc, char **argv)
{
    struct pm_example_options options;
    const int parsed = pm_example_parse(example, &options, argc, argv);
    if (parsed)
        return parsed < 0 ? 2 : 0;
    struct pm_error error = {0};
    if (run(example, &options, &error))
        return 0;
    fprintf(stderr, "%s: %s\n", example->name, error.message);
    return 1;
}
