/* An instance of a game that is newer than the layer's headers, and what is asked of it and of its
 * physical devices: each chain reaches the driver as it is, and devices are sampled all the same
 * (HAZARDS 10). */
#include "extending.h"
#include "tests/layer/hooks/every_call.h"
#include "tests/null_driver/newer.h"

#include <string.h>

static struct pm_harness h;

/* Something that the driver does not look into. */
#define OTHER VK_STRUCTURE_TYPE_APPLICATION_INFO

/* What of a chain the driver was given in a command. */
static struct seen {
    const char *command;
    uint32_t argument;
    VkStructureType known;
    uint32_t calls, known_ones, unknown_ones;
    bool in_order; /* as the program had them */
} seen;

static void see_chain(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, seen.command) != 0)
        return;
    const VkBaseInStructure *item = (const void *)(uintptr_t)call->arguments[seen.argument];
    seen.calls++;
    for (; item; item = item->pNext) {
        seen.known_ones += item->sType == seen.known;
        seen.unknown_ones += item->sType == PM_NEWER_TYPE;
        seen.in_order |=
            item->sType == seen.known && item->pNext != NULL && item->pNext->sType == PM_NEWER_TYPE;
    }
}

static void look_at(const char *command, uint32_t argument, VkStructureType known)
{
    seen = (struct seen){.command = command, .argument = argument, .known = known};
    pm_harness_driver()->set_callback(see_chain, NULL);
}

/* ---- instances ---- */

