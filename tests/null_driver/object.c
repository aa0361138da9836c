#include "tests/null_driver/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAGIC = 0x600d0b1e, DEAD = 0xdeadc0de, CORE_TYPES = 64, TYPES = 256 };

static _Atomic int64_t live[TYPES];

/* VkObjectType's numbers are sparse: core ones are small, an extension's are 1000000000 + 1000 *
 * extension + n. */
static size_t slot_of(VkObjectType type)
{
    uint32_t value = (uint32_t)type;
    return value < CORE_TYPES ? value
                              : CORE_TYPES + (value - 1000000000) / 1000 % (TYPES - CORE_TYPES);
}

void pm_null_object_count(VkObjectType type, int64_t change)
{
    atomic_fetch_add_explicit(&live[slot_of(type)], change, memory_order_relaxed);
}

uint64_t pm_null_object_live(VkObjectType type)
{
    return (uint64_t)atomic_load(&live[slot_of(type)]);
}

#if VK_USE_64_BIT_PTR_DEFINES != 1
#define UPPER_HALF (UINT64_C(0x5eed) << 32)

void *pm_null_object_of(uint64_t handle)
{
    if (handle != 0 && (handle & ~(uint64_t)UINT32_MAX) != UPPER_HALF) {
        fprintf(stderr, "null driver: half of a handle: %" PRIx64 "\n", handle);
        abort();
    }
    return (void *)(uintptr_t)handle;
}

uint64_t pm_null_handle_of(const void *object)
{
    return object ? UPPER_HALF | (uintptr_t)object : 0;
}
#endif

/* Dead pipelines and shader objects are kept, a few bytes each, so that a command buffer that still
 * names one is found out also where no sanitizer looks. */
static struct pm_null_object *_Atomic graveyard[1 << 16];
static _Atomic uint32_t graves;
static struct pm_null_object *_Atomic again; /* of which the next pipeline has the handle */

void pm_null_give_again(VkPipeline pipeline)
{
    struct pm_null_object *dead = PM_NULL_OBJECT(pipeline);
    for (size_t i = 0; i < sizeof(graveyard) / sizeof(graveyard[0]); i++) {
        struct pm_null_object *found = dead;
        if (atomic_compare_exchange_strong(&graveyard[i], &found, NULL))
            atomic_store(&again, dead);
    }
}

void *pm_null_object_create(VkObjectType type, size_t size)
{
    struct pm_null_object *object =
        type == VK_OBJECT_TYPE_PIPELINE ? atomic_exchange(&again, NULL) : NULL;
    if (!object)
        object = calloc(1, size > sizeof(*object) ? size : sizeof(*object));
    if (!object)
        return NULL;
    object->magic = MAGIC;
    object->type = type;
    pm_null_object_count(type, 1);
    return object;
}

bool pm_null_object_alive(const void *object, VkObjectType type)
{
    const struct pm_null_object *header = object;
    return header && header->magic == MAGIC && header->type == type;
}

void pm_null_object_destroy(void *object, VkObjectType type)
{
    struct pm_null_object *header = object;
    if (!header)
        return;
    if (!pm_null_object_alive(header, type)) {
        pm_null_error("something that is no live object of its type was destroyed");
        return;
    }
    header->magic = DEAD;
    pm_null_object_count(type, -1);
    if (type != VK_OBJECT_TYPE_PIPELINE && type != VK_OBJECT_TYPE_SHADER_EXT) {
        free(header);
        return;
    }
    uint32_t grave = atomic_fetch_add(&graves, 1) % (sizeof(graveyard) / sizeof(graveyard[0]));
    free(atomic_exchange(&graveyard[grave], header));
}

void pm_null_clear(void *structure, size_t size)
{
    VkBaseOutStructure *item = structure;
    memset(item + 1, 0, size - sizeof(*item));
    for (item = item->pNext; item; item = item->pNext) {
        for (const struct pm_null_output *output = pm_null_outputs; output->type; output++) {
            if (output->type == item->sType)
                memset(item + 1, 0, output->size - sizeof(*item));
        }
    }
}

VkResult pm_null_enumerate(const void *elements, uint32_t available, size_t size, uint32_t *count,
                           void *out)
{
    if (!out) {
        *count = available;
        return VK_SUCCESS;
    }
    bool fits = *count >= available;
    if (fits)
        *count = available;
    memcpy(out, elements, *count * size);
    return fits ? VK_SUCCESS : VK_INCOMPLETE;
}
