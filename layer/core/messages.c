#include "layer/core/messages.h"
#include "layer/core/layer.h"
#include <stdlib.h>
#include <string.h>

void pm_messages_init(struct pm_messages *messages)
{
    atomic_init(&messages->count, 0);
    pthread_mutex_init(&messages->lock, NULL);
}

void pm_messages_finish(struct pm_messages *messages)
{
    for (uint32_t i = 0; i < atomic_load(&messages->count); i++)
        free(messages->texts[i]);
    pthread_mutex_destroy(&messages->lock);
}

void pm_messages_post(void *user, enum pm_log_level level, const char *message)
{
    struct pm_messages *messages = user;
    pthread_mutex_lock(&messages->lock);
    const uint32_t count = atomic_load(&messages->count);
    char *text = count < PM_MESSAGES ? strdup(message) : NULL;
    if (text) {
        messages->levels[count] = level;
        messages->texts[count] = text;
        atomic_store(&messages->count, count + 1);
    }
    pthread_mutex_unlock(&messages->lock);
}

static void submit(struct pm_instance *instance, enum pm_log_level level, const char *text)
{
    static const VkDebugUtilsMessageSeverityFlagBitsEXT severities[] = {
        [PM_LOG_ERROR] = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        [PM_LOG_WARNING] = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        [PM_LOG_INFO] = VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
        [PM_LOG_DEBUG] = VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT,
    };
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pMessageIdName = "Piecemeal",
        .pMessage = text,
    };
    instance->dispatch.SubmitDebugUtilsMessageEXT(
        instance->handle, severities[level], VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT, &data);
}

void pm_messages_deliver(struct pm_instance *instance)
{
    struct pm_messages *messages = &instance->messages;
    if (atomic_load_explicit(&messages->count, memory_order_relaxed) == 0)
        return;
    enum pm_log_level levels[PM_MESSAGES];
    char *texts[PM_MESSAGES];
    pthread_mutex_lock(&messages->lock);
    const uint32_t count = atomic_load(&messages->count);
    memcpy(levels, messages->levels, count * sizeof *levels);
    memcpy(texts, messages->texts, count * sizeof *texts);
    atomic_store(&messages->count, 0);
    pthread_mutex_unlock(&messages->lock);
    /* Without the lock: a game's callback may call Vulkan, and so us. */
    for (uint32_t i = 0; i < count; i++) {
        submit(instance, levels[i], texts[i]);
        free(texts[i]);
    }
}
