/*
 * The null driver: a Vulkan driver for tests and for measuring what a layer costs. It has one
 * physical device, runs no shaders, and does everything else that a program can see: memory,
 * copies, fills, fences, semaphores, timestamps, swapchains on headless surfaces. It records every
 * call that reaches it. Tests open the same file that the loader opened (dlopen of
 * PM_NULL_DRIVER_PATH) and find these functions with dlsym; struct pm_null_api has them all.
 *
 * Configured when an instance is created, by environment variables (lists are separated by commas):
 *
 *     PM_NULL_API_VERSION         1.0 … 1.4 (default 1.3)
 *     PM_NULL_WITHOUT_EXTENSIONS  device or instance extensions that it does not have
 *     PM_NULL_WITHOUT_FEATURES    features that it does not have: shaderInt64,bufferDeviceAddress
 *     PM_NULL_SUBGROUP_SIZE       default 32
 *     PM_NULL_LEAST_SUBGROUP_SIZE, PM_NULL_MOST_SUBGROUP_SIZE
 *                                 that a pipeline may require (default that size)
 *     PM_NULL_SUBGROUP_STAGES     VkShaderStageFlags with subgroup operations (default all)
 *     PM_NULL_SUBGROUP_OPERATIONS VkSubgroupFeatureFlags (default all)
 *     PM_NULL_TIMESTAMP_BITS      default 64
 *     PM_NULL_DEVICE_TYPE         VkPhysicalDeviceType (default 2: discrete)
 *     PM_NULL_DELAY_US            microseconds the device takes for each submission (default 0:
 * done when the submit returns) PM_NULL_COMPILE_US          microseconds the creation of a pipeline
 * takes (default 0); where that is any, one that must not be compiled
 * (VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT) is not made
 *     PM_NULL_DRIVER_ID           VkDriverId (default 0: not known)
 *     PM_NULL_DRIVER_INFO         driverInfo (default "")
 *     PM_NULL_COMPILED            1: everything was compiled before, and takes no time
 *     PM_NULL_RECORD              0: record no calls (default 1) PM_NULL_FAIL calls
 * that fail: COMMAND:N[+][=RESULT]: the N-th call from now on, with + all from there on, returns
 * RESULT, a number; without it
 * vkCreateDevice returns VK_ERROR_FEATURE_NOT_PRESENT, submits and waits VK_ERROR_DEVICE_LOST, all
 * else VK_ERROR_OUT_OF_DEVICE_MEMORY
 *
 * vkCmdEndRendering2KHR, vkCmdBeginTransformFeedback2EXT, vkCmdEndTransformFeedback2EXT,
 * vkWaitForPresent2KHR and the draws and the dispatch of VK_KHR_device_address_commands are there
 * too, though the headers do not have them; they are recorded as the older ones, indirect draws of
 * all kinds as vkCmdDrawIndirect of nothing.
 *
 * It knows structures of features that the headers do not: struct pm_null_future_features, and
 * VK_KHR_maintenance9's, struct pm_null_maintenance9_features.
 *
 * A device that returned VK_ERROR_DEVICE_LOST from a submit stays lost. vkCreateDevice refuses
 * features and extensions that the device does not have, and pEnabledFeatures beside
 * VkPhysicalDeviceFeatures2.
 *
 * A buffer's device address is the host's, too.
 *
 * Thread safety: all functions may be called from any thread; a record is complete once its call
 * has returned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define PM_NULL_FUTURE_FEATURES ((VkStructureType)1999000000)

struct pm_null_future_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 features[3];
};

/* VkPhysicalDeviceMaintenance9FeaturesKHR, of headers from 1.4.317 on. */
#define PM_NULL_MAINTENANCE_9_FEATURES ((VkStructureType)1000584000)

struct pm_null_maintenance9_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 maintenance9;
};

enum { PM_NULL_ARGUMENTS = 16, PM_NULL_RING = 1 << 15 };

/* A handle as a call's argument has it. */
#define PM_NULL_NUMBER(handle)                                                                     \
    ((uint64_t) _Generic((handle), uint64_t : (handle), default : (uintptr_t)(handle)))

/* A call that reached the driver. */
struct pm_null_call {
    const char *command; /* "vkCmdDraw"; the very name that was called, aliases apart */
    uint32_t thread;     /* gettid */
    uint32_t count;      /* of arguments */
    uint64_t
        arguments[PM_NULL_ARGUMENTS]; /* pointers and handles as numbers, floats as their bits */
};

/* Called in the middle of a call, so that what its pointers point to can be read. */
typedef void (*pm_null_callback)(void *user, const struct pm_null_call *call);

/* What a draw or dispatch with this pipeline bound costs, in nanoseconds; a draw of several
 * instances costs as many times that. With shader objects it is the handle of the one of the
 * fragment or compute stage. Called when its command buffer is executed, on the thread
 * that executes it. */
typedef uint64_t (*pm_null_cost)(void *user, VkPipeline pipeline);

struct pm_null_api {
    /* The number of calls recorded so far; the next one's position. */
    uint64_t (*position)(void);
    /* The call at a position; false: not there yet, or overwritten (the ring holds PM_NULL_RING).
     */
    bool (*read)(uint64_t position, struct pm_null_call *out);
    /* One callback for all calls, NULL for none. */
    void (*set_callback)(pm_null_callback callback, void *user);
    /* As PM_NULL_FAIL, "vkAllocateMemory:2,vkCreateDevice:1=-8", counted from now, with "2+" from
     * the second on; "" for nothing.
     * false: malformed or no such command. */
    bool (*inject)(const char *faults);
    void (*set_delay)(uint64_t microseconds);
    /* While held, no submission is done; and no pipeline is made but by the thread that holds. */
    void (*hold_submissions)(bool hold);
    void (*hold_compiles)(bool hold);
    /* From now on timestamps tell a clock that only draws and dispatches recorded from now on
     * advance, each by its cost; NULL: the host's clock again. */
    void (*set_cost)(pm_null_cost cost, void *user);
    /* While binned, what the draws of a render pass instance cost is spent at its end, as on a
     * tiler: timestamps within it tell nothing of them. */
    void (*set_binned)(bool binned);
    /* The next pipeline has the handle of this one, which was destroyed. */
    void (*give_again)(VkPipeline pipeline);
    /* Objects of a type that exist now. */
    uint64_t (*live)(VkObjectType type);
    /* Draws and dispatches in command buffers that were executed, secondary ones included. */
    uint64_t (*executed_draws)(void);
    /* Uses of dead or unfit objects that the driver noticed (a destroyed pipeline in a submitted
     * command buffer, a command buffer reset while pending…); *last describes the last one, NULL
     * when there was none. */
    uint64_t (*errors)(const char **last);
};

/* The one exported function apart from the loader's: const struct pm_null_api
 * *pm_null_driver(void). */
#define PM_NULL_DRIVER_SYMBOL "pm_null_driver"
typedef const struct pm_null_api *(*pm_null_driver_function)(void);
