/* Counter memory that is at the same address in the next session (HAZARDS 17). */
#include "tests/layer/layered.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED "=-1000257000" /* VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS */

static struct pm_harness h;

enum { MOST_ATTEMPTS = 4 };

/* What the driver was asked for in a session. */
struct session {
    bool by_feature; /* the device was made with bufferDeviceAddressCaptureReplay */
    uint32_t buffers, memories;
    bool replayable[MOST_ATTEMPTS];
    uint64_t buffer[MOST_ATTEMPTS], memory[MOST_ATTEMPTS]; /* 0: any address */
    uint64_t compute, fragment; /* the counters' addresses in the variants; 0: no variant */
};

static const void *find(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != type)
        item = item->pNext;
    return item;
}

static uint64_t counters_of(const VkSpecializationInfo *info)
{
    uint64_t address = 0;
    if (info && info->dataSize == sizeof(address))
        memcpy(&address, info->pData, sizeof(address));
    return address;
}

static void see_buffer(struct session *session, const VkBufferCreateInfo *info)
{
    const VkBufferOpaqueCaptureAddressCreateInfo *asked =
        find(info->pNext, VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO);
    if (!(info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT))
        return;
    assert_in_range(session->buffers, 0, MOST_ATTEMPTS - 1);
    session->replayable[session->buffers] =
        (info->flags & VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT) != 0;
    session->buffer[session->buffers++] = asked ? asked->opaqueCaptureAddress : 0;
}

static void see_memory(struct session *session, const VkMemoryAllocateInfo *info)
{
    const VkMemoryAllocateFlagsInfo *flags =
        find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    const VkMemoryOpaqueCaptureAddressAllocateInfo *asked =
        find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO);
    if (!flags)
        return;
    assert_in_range(session->memories, 0, MOST_ATTEMPTS - 1);
    assert_true(flags->flags & VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT);
    assert_int_equal((flags->flags & VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT) != 0,
                     session->replayable[session->buffers - 1]);
    session->memory[session->memories++] = asked ? asked->opaqueCaptureAddress : 0;
}

static void see(void *user, const struct pm_null_call *call)
{
    struct session *session = user;
    const void *info = (const void *)(uintptr_t)call->arguments[1];
    if (strcmp(call->command, "vkCreateDevice") == 0) {
        const VkDeviceCreateInfo *device = info;
        const VkPhysicalDeviceBufferDeviceAddressFeatures *features =
            find(device->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
        session->by_feature |= features && features->bufferDeviceAddressCaptureReplay;
    } else if (strcmp(call->command, "vkCreateBuffer") == 0) {
        see_buffer(session, info);
    } else if (strcmp(call->command, "vkAllocateMemory") == 0) {
        see_memory(session, info);
    } else if (strcmp(call->command, "vkCreateComputePipelines") == 0) {
        const VkComputePipelineCreateInfo *pipeline = (const void *)(uintptr_t)call->arguments[3];
        if (counters_of(pipeline->stage.pSpecializationInfo))
            session->compute = counters_of(pipeline->stage.pSpecializationInfo);
    } else if (strcmp(call->command, "vkCreateGraphicsPipelines") == 0) {
        const VkGraphicsPipelineCreateInfo *pipeline = (const void *)(uintptr_t)call->arguments[3];
        for (uint32_t i = 0; i < pipeline->stageCount; i++) {
            if (counters_of(pipeline->pStages[i].pSpecializationInfo))
                session->fragment = counters_of(pipeline->pStages[i].pSpecializationInfo);
        }
    }
}

static struct session start(const struct pm_harness_options *options)
{
    struct session session = {0};
    const struct pm_null_api *driver = pm_harness_driver();
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    driver->set_callback(see, &session);
    pm_harness_open(&h, options);
    driver->set_callback(NULL, NULL);
    return session;
}

/* A program from its start to its end, each of whose two pipelines got a variant. */
static struct session run(const struct pm_harness_options *options)
{
    struct session session = start(options);
    pm_harness_close(&h);
    assert_int_not_equal(session.compute, 0);
    assert_int_not_equal(session.fragment, 0);
    return session;
}

/* It asks for no address, but for one that it can ask for again. */
static void assert_asks_for_any(const struct session *session)
{
    assert_int_equal(session->buffers, 1);
    assert_int_equal(session->memories, 1);
    assert_true(session->replayable[0]);
    assert_int_equal(session->buffer[0], 0);
    assert_int_equal(session->memory[0], 0);
}

static void assert_same_addresses(const struct session *a, const struct session *b)
{
    assert_int_equal(a->compute, b->compute);
    assert_int_equal(a->fragment, b->fragment);
}

static void the_next_session_has_the_same(void **state)
{
    (void)state;
    const struct session first = run(NULL);
    assert_true(first.by_feature);
    assert_asks_for_any(&first);
    for (int i = 0; i < 3; i++) {
        const struct session next = run(NULL);
        assert_int_equal(next.buffers, 1);
        assert_int_equal(next.memories, 1);
        assert_true(next.replayable[0]);
        assert_int_not_equal(next.buffer[0], 0);
        assert_int_not_equal(next.memory[0], 0);
        assert_same_addresses(&next, &first);
    }
}

/* A block's place follows from what counts in it, not from what was made before it. */
static void the_order_does_not_matter(void **state)
{
    (void)state;
    const struct session both = run(NULL);
    setenv("PM_NULL_SUBGROUP_STAGES", "32", 1);
    const struct session compute = start(NULL);
    pm_harness_close(&h);
    setenv("PM_NULL_SUBGROUP_STAGES", "16", 1);
    const struct session fragment = start(NULL);
    pm_harness_close(&h);
    assert_int_equal(compute.fragment, 0);
    assert_int_equal(compute.compute, both.compute);
    assert_int_equal(fragment.compute, 0);
    assert_int_equal(fragment.fragment, both.fragment);
}

static void a_refused_address(void **state)
{
    (void)state;
    const char *const refusals[] = {"vkCreateBuffer:1" REFUSED, "vkAllocateMemory:1" REFUSED,
                                    "vkAllocateMemory:1"};
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct session first = run(NULL);
        setenv("PM_NULL_FAIL", refusals[i], 1);
        const struct session refused = run(NULL);
        unsetenv("PM_NULL_FAIL");
        assert_int_equal(refused.buffers, 2);
        assert_int_not_equal(refused.buffer[0], 0);
        assert_true(refused.replayable[1]);
        assert_int_equal(refused.buffer[1], 0);
        assert_int_not_equal(refused.compute, first.compute);
        /* What was given instead is what is asked for from then on. */
        const struct session next = run(NULL);
        assert_int_equal(next.buffers, 1);
        assert_same_addresses(&next, &refused);
    }
}

