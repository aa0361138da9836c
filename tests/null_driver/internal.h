/* What the null driver's files share. */
#pragma once

#include "null_commands.h" /* generated */
#include "tests/null_driver/null_driver.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <vulkan/vk_icd.h>

/* ---- generated tables ---- */

enum pm_null_level {
    PM_NULL_LEVEL_GLOBAL,
    PM_NULL_LEVEL_INSTANCE,
    PM_NULL_LEVEL_PHYSICAL,
    PM_NULL_LEVEL_DEVICE
};

struct pm_null_entry {
    const char *name;
    PFN_vkVoidFunction function;
    enum pm_null_level level;
    uint32_t version;   /* core since; 0: never */
    const char *owners; /* the extensions that bring it, each between spaces */
};

struct pm_null_feature_structure {
    VkStructureType type; /* 0 ends the table */
    size_t size;
    uint32_t count; /* of VkBool32 after the header */
};

struct pm_null_feature {
    VkStructureType type; /* 0 ends the table */
    size_t offset;
    const char *name;
};

struct pm_null_output {
    VkStructureType type; /* 0 ends the table */
    size_t size;
};

extern const struct pm_null_entry pm_null_entries[PM_NULL_COMMAND_COUNT];
extern const char *const pm_null_device_extensions[];
extern const char *const pm_null_instance_extensions[];
extern const struct pm_null_feature_structure pm_null_feature_structures[];
extern const struct pm_null_feature pm_null_features[];
extern const struct pm_null_output pm_null_outputs[];

/* ---- config.c ---- */

struct pm_null_config {
    uint32_t api_version;
    uint32_t subgroup_size, subgroup_stages, subgroup_operations;
    uint32_t least_subgroup_size, most_subgroup_size;
    uint32_t timestamp_bits, device_type;
    uint64_t compile_us;
    bool compiled;
    uint32_t driver_id;
    char driver_info[64];
    char without_extensions[4096]; /* ",A,B," */
    char without_features[4096];
};

extern struct pm_null_config pm_null_config;
extern _Atomic uint64_t pm_null_delay_us;
extern _Atomic bool pm_null_submissions_held;
/* Returns once the calling thread may make a pipeline. */
void pm_null_await_compile(void);

void pm_null_config_load(void);
/* Whether ",A,B," has the name. */
bool pm_null_listed(const char *list, const char *name);

/* ---- record.c ---- */

void pm_null_record(enum pm_null_command command, uint32_t count, const uint64_t *arguments);
void pm_null_record_enable(bool enable);
VkResult pm_null_failure(enum pm_null_command command);
bool pm_null_fail(const char *faults);
/* Remembers a wrong use of the API. */
void pm_null_error(const char *message);

static inline uint64_t pm_null_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* ---- object.c ---- */

/* Starts every object that is not dispatchable. */
struct pm_null_object {
    uint32_t magic;
    VkObjectType type;
};

/* The object behind a handle that is not dispatchable, and back. Where pointers have 32 bits such a
 * handle is a number of 64, and of ours the upper half is not zero: who cuts one is found out. */
#if VK_USE_64_BIT_PTR_DEFINES == 1
#define PM_NULL_OBJECT(handle) ((void *)(handle))
#define PM_NULL_HANDLE(type, object) ((type)(object))
#else
#define PM_NULL_OBJECT(handle) pm_null_object_of(handle)
#define PM_NULL_HANDLE(type, object) ((type)pm_null_handle_of(object))
void *pm_null_object_of(uint64_t handle);
uint64_t pm_null_handle_of(const void *object);
#endif

void pm_null_give_again(VkPipeline pipeline); /* null_driver.h */
/* A zeroed object of at least size bytes; NULL without memory. Of pipelines all have one size. */
void *pm_null_object_create(VkObjectType type, size_t size);
/* NULL is allowed; anything else that is not a live object of the type is an error. */
void pm_null_object_destroy(void *object, VkObjectType type);
bool pm_null_object_alive(const void *object, VkObjectType type);
void pm_null_object_count(VkObjectType type, int64_t change);
uint64_t pm_null_object_live(VkObjectType type);
/* Zeroes an output structure but for its sType and pNext, and those chained to it that only return
 * values. */
void pm_null_clear(void *structure, size_t size);

/* The two calls of an enumeration: copies up to *count elements of `size` bytes. */
VkResult pm_null_enumerate(const void *elements, uint32_t available, size_t size, uint32_t *count,
                           void *out);

/* ---- instance.c ---- */

struct VkPhysicalDevice_T {
    VK_LOADER_DATA loader;
    VkInstance instance;
};

struct VkInstance_T {
    VK_LOADER_DATA loader;
    uint32_t api_version;
    struct VkPhysicalDevice_T physical;
};

enum { PM_NULL_FAMILIES = 4, PM_NULL_QUEUES = 4 };

struct pm_null_work;

struct VkQueue_T {
    VK_LOADER_DATA loader;
    VkDevice device;
    struct pm_null_work *first, *last; /* not done yet; the first may be running */
    pthread_t worker;
    bool has_worker;
};

struct VkDevice_T {
    VK_LOADER_DATA loader;
    VkPhysicalDevice physical;
    uint32_t api_version;
    char *extensions; /* " A B " */
    bool lost, ending;
    pthread_mutex_t mutex; /* of all that waits and signals: fences, semaphores, queues */
    pthread_cond_t changed;
    struct VkQueue_T queues[PM_NULL_FAMILIES][PM_NULL_QUEUES];
    bool plain[PM_NULL_FAMILIES]; /* it has queues without flags */
};

