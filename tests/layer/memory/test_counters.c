/* What blocks of counters hold that were another's before, where the host reaches them and where it
 * does not; and what memory they take before anything is counted. */
#include "layer/memory/counters.h"

#include "tests/cmocka_includes.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static struct pm_instance instance;
static struct pm_device device;
static _Alignas(64) unsigned char memory[MIB];

#define HANDLE(type) (type)(uintptr_t) 0x40

static VkResult create_buffer(VkDevice of, const VkBufferCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkBuffer *out)
{
    (void)of, (void)info, (void)allocator;
    *out = HANDLE(VkBuffer);
    return VK_SUCCESS;
}

static void destroy_buffer(VkDevice of, VkBuffer buffer, const VkAllocationCallbacks *allocator)
{
    (void)of, (void)buffer, (void)allocator;
}

static void requirements(VkDevice of, VkBuffer buffer, VkMemoryRequirements *out)
{
    (void)of, (void)buffer;
    *out = (VkMemoryRequirements){.size = MIB, .alignment = 64, .memoryTypeBits = 1};
}

static VkResult allocate(VkDevice of, const VkMemoryAllocateInfo *info,
                         const VkAllocationCallbacks *allocator, VkDeviceMemory *out)
{
    (void)of, (void)info, (void)allocator;
    *out = HANDLE(VkDeviceMemory);
    return VK_SUCCESS;
}

static void free_memory(VkDevice of, VkDeviceMemory what, const VkAllocationCallbacks *allocator)
{
    (void)of, (void)what, (void)allocator;
}

static VkResult map(VkDevice of, VkDeviceMemory what, VkDeviceSize offset, VkDeviceSize size,
                    VkMemoryMapFlags flags, void **out)
{
    (void)of, (void)what, (void)offset, (void)size, (void)flags;
    *out = memory;
    return VK_SUCCESS;
}

static VkResult bind(VkDevice of, VkBuffer buffer, VkDeviceMemory what, VkDeviceSize offset)
{
    (void)of, (void)buffer, (void)what, (void)offset;
    return VK_SUCCESS;
}

static VkDeviceAddress address(VkDevice of, const VkBufferDeviceAddressInfo *info)
{
    (void)of, (void)info;
    return 0x10000;
}

static VkResult create_pool(VkDevice of, const VkCommandPoolCreateInfo *info,
                            const VkAllocationCallbacks *allocator, VkCommandPool *out)
{
    (void)of, (void)info, (void)allocator;
    *out = HANDLE(VkCommandPool);
    return VK_SUCCESS;
}

static void destroy_pool(VkDevice of, VkCommandPool pool, const VkAllocationCallbacks *allocator)
{
    (void)of, (void)pool, (void)allocator;
}

static VkResult create_fence(VkDevice of, const VkFenceCreateInfo *info,
                             const VkAllocationCallbacks *allocator, VkFence *out)
{
    (void)of, (void)info, (void)allocator;
    *out = HANDLE(VkFence);
    return VK_SUCCESS;
}

static void destroy_fence(VkDevice of, VkFence fence, const VkAllocationCallbacks *allocator)
{
    (void)of, (void)fence, (void)allocator;
}

static VkResult wait(VkDevice of, uint32_t count, const VkFence *fences, VkBool32 all,
                     uint64_t timeout)
{
    (void)of, (void)count, (void)fences, (void)all, (void)timeout;
    return VK_SUCCESS;
}

static VkResult status(VkDevice of, VkFence fence)
{
    (void)of, (void)fence;
    return VK_SUCCESS;
}

static VkResult allocate_commands(VkDevice of, const VkCommandBufferAllocateInfo *info,
                                  VkCommandBuffer *out)
{
    (void)of, (void)info;
    *out = HANDLE(VkCommandBuffer);
    return VK_SUCCESS;
}

static VkResult set_loader_data(VkDevice of, void *object)
{
    (void)of, (void)object;
    return VK_SUCCESS;
}

static VkResult begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info)
{
    (void)commands, (void)info;
    return VK_SUCCESS;
}

static void fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                 uint32_t value)
{
    (void)commands, (void)buffer, (void)offset, (void)size;
    memset(memory, (int)value, sizeof memory);
}

static VkResult end(VkCommandBuffer commands)
{
    (void)commands;
    return VK_SUCCESS;
}

static void queue_of(VkDevice of, uint32_t family, uint32_t index, VkQueue *out)
{
    (void)of, (void)family, (void)index;
    *out = HANDLE(VkQueue);
}

static VkResult submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    (void)queue, (void)count, (void)infos, (void)fence;
    return VK_SUCCESS;
}