/* No memory for capture and replay at all: any other will do. */
static void a_driver_that_cannot_after_all(void **state)
{
    (void)state;
    setenv("PM_NULL_FAIL", "vkCreateBuffer:1", 1);
    const struct session session = run(NULL);
    unsetenv("PM_NULL_FAIL");
    assert_int_equal(session.buffers, 2);
    assert_false(session.replayable[1]);
    const struct session next = run(NULL);
    assert_asks_for_any(&next);
}

static void a_device_without_the_feature(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "bufferDeviceAddressCaptureReplay", 1);
    const struct session session = run(NULL);
    unsetenv("PM_NULL_WITHOUT_FEATURES");
    assert_false(session.by_feature);
    assert_int_equal(session.buffers, 1);
    assert_false(session.replayable[0]);
}

/* In Vulkan 1.1 it is an extension's, whose names the commands then have. */
static void the_extension_alone(void **state)
{
    (void)state;
    setenv("PM_NULL_API_VERSION", "1.1", 1);
    const struct session first = run(NULL);
    assert_asks_for_any(&first);
    const struct session next = run(NULL);
    assert_int_not_equal(next.memory[0], 0);
    assert_same_addresses(&next, &first);
}

/* A game that replays addresses of its own (a capture tool's player) is left all of them. */
static void a_game_that_uses_it_itself(void **state)
{
    (void)state;
    VkPhysicalDeviceBufferDeviceAddressFeatures features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .bufferDeviceAddress = VK_TRUE,
        .bufferDeviceAddressCaptureReplay = VK_TRUE,
    };
    const struct session session = run(&(struct pm_harness_options){.device_next = &features});
    assert_int_equal(session.buffers, 1);
    assert_false(session.replayable[0]);
}

/* Two at once have two addresses, both of which last. */
static void two_devices(void **state)
{
    (void)state;
    struct session sessions[2][2];
    for (int i = 0; i < 2; i++) {
        sessions[i][0] = start(NULL);
        struct pm_harness other = h;
        sessions[i][1] = start(NULL);
        pm_harness_close(&h);
        pm_harness_close(&other);
    }
    assert_int_not_equal(sessions[0][0].compute, sessions[0][1].compute);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sessions[1][i].buffers, 1);
        assert_same_addresses(&sessions[1][i], &sessions[0][i]);
    }
}

/* ---- the file ---- */

static void find_file(char *path, size_t size)
{
    char folder[160];
    snprintf(folder, sizeof(folder), "%s/piecemeal/counters", pm_layered_home());
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    uint32_t files = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        files++;
        snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    closedir(directory);
    assert_int_equal(files, 1);
}

static void write_file(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* Whatever the file holds, no address that no driver gave is asked for. */
static void a_damaged_file(void **state)
{
    (void)state;
    char path[512], good[1024], bad[2048];
    const struct pm_harness_options bare = {.bare = true};
    run(NULL);
    find_file(path, sizeof(path));
    FILE *file = fopen(path, "re");
    const size_t size = fread(good, 1, sizeof(good), file);
    fclose(file);
    assert_in_range(size, 100, 400);
    for (size_t i = 0; i <= size; i++) {
        memset(bad, '7', sizeof(bad));
        memcpy(bad, good, size);
        size_t length = i % 3 == 0 ? i : size; /* cut off */
        if (i % 3 == 1)
            bad[i % size] ^= (char)(1u << (i % 8));
        else if (i % 3 == 2)
            length = i + 2 == size ? sizeof(bad) : size + 1 + i; /* too long */
        if (i == size)
            length = 0;
        write_file(path, bad, length);
        const struct session session = start(&bare);
        pm_harness_close(&h);
        assert_asks_for_any(&session);
    }
    /* The last one wrote a good one again. */
    const struct session next = start(&bare);
    pm_harness_close(&h);
    assert_int_not_equal(next.memory[0], 0);
}

static void no_place_to_keep_them(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", "/proc/self/nowhere", 1);
    for (int i = 0; i < 2; i++) {
        const struct session session = run(NULL);
        assert_asks_for_any(&session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_next_session_has_the_same),
        PM_LAYERED_TEST(the_order_does_not_matter),
        PM_LAYERED_TEST(a_refused_address),
        PM_LAYERED_TEST(a_driver_that_cannot_after_all),
        PM_LAYERED_TEST(a_device_without_the_feature),
        PM_LAYERED_TEST(the_extension_alone),
        PM_LAYERED_TEST(a_game_that_uses_it_itself),
        PM_LAYERED_TEST(two_devices),
        PM_LAYERED_TEST(a_damaged_file),
        PM_LAYERED_TEST(no_place_to_keep_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
