/* Passes that are recorded into secondary command buffers. example.h. */
#include "examples/common/example.h"

static void note(const struct pm_example_recording *recording, VkResult result)
{
    if (*recording->result == VK_SUCCESS)
        *recording->result = result;
}

VkCommandBuffer pm_example_begin(const struct pm_example_recording *recording, uint32_t pass,
                                 const struct pm_example_target *target)
{
    if (!recording->secondaries) {
        if (target)
            pm_gpu_pass_begin(recording->commands, target->pass, target->target, target->width,
                              target->height, target->colors);
        return recording->commands;
    }
    const VkCommandBuffer commands = recording->secondaries[pass];
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .renderPass = target ? target->pass : VK_NULL_HANDLE,
    };
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags =
            recording->usage |
            (target ? (VkCommandBufferUsageFlags)VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT
                    : 0),
        .pInheritanceInfo = &inheritance,
    };
    note(recording, vkBeginCommandBuffer(commands, &info));
    if (target)
        pm_gpu_viewport(commands, target->width, target->height);
    return commands;
}

void pm_example_end(const struct pm_example_recording *recording, uint32_t pass,
                    const struct pm_example_target *target)
{
    if (recording->secondaries) {
        const VkCommandBuffer commands = recording->secondaries[pass];
        note(recording, vkEndCommandBuffer(commands));
        if (target)
            pm_gpu_pass_begin_secondary(recording->commands, target->pass, target->target,
                                        target->width, target->height, target->colors);
        vkCmdExecuteCommands(recording->commands, 1, &commands);
    }
    if (target)
        vkCmdEndRenderPass(recording->commands);
}
