/* A device of a game that is newer than the layer's headers: what sampling needs is added, whatever
 * is in the chain (HAZARDS 10). */
#define VK_ENABLE_BETA_EXTENSIONS /* which the layer does not know */
#include "extending.h"
#include "profile/session_status.h"
#include "tests/layer/hooks/every_call.h"
#include "tests/layer/hooks/extending_table.h"
#include "tests/null_driver/newer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* What the driver was asked for in the last vkCreateDevice. */
struct asked {
    uint32_t future[3], maintenance9, address, core;
    uint32_t unknown;   /* structures of PM_NEWER_TYPE */
    const void *queues; /* the chain of the first of its queues' */
};

static void see_create_device(void *user, const struct pm_null_call *call)
{
    struct asked *asked = user;
    if (strcmp(call->command, "vkCreateDevice") != 0)
        return;
    *asked = (struct asked){.core = 0};
    const VkDeviceCreateInfo *info = (const void *)(uintptr_t)call->arguments[1];
    asked->queues = info->pQueueCreateInfos[0].pNext;
    for (const VkBaseInStructure *item = info->pNext; item; item = item->pNext) {
        if (item->sType == PM_NULL_FUTURE_FEATURES)
            memcpy(asked->future, ((const struct pm_null_future_features *)item)->features,
                   sizeof asked->future);
        else if (item->sType == PM_NULL_MAINTENANCE_9_FEATURES)
            asked->maintenance9 =
                ((const struct pm_null_maintenance9_features *)item)->maintenance9;
        else if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            asked->address |= ((const VkPhysicalDeviceVulkan12Features *)item)->bufferDeviceAddress;
        else if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            asked->address |=
                ((const VkPhysicalDeviceBufferDeviceAddressFeatures *)item)->bufferDeviceAddress;
        else if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            asked->core = ((const VkPhysicalDeviceFeatures2 *)item)->features.shaderInt64;
        else if (item->sType == PM_NEWER_TYPE)
            asked->unknown++;
    }
}

/* Opens all, and says how many of a draw and a dispatch are sampled. */
static uint32_t sampled_with(const struct pm_harness_options *options, struct asked *asked)
{
    every_call_enable();
    pm_harness_driver()->set_callback(see_create_device, asked);
    pm_harness_open(&h, options);
    h.driver->set_callback(NULL, NULL);
    const uint32_t count = every_call_sampled(&h, h.graphics, h.dispatch);
    pm_harness_close(&h);
    return count;
}

static uint32_t sampled_on_device(const void *chain, struct asked *asked)
{
    const struct pm_harness_options options = {.device_next = chain};
    return sampled_with(&options, asked);
}

/* Nobody knows its size. What the layer adds stands before the game's chain, which is shared. */
static void a_device_with_an_unknown_structure(void **state)
{
    (void)state;
    struct asked asked;
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    assert_int_equal(sampled_on_device(&future, &asked), 2);
    assert_int_equal(asked.unknown, 1);
    assert_true(asked.address);
    VkPhysicalDeviceFeatures2 two = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &future};
    assert_int_equal(sampled_on_device(&two, &asked), 2);
    assert_true(asked.address && asked.core);
    assert_int_equal(asked.unknown, 1);
    assert_false(two.features.shaderInt64);
}

/* The driver says how large a structure of features is, so that what is behind it can be changed.
 */
static void a_device_with_features_that_only_the_driver_knows(void **state)
{
    (void)state;
    struct asked asked;
    VkPhysicalDeviceVulkan12Features vulkan12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    struct pm_null_future_features *future = calloc(1, sizeof *future);
    *future = (struct pm_null_future_features){PM_NULL_FUTURE_FEATURES, &vulkan12, {1, 0, 1}};
    assert_int_equal(sampled_on_device(future, &asked), 2);
    assert_true(asked.address);
    assert_false(vulkan12.bufferDeviceAddress);
    assert_true(asked.future[0] && !asked.future[1] && asked.future[2]);
    free(future);
}

/* So has a game that asks for maintenance9, which is newer than the headers, in front of the
 * features of a version or behind them. */
static void a_device_with_maintenance9(void **state)
{
    (void)state;
    for (int behind = 0; behind < 2; behind++) {
        struct asked asked;
        struct pm_null_maintenance9_features maintenance9 = {
            .sType = PM_NULL_MAINTENANCE_9_FEATURES, .maintenance9 = VK_TRUE};
        VkPhysicalDeviceVulkan12Features vulkan12 = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
        if (behind)
            vulkan12.pNext = &maintenance9;
        else
            maintenance9.pNext = &vulkan12;
        const void *chain = behind ? (const void *)&vulkan12 : &maintenance9;
        assert_int_equal(sampled_on_device(chain, &asked), 2);
        assert_true(asked.address && asked.maintenance9);
        assert_false(vulkan12.bufferDeviceAddress);
    }
    assert_int_equal(pm_layered_logged("a structure of unknown sType"), 0);
}

