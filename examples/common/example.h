/*
 * What every headless workload shares around its scene and renderer: options, the loop of frames,
 * their pictures, hashes and times. An example's main calls pm_example_main with what it draws.
 *
 * Two frames are in flight; the picture of each is copied to the CPU. With --step one frame is
 * drawn for each byte on standard input, and waited for, so that a benchmark can alternate several
 * programs frame by frame.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "examples/common/gpu.h"

enum {
    PM_FRAMES_IN_FLIGHT = 2,
    PM_EXAMPLE_MAX_PASSES = 16,
};

/* What a renderer is made for. */
struct pm_example_setting {
    const struct pm_gpu *gpu;
    uint32_t width, height; /* pixels */
    unsigned scene;         /* below scene_count */
    uint64_t seed;
    bool scalar; /* use the scalarized shaders */
    /* Where a frame's picture goes: RGBA8, to be written as a storage image in the general layout,
     * in which it is when recording starts and must be when it ends. Undefined before. */
    const struct pm_gpu_image *picture;
};

/* Where a frame's commands are recorded. */
struct pm_example_recording {
    VkCommandBuffer commands;
    VkQueryPool queries;                /* NULL: passes are not timed */
    const VkCommandBuffer *secondaries; /* one a pass, into which it is recorded; NULL: none */
    VkCommandBufferUsageFlags usage;    /* theirs */
    VkResult *result;                   /* what failed of them first */
};

/* Called at the end of each pass, in the order of their names, outside render passes: everything
 * recorded since the pass before counts as this pass. */
void pm_example_pass_done(const struct pm_example_recording *recording, uint32_t pass);

/* A part of a pass, in the secondary command buffer of the pass where there are such: on a render
 * target (gpu.h, pm_gpu_pass_begin), or dispatches. Returns where it is recorded; nothing is bound
 * there. */
struct pm_example_target {
    VkRenderPass pass;
    VkFramebuffer target;
    uint32_t width, height, colors;
};
VkCommandBuffer pm_example_begin(const struct pm_example_recording *recording, uint32_t pass,
                                 const struct pm_example_target *target);
void pm_example_end(const struct pm_example_recording *recording, uint32_t pass,
                    const struct pm_example_target *target);

struct pm_example {
    const char *name;    /* the program's */
    const char *purpose; /* a sentence for --help */
    struct {
        const char *name, *help;
    } scenes[4];
    unsigned scene_count;
    bool secondaries;                          /* its passes can be in secondary command buffers */
    const char *passes[PM_EXAMPLE_MAX_PASSES]; /* their names; NULL behind the last */
    size_t renderer_size;                      /* bytes; zeroed before init */

    /* The setting and its gpu outlive the renderer; its commands must be complete when finish is
     * called, also after init failed. */
    bool (*init)(void *renderer, const struct pm_example_setting *setting, struct pm_error *error);
    void (*finish)(void *renderer);
    /* Writes what the commands of one of the frames in flight read, for a time in seconds. Its
     * commands must be complete. */
    void (*update)(void *renderer, uint32_t frame, float time);
    /* Records the commands of one of the frames in flight. With --record-once they are submitted
     * again and again, one frame's after the other's. */
    void (*record)(void *renderer, uint32_t frame, const struct pm_example_recording *recording);
};

/* The whole program; its exit status. */
int pm_example_main(const struct pm_example *example, int argc, char **argv);

struct pm_example_options {
    uint32_t frames; /* UINT32_MAX: as many as asked for */
    uint32_t width, height;
    unsigned scene;
    unsigned next_scene; /* that is drawn from next_from on */
    uint32_t next_from;  /* a frame; UINT32_MAX: it is never */
    uint64_t seed;
    const char *png, *hash, *time, *passes, *device; /* NULL: not given */
    bool record_once, no_one_time, scalar, secondary, step, quiet, unnamed;
};

/* 0: run; 1: help was printed; -1: usage error, printed. */
int pm_example_parse(const struct pm_example *example, struct pm_example_options *options, int argc,
                     char **argv);