extern const VkQueueFamilyProperties pm_null_families[PM_NULL_FAMILIES];
/* Whether the features that a vkCreateDevice asks for are there. */
VkResult pm_null_check_features(const VkDeviceCreateInfo *info);
/* The structure of a type in a pNext chain; NULL: not there. */
void *pm_null_find_in_chain(const void *chain, VkStructureType type);

/* ---- memory.c ---- */

/* Takes as long as the making of a pipeline is to take. */
void pm_null_compile(void);

struct pm_null_memory {
    struct pm_null_object object;
    VkDeviceSize size;
    unsigned char *bytes;
};

struct pm_null_buffer {
    struct pm_null_object object;
    VkDeviceSize size;
    unsigned char *bytes; /* once bound */
};

struct pm_null_query_pool {
    struct pm_null_object object;
    uint32_t count;
    _Atomic uint64_t *values; /* UINT64_MAX: not available */
};

/* ---- command_buffer.c ---- */

/* A recorded command that does something when it is executed; draws are only counted. */
struct pm_null_operation {
    enum {
        PM_NULL_OP_BIND,      /* object, a bind point */
        PM_NULL_OP_SHADER,    /* object or NULL, a: 1 of compute, b: what costs tell it by */
        PM_NULL_OP_DRAW,      /* a bind point, b instances, c: 1 it is counted when it is executed;
                                 only where draws have a cost or it is under a predicate */
        PM_NULL_OP_PASS,      /* a: 1 a render pass instance begins, 0 it ends; likewise */
        PM_NULL_OP_FILL,      /* object, a offset, b size, c data */
        PM_NULL_OP_COPY,      /* object, other; a source offset, b destination offset, c size */
        PM_NULL_OP_UPDATE,    /* object, a offset, b size, other: bytes owned */
        PM_NULL_OP_TIMESTAMP, /* object, a query */
        PM_NULL_OP_RESET,     /* object, a first, b count */
        PM_NULL_OP_RESULTS,   /* object pool, other buffer, a first, b count, c offset, d stride, e
                                 flags */
        PM_NULL_OP_EXECUTE,   /* object: a secondary command buffer */
        PM_NULL_OP_EVENT,     /* object, a value */
        PM_NULL_OP_PREDICATE, /* object buffer, a offset, b: 1 inverted; NULL: it ends */
    } kind;
    void *object, *other;
    uint64_t a, b, c, d, e;
};

enum { PM_NULL_STAGES = 8 }; /* that shader objects have */

struct VkCommandBuffer_T {
    VK_LOADER_DATA loader;
    VkDevice device;
    VkCommandPool pool;
    VkCommandBuffer next;        /* in the pool */
    bool recording, conditional; /* conditional: conditional rendering is active */
    _Atomic uint32_t pending;    /* submissions that are not done */
    bool objects;                /* some shader object was bound */
    VkShaderEXT
        shaders[PM_NULL_STAGES]; /* that are bound now, by the number of their stage's bit */
    uint64_t draws;              /* but for those under a predicate */
    struct pm_null_operation *operations;
    size_t count, allocated;
};

void pm_null_command_recorded(VkCommandBuffer buffer);
void pm_null_draw_recorded(VkCommandBuffer buffer, VkPipelineBindPoint point, uint32_t instances);
void pm_null_pass_recorded(VkCommandBuffer buffer, bool begins);
/* A shader object, or none, is bound. */
void pm_null_shader_recorded(VkCommandBuffer buffer, VkShaderEXT shader, bool compute,
                             bool fragment);
/* One submission more or less that is not done, of the secondary command buffers too. */
void pm_null_command_pending(VkCommandBuffer buffer, int change);
/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t pm_null_now(void);
/* Runs the operations now. */
void pm_null_execute(VkCommandBuffer buffer);
extern _Atomic uint64_t pm_null_executed_draws;
/* What draws and dispatches cost; null_driver.h. */
void pm_null_set_cost(pm_null_cost cost, void *user);
void pm_null_set_binned(bool binned);

/* ---- shader.c ---- */

/* A pipeline is bound. */
void pm_null_shaders_disturbed(VkCommandBuffer buffer, VkPipelineBindPoint point);
/* A draw or dispatch is recorded: whether what is bound may be bound together. */
void pm_null_shaders_check(VkCommandBuffer buffer);

/* ---- sync.c ---- */

struct pm_null_fence {
    struct pm_null_object object;
    bool signaled;
};

struct pm_null_semaphore {
    struct pm_null_object object;
    bool timeline;
    uint64_t value; /* a binary one's is 0 or 1 */
};

struct pm_null_event {
    struct pm_null_object object;
    _Atomic bool set;
};

/* ---- queue.c ---- */

/* VK_ERROR_DEVICE_LOST was returned: all work is dropped, all waits end. */
void pm_null_lose(VkDevice device);

/* Both under the device's mutex. Signals count as done at once. */
void pm_null_signal(VkDevice device, VkSemaphore semaphore, uint64_t value);
void pm_null_signal_fence(VkDevice device, VkFence fence);
/* Ends and joins the queues' workers. */
void pm_null_queues_finish(VkDevice device);