static void take_why_not(void *user, const struct pm_session_status *status)
{
    if (status->why_not[0] != '\0')
        snprintf(user, sizeof status->why_not, "%s", status->why_not);
}

/* What is behind a structure of which nobody knows the size stays as it is: with what sampling
 * needs on, or off, and then the player is told. */
static void a_device_whose_features_are_out_of_reach(void **state)
{
    (void)state;
    struct asked asked;
    VkPhysicalDeviceFeatures2 two = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .features = {.shaderInt64 = VK_TRUE, .fragmentStoresAndAtomics = VK_TRUE}};
    VkPhysicalDeviceVulkan12Features vulkan12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &two,
        .bufferDeviceAddress = VK_TRUE};
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE, .pNext = (const void *)&vulkan12};
    const struct pm_harness_options options = {.application = "reach", .device_next = &future};
    char why_not[PM_STATUS_TEXT] = "";
    assert_int_equal(sampled_with(&options, &asked), 2);
    pm_session_status_each("reach", take_why_not, why_not);
    assert_string_equal(why_not, "");
    vulkan12.bufferDeviceAddress = VK_FALSE;
    assert_int_equal(sampled_with(&options, &asked), 0);
    assert_false(asked.address);
    pm_session_status_each("reach", take_why_not, why_not);
    assert_string_equal(why_not, "the game leaves out buffer device addresses behind a structure "
                                 "that is newer than the layer");
    assert_true(pm_layered_logged("a structure of unknown sType 1999999001") > 0);
}

/* One device for each structure that may be in its chain, provisional ones among them, and behind
 * it one that nobody knows. */
static void devices_with_every_structure(void **state)
{
    (void)state;
    struct asked asked;
    struct pm_harness_options options = {.bare = true};
    every_call_enable();
    pm_harness_open_instance(&h, &options);
    h.driver->set_callback(see_create_device, &asked);
    uint32_t count = 0;
#define X(base, structure, type)                                                                   \
    if (strcmp(#base, "VkDeviceCreateInfo") == 0) {                                                \
        VkBaseInStructure future = {.sType = PM_NEWER_TYPE};                                       \
        structure known = {.sType = type, .pNext = (void *)&future};                               \
        options.device_next = &known;                                                              \
        PM_CHECK(pm_harness_create_device(&h, &options));                                          \
        if (!asked.address || asked.unknown != 1)                                                  \
            fail_msg("nothing is added beside " #structure);                                       \
        pm_harness_close_device(&h);                                                               \
        count++;                                                                                   \
    }
    PM_EXTENDING(X)
    const uint32_t core = count;
    PM_EXTENDING_PROVISIONAL(X)
#undef X
    h.driver->set_callback(NULL, NULL);
    pm_harness_close(&h);
    assert_true(core > 150 && count > core);
    assert_int_equal(pm_layered_logged("sampling on Piecemeal"), count);
}

/* What is chained to a queue's create info, of which the layer reads flags and counts. */
static void check_queues(const char *with, const void *chain)
{
    struct asked asked;
    const struct pm_harness_options options = {.queue_next = chain};
    const uint32_t sampled = sampled_with(&options, &asked);
    if (asked.queues != chain || sampled != 2)
        fail_msg("queues with %s: %s, %u calls are sampled", with,
                 asked.queues == chain ? "passed on" : "not passed on", sampled);
}

static void queues_with_every_structure(void **state)
{
    (void)state;
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    uint32_t count = 0;
    check_queues("something unknown", &future);
    for (size_t i = 0; i < extending_count; i++) {
        if (strcmp(extending[i].base, "VkDeviceQueueCreateInfo") != 0)
            continue;
        VkBaseInStructure *known = calloc(1, extending[i].size);
        assert_non_null(known);
        known->sType = extending[i].type;
        known->pNext = &future;
        check_queues(extending[i].structure, known);
        known->pNext = NULL;
        future.pNext = known;
        check_queues(extending[i].structure, &future);
        future.pNext = NULL;
        free(known);
        count++;
    }
    assert_true(count >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_device_with_an_unknown_structure),
        PM_LAYERED_TEST(a_device_with_features_that_only_the_driver_knows),
        PM_LAYERED_TEST(a_device_with_maintenance9),
        PM_LAYERED_TEST(a_device_whose_features_are_out_of_reach),
        PM_LAYERED_TEST(devices_with_every_structure),
        PM_LAYERED_TEST(queues_with_every_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
