#include "layer/core/cpu_watch.h"

#include "layer/core/last_wait.h"
#include "layer/core/lookup.h"
#include "layer/core/object_name.h"
#include <time.h>

#define SECOND INT64_C(1000000000)
#define SPIN                                                                                       \
    INT64_C(1000000) /* nanoseconds that a fruitless poll counts as waiting: a frame that has one  \
                        is no proof */
#define EAGER_FRAMES 32 /* at the start of a window every frame is observed, later one in eight */
#define LAZY_STEP 8

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

void pm_cpu_watch_init(struct pm_cpu_watch *watch, struct pm_device *device)
{
    const struct pm_config *config = &device->instance->config;
    watch->device = device;
    watch->wanted = device->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU &&
                    !config->debug.synchronous && config->sampler.window_probability < 1;
    pm_cpu_bound_init(&watch->state);
}

void pm_cpu_watch_finish(struct pm_cpu_watch *watch)
{
    struct pm_device *device = watch->device;
    if (watch->fence != VK_NULL_HANDLE &&
        (!watch->pending || pm_last_wait_fence(device, watch->fence)))
        device->dispatch.DestroyFence(device->handle, watch->fence, NULL);
}

void pm_cpu_watch_window(struct pm_cpu_watch *watch, bool open)
{
    if (!watch->wanted)
        return;
    if (open)
        atomic_store(&watch->restart, true);
    atomic_store(&watch->observing, open);
}

void pm_cpu_watch_submit(struct pm_cpu_watch *watch, VkQueue queue)
{
    if (!atomic_load_explicit(&watch->observing, memory_order_relaxed) ||
        queue != atomic_load_explicit(&watch->queue, memory_order_relaxed) || !watch->fresh ||
        watch->sure)
        return;
    watch->dry =
        watch->device->dispatch.GetFenceStatus(watch->device->handle, watch->fence) == VK_SUCCESS;
    watch->sure = true;
}

/* Puts the fence behind what was submitted so far: the frame's end. */
static void put_fence(struct pm_cpu_watch *watch, VkQueue queue)
{
    struct pm_device *device = watch->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    if (watch->fence == VK_NULL_HANDLE) {
        const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        if (dispatch->CreateFence(device->handle, &info, NULL, &watch->fence) != VK_SUCCESS)
            return;
        pm_name_object(device, VK_OBJECT_TYPE_FENCE, PM_KEY(watch->fence), "end of a frame");
    }
    if (watch->pending) {
        if (dispatch->GetFenceStatus(device->handle, watch->fence) != VK_SUCCESS) {
            /* Still under way, so the GPU is more than a frame behind. */
            watch->dry = false;
            watch->sure = true;
            return;
        }
        dispatch->ResetFences(device->handle, 1, &watch->fence);
        watch->pending = false;
    }
    watch->pending = dispatch->QueueSubmit(queue, 0, NULL, watch->fence) == VK_SUCCESS;
    watch->fresh = watch->pending;
}

void pm_cpu_watch_present(struct pm_cpu_watch *watch, VkQueue queue)
{
    if (!atomic_load_explicit(&watch->observing, memory_order_relaxed))
        return;
    VkQueue first = VK_NULL_HANDLE;
    if (!atomic_compare_exchange_strong(&watch->queue, &first, queue) && first != queue)
        return;
    int64_t wall = read_clock(CLOCK_MONOTONIC), processor = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    int64_t waited = atomic_exchange(&watch->waited, 0);
    if (atomic_exchange(&watch->restart, false)) {
        watch->frames = 0;
        watch->sure = false;
    } else if (watch->sure) {
        const struct pm_cpu_frame frame = {
            .wall = wall - watch->wall,
            .waited = waited,
            .processor = processor - watch->processor,
            .gpu_idle = watch->dry,
        };
        bool bound = pm_cpu_bound_frame(&watch->state, &frame);
        if (atomic_exchange(&watch->bound, bound) != bound)
            pm_log_info(watch->device->instance->log,
                        bound ? "the game is bound by its processor; sampling rests"
                              : "the game is not bound by its processor any more");
    }
    watch->wall = wall;
    watch->processor = processor;
    watch->sure = false;
    watch->fresh = false;
    if (watch->frames++ < EAGER_FRAMES || watch->frames % LAZY_STEP == 0)
        put_fence(watch, queue);
}

int64_t pm_cpu_watch_wait_begin(const struct pm_cpu_watch *watch)
{
    return atomic_load_explicit(&watch->observing, memory_order_relaxed)
               ? read_clock(CLOCK_MONOTONIC)
               : 0;
}

void pm_cpu_watch_wait_end(struct pm_cpu_watch *watch, int64_t begin)
{
    if (begin != 0)
        atomic_fetch_add(&watch->waited, read_clock(CLOCK_MONOTONIC) - begin);
}

void pm_cpu_watch_spin(struct pm_cpu_watch *watch)
{
    if (atomic_load_explicit(&watch->observing, memory_order_relaxed))
        atomic_fetch_add(&watch->waited, SPIN);
}