static VKAPI_ATTR VkBool32 VKAPI_CALL say_nothing(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                  VkDebugUtilsMessageTypeFlagsEXT types,
                                                  const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                  void *user)
{
    (void)severity, (void)types, (void)data, (void)user;
    return VK_FALSE;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL report_nothing(VkDebugReportFlagsEXT flags,
                                                     VkDebugReportObjectTypeEXT type,
                                                     uint64_t object, size_t location, int32_t code,
                                                     const char *prefix, const char *message,
                                                     void *user)
{
    (void)flags, (void)type, (void)object, (void)location, (void)code;
    (void)prefix, (void)message, (void)user;
    return VK_FALSE;
}

/* What the loader reads of a structure that is all zeroes else. */
static void make_sound(void *structure, VkStructureType type)
{
    if (type == VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT)
        ((VkDebugUtilsMessengerCreateInfoEXT *)structure)->pfnUserCallback = say_nothing;
    else if (type == VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT)
        ((VkDebugReportCallbackCreateInfoEXT *)structure)->pfnCallback = report_nothing;
    else if (type == VK_STRUCTURE_TYPE_DIRECT_DRIVER_LOADING_LIST_LUNARG)
        ((VkDirectDriverLoadingListLUNARG *)structure)->mode =
            VK_DIRECT_DRIVER_LOADING_MODE_INCLUSIVE_LUNARG;
}

static void make_instance(const char *name, void *known, VkStructureType type)
{
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    struct pm_harness_options options = {.bare = true, .instance_next = known};
    ((VkBaseOutStructure *)known)->pNext = (void *)&future;
    make_sound(known, type);
    every_call_enable();
    look_at("vkCreateInstance", 0, type);
    pm_harness_open(&h, &options);
    h.driver->set_callback(NULL, NULL);
    if (seen.calls == 0 || seen.known_ones != seen.calls || seen.unknown_ones != seen.calls ||
        !seen.in_order)
        fail_msg("%s, unknown: %u, %u of %u", name, seen.known_ones, seen.unknown_ones, seen.calls);
    pm_harness_close(&h);
}

static void instances_with_every_structure(void **state)
{
    (void)state;
    uint32_t count = 0;
#define X(base, structure, type)                                                                   \
    if (strcmp(#base, "VkInstanceCreateInfo") == 0) {                                              \
        structure known = {.sType = type};                                                         \
        make_instance(#structure, &known, type);                                                   \
        count++;                                                                                   \
    }
    PM_EXTENDING(X)
#undef X
    assert_true(count >= 6);
    assert_int_equal(pm_layered_logged("sampling on Piecemeal"), count);
}

/* ---- VkApplicationInfo, of which the layer makes a copy where it asks for a later version ---- */

static struct {
    const void *chain; /* the program's */
    uint32_t calls, times, version;
} application;

static void see_application(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreateInstance") != 0)
        return;
    const VkInstanceCreateInfo *info = (const void *)(uintptr_t)call->arguments[0];
    application.calls++;
    application.times += info->pApplicationInfo->pNext == application.chain;
    application.version = info->pApplicationInfo->apiVersion;
}

static void check_application(const void *chain, uint32_t version)
{
    const struct pm_harness_options options = {
        .api_version = version, .application = "chained", .application_next = chain};
    every_call_enable();
    application.chain = chain;
    application.calls = application.times = 0;
    pm_harness_driver()->set_callback(see_application, NULL);
    pm_harness_open(&h, &options);
    h.driver->set_callback(NULL, NULL);
    const uint32_t sampled = every_call_sampled(&h, h.graphics, h.dispatch);
    pm_harness_close(&h);
    if (application.calls == 0 || application.times != application.calls || sampled != 2)
        fail_msg("%u of %u instances have the chain, %u calls are sampled", application.times,
                 application.calls, sampled);
    assert_true(application.version >= VK_API_VERSION_1_2);
}

/* No structure of the headers may be there. */
static void an_application_with_an_unknown_structure(void **state)
{
    (void)state;
    const VkBaseInStructure second = {.sType = OTHER};
    const VkBaseInStructure future = {.sType = PM_NEWER_TYPE, .pNext = &second};
    check_application(&future, VK_API_VERSION_1_0);
    check_application(&future, VK_API_VERSION_1_3);
}

/* ---- what is asked ---- */

/* Asks with something known and something unknown chained to a structure. */
#define ASK(call, name, index, value, type)                                                        \
    do {                                                                                           \
        VkBaseOutStructure future = {.sType = PM_NEWER_TYPE};                                      \
        VkBaseOutStructure known = {.sType = type, .pNext = &future};                              \
        (value).pNext = &known;                                                                    \
        look_at(name, index, type);                                                                \
        call;                                                                                      \
        h.driver->set_callback(NULL, NULL);                                                        \
        if (seen.calls == 0 || !seen.in_order)                                                     \
            fail_msg("%s: %u calls, %u unknown", name, seen.calls, seen.unknown_ones);             \
        asked++;                                                                                   \
    } while (false)

static void physical_devices_are_asked(void **state)
{
    (void)state;
    const struct pm_harness_options options = {.bare = true};
    uint32_t asked = 0, one = 1;
    VkPhysicalDeviceProperties2 properties = {.sType =
                                                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    VkFormatProperties2 format = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};
    VkQueueFamilyProperties2 family = {.sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2};
    VkPhysicalDeviceImageFormatInfo2 image = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .type = VK_IMAGE_TYPE_2D,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    VkImageFormatProperties2 of_image = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    every_call_enable();
    pm_harness_open(&h, &options);
    const struct pm_instance_dispatch *vk = &h.vki;
    ASK(vk->GetPhysicalDeviceProperties2(h.physical, &properties), "vkGetPhysicalDeviceProperties2",
        1, properties, OTHER);
    ASK(vk->GetPhysicalDeviceFeatures2(h.physical, &features), "vkGetPhysicalDeviceFeatures2", 1,
        features, OTHER);
    ASK(vk->GetPhysicalDeviceMemoryProperties2(h.physical, &memory),
        "vkGetPhysicalDeviceMemoryProperties2", 1, memory, OTHER);
    ASK(vk->GetPhysicalDeviceFormatProperties2(h.physical, image.format, &format),
        "vkGetPhysicalDeviceFormatProperties2", 2, format, OTHER);
    ASK(vk->GetPhysicalDeviceQueueFamilyProperties2(h.physical, &one, &family),
        "vkGetPhysicalDeviceQueueFamilyProperties2", 2, family, OTHER);
    ASK(vk->GetPhysicalDeviceImageFormatProperties2(h.physical, &image, &of_image),
        "vkGetPhysicalDeviceImageFormatProperties2", 1, image, OTHER);
    image.pNext = NULL;
    ASK(vk->GetPhysicalDeviceImageFormatProperties2(h.physical, &image, &of_image),
        "vkGetPhysicalDeviceImageFormatProperties2", 2, of_image, OTHER);
    pm_harness_close(&h);
    assert_int_equal(asked, 7);
}

/* The layer writes into an element of this, and into no chain. */
static void tools_are_asked(void **state)
{
    (void)state;
    enum { MOST = 8 };
    const struct pm_harness_options options = {.bare = true};
    VkBaseOutStructure futures[MOST];
    VkPhysicalDeviceToolProperties tools[MOST];
    uint32_t count = MOST, ours = 0;
    every_call_enable();
    pm_harness_open(&h, &options);
    for (int i = 0; i < MOST; i++) {
        futures[i] = (VkBaseOutStructure){.sType = PM_NEWER_TYPE};
        tools[i] = (VkPhysicalDeviceToolProperties){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES, .pNext = &futures[i]};
    }
    PM_CHECK(h.vki.GetPhysicalDeviceToolProperties(h.physical, &count, tools));
    for (uint32_t i = 0; i < MOST; i++) {
        ours += i < count && strstr(tools[i].name, "Piecemeal") != NULL;
        assert_ptr_equal(tools[i].pNext, &futures[i]);
        assert_int_equal(tools[i].sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES);
        assert_int_equal(futures[i].sType, PM_NEWER_TYPE);
        assert_null(futures[i].pNext);
    }
    assert_int_equal(ours, 1);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(instances_with_every_structure),
        PM_LAYERED_TEST(an_application_with_an_unknown_structure),
        PM_LAYERED_TEST(physical_devices_are_asked),
        PM_LAYERED_TEST(tools_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
