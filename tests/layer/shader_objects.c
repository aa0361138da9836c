#include "tests/layer/shader_objects.h"

#include "tests/layer/optimized.h"
#include "tests/layer/pipelines.h"
#include <pthread.h>
#include <string.h>

enum { MOST_BINDS = 64, MOST_MADE = 8 };

static struct {
    pthread_mutex_t lock; /* the layer makes some on threads of its own */
    struct object_bind binds[MOST_BINDS];
    uint32_t bind_count;
    struct object_made made;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void watch(void *user, const struct pm_null_call *call)
{
    (void)user;
    pthread_mutex_lock(&seen.lock);
    if (strcmp(call->command, "vkCmdBindShadersEXT") == 0) {
        struct object_bind *bind = &seen.binds[seen.bind_count++ % MOST_BINDS];
        const VkShaderStageFlagBits *stages = (const void *)(uintptr_t)call->arguments[2];
        const VkShaderEXT *shaders = (const void *)(uintptr_t)call->arguments[3];
        *bind = (struct object_bind){.count = (uint32_t)call->arguments[1]};
        for (uint32_t i = 0; i < bind->count && i < 8; i++) {
            bind->stages[i] = stages[i];
            bind->shaders[i] = shaders ? shaders[i] : VK_NULL_HANDLE;
        }
    } else if (strcmp(call->command, "vkCreateShadersEXT") == 0) {
        const VkShaderCreateInfoEXT *info = (const void *)(uintptr_t)call->arguments[2];
        seen.made = (struct object_made){
            .calls = seen.made.calls + 1,
            .count = (uint32_t)call->arguments[1],
            .flags = info->flags,
            .stage = info->stage,
            .spec_entries =
                info->pSpecializationInfo ? info->pSpecializationInfo->mapEntryCount : 0,
            .set_layouts = info->setLayoutCount,
            .push_ranges = info->pushConstantRangeCount,
        };
    }
    pthread_mutex_unlock(&seen.lock);
}

void objects_open(struct pm_harness *harness)
{
    static const char *const extensions[] = {"VK_EXT_shader_object",
                                             "VK_EXT_device_generated_commands", NULL};
    const VkPhysicalDeviceShaderObjectFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT,
        .shaderObject = VK_TRUE};
    const struct pm_harness_options options = {.device_extensions = extensions,
                                               .device_next = &features};
    seen.bind_count = 0;
    seen.made = (struct object_made){0};
    pm_harness_driver()->set_callback(watch, NULL);
    pm_harness_open(harness, &options);
}

void objects_make(struct pm_harness *harness, const struct object_options *options, uint32_t count,
                  VkShaderEXT *out)
{
    static const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, 16};
    VkShaderCreateInfoEXT infos[MOST_MADE];
    assert_true(count <= MOST_MADE);
    for (uint32_t i = 0; i < count; i++) {
        const bool weighted =
            options[i].weighted || options[i].stage == VK_SHADER_STAGE_COMPUTE_BIT;
        size_t size = options[i].size;
        const uint32_t *words = options[i].words ? options[i].words
                                : weighted       ? optimized_words(options[i].stage, &size)
                                                 : parts_words(options[i].stage, &size);
        infos[i] = (VkShaderCreateInfoEXT){
            .sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
            .pNext = options[i].next,
            .flags = options[i].flags,
            .stage = options[i].stage,
            .nextStage = options[i].stage == VK_SHADER_STAGE_VERTEX_BIT
                             ? (VkShaderStageFlags)VK_SHADER_STAGE_FRAGMENT_BIT
                             : 0,
            .codeType =
                options[i].binary ? VK_SHADER_CODE_TYPE_BINARY_EXT : VK_SHADER_CODE_TYPE_SPIRV_EXT,
            .codeSize = size,
            .pCode = words,
            .pName = "main",
            .setLayoutCount = 1,
            .pSetLayouts = options[i].set_layout ? options[i].set_layout : &harness->set_layout,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges = &range,
        };
    }
    PM_CHECK(harness->vk.CreateShadersEXT(harness->device, count, infos, NULL, out));
}

VkShaderEXT object_make(struct pm_harness *harness, VkShaderStageFlagBits stage)
{
    VkShaderEXT shader;
    objects_make(harness, &(struct object_options){.stage = stage}, 1, &shader);
    return shader;
}

void objects_bind(struct pm_harness *harness, VkCommandBuffer buffer, VkShaderEXT vertex,
                  VkShaderEXT fragment)
{
    const VkShaderStageFlagBits stages[2] = {VK_SHADER_STAGE_VERTEX_BIT,
                                             VK_SHADER_STAGE_FRAGMENT_BIT};
    harness->vk.CmdBindShadersEXT(buffer, 2, stages, (const VkShaderEXT[2]){vertex, fragment});
}

void object_bind(struct pm_harness *harness, VkCommandBuffer buffer, VkShaderStageFlagBits stage,
                 VkShaderEXT shader)
{
    harness->vk.CmdBindShadersEXT(buffer, 1, &stage, &shader);
}

uint32_t objects_binds(void)
{
    return seen.bind_count;
}

struct object_bind objects_bound(uint32_t n)
{
    assert_true(n < seen.bind_count && seen.bind_count <= MOST_BINDS);
    return seen.binds[n];
}

struct object_made objects_made(void)
{
    pthread_mutex_lock(&seen.lock);
    const struct object_made made = seen.made;
    pthread_mutex_unlock(&seen.lock);
    return made;
}