static struct pm_counters *create(bool host)
{
    instance.config.limits.counter_memory_mib = 1;
    device = (struct pm_device){
        .instance = &instance,
        .set_loader_data = set_loader_data,
        .memory = {.memoryTypeCount = 1,
                   .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                        (host ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                                              : 0),
                                    0}},
                   .memoryHeapCount = 1,
                   .memoryHeaps = {{MIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}}},
        .dispatch = {.CreateBuffer = create_buffer,
                     .DestroyBuffer = destroy_buffer,
                     .GetBufferMemoryRequirements = requirements,
                     .AllocateMemory = allocate,
                     .FreeMemory = free_memory,
                     .MapMemory = map,
                     .BindBufferMemory = bind,
                     .GetBufferDeviceAddress = address,
                     .CreateCommandPool = create_pool,
                     .DestroyCommandPool = destroy_pool,
                     .CreateFence = create_fence,
                     .DestroyFence = destroy_fence,
                     .WaitForFences = wait,
                     .GetFenceStatus = status,
                     .AllocateCommandBuffers = allocate_commands,
                     .BeginCommandBuffer = begin,
                     .CmdFillBuffer = fill,
                     .EndCommandBuffer = end,
                     .GetDeviceQueue = queue_of,
                     .QueueSubmit = submit},
    };
    struct pm_counters *counters = pm_counters_create(&device, NULL);
    assert_non_null(counters);
    return counters;
}

/* A shader counts in the block. */
static struct pm_counter_block use(struct pm_counters *counters, uint64_t bytes, bool zero)
{
    struct pm_counter_block block;
    assert_true(pm_counters_allocate(counters, bytes, zero, &block, NULL));
    for (uint64_t i = 0; zero && i < block.bytes; i++)
        assert_int_equal(memory[block.offset + i], 0);
    memset(memory + block.offset, 7, (size_t)block.bytes);
    return block;
}

static void what_must_be_zero_is(void **state)
{
    (void)state;
    for (int host = 0; host < 2; host++) {
        struct pm_counters *counters = create(host);
        const struct pm_counter_block first = use(counters, 512, false),
                                      second = use(counters, 1024, true);
        pm_counters_free(counters, &first);
        pm_counters_free(counters, &second);
        use(counters, 256, true);
        /* What need not be is what was another's. */
        assert_int_equal(use(counters, 512, false).offset, host ? 256 : 0);
        use(counters, 1024, true);
        pm_counters_destroy(counters);
    }
}

/* It will not come back, so nobody is to wait for it. */
static void zero_memory_is_used_up(void **state)
{
    (void)state;
    for (int host = 0; host < 2; host++) {
        struct pm_error error = {0};
        struct pm_counter_block block;
        struct pm_counters *counters = create(host);
        const struct pm_counter_block all = use(counters, MIB, false);
        assert_false(pm_counters_allocate(counters, 64, false, &block, &error));
        assert_int_equal(error.code, PM_ERROR_LIMIT);
        pm_counters_free(counters, &all);
        assert_true(pm_counters_allocate(counters, 64, true, &block, &error) == host);
        if (!host)
            assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
        use(counters, 64, false);
        pm_counters_destroy(counters);
    }
}

/* Memory that the game has freed before, as malloc gives it again: so much of it, which is not
 * there yet, or was written. */
static void free_before(size_t bytes, bool written)
{
    static void *behind; /* keeps it from going back to the system */
    void *volatile memory_before = malloc(bytes);
    free(behind);
    behind = malloc(64);
    assert_non_null(memory_before);
    assert_non_null(behind);
    if (written)
        memset(memory_before, 7, bytes);
    free(memory_before);
}

/* Of what was last seen, that of all counters. */
static size_t pages_there(struct pm_counters *counters)
{
    unsigned char there[MIB / 4096 + 1];
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)pm_counters_seen(counters, 0) & ~(page - 1),
                    to = (uintptr_t)pm_counters_seen(counters, MIB - 8);
    size_t count = 0;
    assert_int_equal(mincore((void *)from, to - from, there), 0);
    for (size_t i = 0; i < (to - from + page - 1) / page; i++)
        count += there[i] & 1;
    return count;
}

/* Of a MiB: a device takes no memory for counters that no shader has yet, nor the time to write it.
 */
static void what_nobody_has_is_not_there(void **state)
{
    (void)state;
    for (int host = 0; host < 2; host++) {
        free_before(4 * (size_t)MIB, false);
        struct pm_counters *counters = create(host);
        use(counters, 64, true);
        /* That, and what malloc writes beside. */
        assert_in_range(pages_there(counters), 1, 8);
        pm_counters_destroy(counters);
    }
}

/* Nothing was seen of counters that nobody had. */
static void nothing_was_seen_of_new_ones(void **state)
{
    (void)state;
    for (int host = 0; host < 2; host++) {
        free_before(4 * (size_t)MIB, true);
        struct pm_counters *counters = create(host);
        for (int i = 0; i < 16; i++) {
            const struct pm_counter_block block = use(counters, 1024, i % 2);
            for (uint64_t at = 0; at < block.bytes; at += 8)
                assert_int_equal(*pm_counters_seen(counters, block.offset + at), 0);
        }
        pm_counters_destroy(counters);
    }
}

int main(void)
{
    /* Also what is large comes of what was freed, as in a game that has freed such memory. */
    mallopt(M_MMAP_THRESHOLD, 32 * MIB);
    mallopt(M_TRIM_THRESHOLD, 64 * MIB);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_has_is_not_there), /* the first: nothing was written before */
        cmocka_unit_test(what_must_be_zero_is),
        cmocka_unit_test(zero_memory_is_used_up),
        cmocka_unit_test(nothing_was_seen_of_new_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
