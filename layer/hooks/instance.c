#include "layer/hooks/instance.h"

#include "aggregator_client/disk/spool.h"
#include "base/config_typos.h"
#include "layer/core/identity.h"
#include "layer/hooks/device.h"
#include "layer/hooks/libm.h"
#include "layer/hooks/registry.h"
#include "profile/game_note.h"
#include "profile/journal.h"
#include "profile/trouble.h"
#include "profile/values_store.h"
#include "profile/verdicts.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>

static VkLayerInstanceCreateInfo *find_link(const VkInstanceCreateInfo *info)
{
    /* The loader's own structure, which every layer is to advance in place. */
    for (VkBaseOutStructure *at = (VkBaseOutStructure *)(uintptr_t)info->pNext; at != NULL;
         at = at->pNext) {
        VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(void *)at;
        if (at->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
            link->function == VK_LAYER_LINK_INFO)
            return link;
    }
    return NULL;
}

static void say_typo(void *user, const char *message)
{
    pm_log_warning(user, "%s", message);
}

/* Config, log, database. Whatever fails makes the instance passive, with a line that says why. */
static bool set_up(struct pm_instance *instance, const VkInstanceCreateInfo *info)
{
    const VkApplicationInfo none = {0};
    const VkApplicationInfo *application =
        info->pApplicationInfo != NULL ? info->pApplicationInfo : &none;
    struct pm_process process;
    pm_process_read(&process);
    instance->game = pm_identity_name(&process, application->pApplicationName);
    const char *denied = pm_identity_denied(&process, application->pEngineName);
    pm_process_finish(&process);
    if (instance->game == NULL)
        return false;
    pm_config_init(&instance->config);
    if (denied != NULL) {
        /* Not even a log: the environment of a process with raised privileges is not to be trusted.
         */
        instance->passive = true;
        return true;
    }
    struct pm_error error = {0}, log_error = {0};
    /* Whoever starts the game may know better what it is: then that game's config is read. */
    const char *named = secure_getenv("PIECEMEAL_GAME_NAME");
    const char *game = named != NULL && named[0] != '\0' ? named : instance->game;
    /* None of libm's functions is called before this, nor where the instance is passive. */
    instance->passive =
        !(pm_libm_found() || pm_fail(&error, PM_ERROR_STATE, "libm's functions were not found")) ||
        !pm_config_load_game(&instance->config, game, &error);
    int fd = pm_log_descriptor_parse(getenv("PIECEMEAL_LOG_FD"));
    /* A bad config leaves no settings at all, but where the log was asked to be is still where to
     * say so. */
    const char *file = instance->passive ? getenv("PIECEMEAL_LOG_FILE") : instance->config.log.file;
    instance->log = pm_log_create(file != NULL && *file != '\0' ? file : NULL, fd,
                                  instance->config.log.level, &log_error);
    if (instance->passive)
        pm_log_error(instance->log, "%s; the layer passes everything through", error.message);
    if (log_error.code != PM_OK)
        pm_log_warning(instance->log, "%s", log_error.message);
    pm_trouble_note(instance->game, instance->passive         ? error.message
                                    : log_error.code != PM_OK ? log_error.message
                                                              : NULL);
    /* `piecemeal run` says it itself, before it starts the game. */
    if (getenv(PM_GAME_NOTE_VARIABLE) == NULL)
        pm_config_variable_typos(environ, say_typo, instance->log);
    if (instance->config.game_name != NULL && !instance->passive) {
        char *name = strdup(instance->config.game_name);
        if (name != NULL) {
            free(instance->game);
            instance->game = name;
        }
    }
    pm_game_note(instance->game);
    return true;
}

const VkAllocationCallbacks *pm_instance_callbacks(const struct pm_instance *instance,
                                                   const VkAllocationCallbacks *game)
{
    return instance->passive ? game : NULL;
}

#define RAISED_VERSION VK_API_VERSION_1_2

static VkResult create_next(struct pm_instance *instance, PFN_vkCreateInstance create,
                            VkLayerInstanceCreateInfo *link, const VkInstanceCreateInfo *info,
                            const VkAllocationCallbacks *allocator, VkInstance *out)
{
    VkLayerInstanceLink *ours = link->u.pLayerInfo;
    uint32_t asked = info->pApplicationInfo != NULL ? info->pApplicationInfo->apiVersion : 0;
    instance->game_api_version = asked != 0 ? asked : VK_API_VERSION_1_0;
    instance->api_version = instance->game_api_version;
    link->u.pLayerInfo = ours->pNext;
    if (instance->passive || instance->api_version >= RAISED_VERSION)
        return create(info, allocator, out);
    /* The instance's version limits its devices': Vulkan 1.0 has no subgroup operations, and
     * with 1.1 a driver that has buffer addresses only as a part of 1.2 (SwiftShader) has none. A
     * later version adds commands and takes nothing away, and the loader hands 1.0 to a driver that
     * knows no more. */
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    if (info->pApplicationInfo != NULL)
        application = *info->pApplicationInfo;
    application.apiVersion = RAISED_VERSION;
    VkInstanceCreateInfo raised = *info;
    raised.pApplicationInfo = &application;
    VkResult result = create(&raised, allocator, out);
    if (result == VK_SUCCESS) {
        instance->api_version = RAISED_VERSION;
        return result;
    }
    link->u.pLayerInfo = ours->pNext;
    return create(info, allocator, out);
}

static bool is_enabled(const VkInstanceCreateInfo *info, const char *extension)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (strcmp(info->ppEnabledExtensionNames[i], extension) == 0)
            return true;
    }
    return false;
}

static void free_instance(struct pm_instance *instance)
{
    if (instance->spool != NULL)
        pm_spool_writer_destroy(instance->spool);
    pthread_mutex_destroy(&instance->spool_lock);
    pm_journal_close(instance->journal);
    pm_verdicts_close(instance->verdicts);
    pm_values_store_close(instance->values);
    pthread_mutex_destroy(&instance->journal_lock);
    pm_packed_database_close(instance->database);
    pm_arena_destroy(instance->signed_arena);
    pm_arena_destroy(instance->races_arena);
    pm_log_destroy(instance->log);
    pm_messages_finish(&instance->messages);
    pm_config_finish(&instance->config);
    free(instance->game);
    free(instance);
}

struct pm_instance *pm_instance_reference(struct pm_instance *instance)
{
    atomic_fetch_add(&instance->references, 1);
    return instance;
}

void pm_instance_release(struct pm_instance *instance)
{
    if (instance != NULL && atomic_fetch_sub(&instance->references, 1) == 1)
        free_instance(instance);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateInstance(const VkInstanceCreateInfo *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkInstance *out)
{
    VkLayerInstanceCreateInfo *link = find_link(info);
    if (link == NULL || link->u.pLayerInfo == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)gipa(VK_NULL_HANDLE, "vkCreateInstance");
    struct pm_instance *instance = calloc(1, sizeof *instance);
    if (create == NULL || instance == NULL) {
        free(instance);
        return create == NULL ? VK_ERROR_INITIALIZATION_FAILED : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_init(&instance->references, 1);
    pthread_mutex_init(&instance->spool_lock, NULL);
    pthread_mutex_init(&instance->journal_lock, NULL);
    pm_messages_init(&instance->messages);
    if (!set_up(instance, info)) {
        free_instance(instance);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkAllocationCallbacks *passed = pm_instance_callbacks(instance, allocator);
    VkResult result = create_next(instance, create, link, info, passed, out);
    if (result != VK_SUCCESS) {
        free_instance(instance);
        return result;
    }
    instance->handle = *out;
    pm_instance_dispatch_load(&instance->dispatch, *out, gipa);
    if (!pm_registry_add_instance(instance)) {
        instance->dispatch.DestroyInstance(*out, passed);
        free_instance(instance);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (instance->passive)
        return VK_SUCCESS;
    instance->debug_utils = is_enabled(info, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) &&
                            instance->dispatch.SubmitDebugUtilsMessageEXT != NULL;
    if (instance->debug_utils)
        pm_log_set_callback(instance->log, pm_messages_post, &instance->messages);
    pm_log_info(instance->log, "game \"%s\", Vulkan %u.%u", instance->game,
                VK_API_VERSION_MAJOR(instance->game_api_version),
                VK_API_VERSION_MINOR(instance->game_api_version));
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyInstance(VkInstance handle,
                                              const VkAllocationCallbacks *allocator)
{
    struct pm_instance *instance = pm_instance_of(handle);
    if (instance == NULL)
        return;
    /* A game that leaves devices behind must not leave our threads behind: the loader is about to
     * unload us. */
    for (struct pm_device *left; (left = pm_registry_leftover(instance)) != NULL;)
        pm_device_abandon(left);
    pm_log_set_callback(instance->log, NULL, NULL);
    PFN_vkDestroyInstance destroy = instance->dispatch.DestroyInstance;
    const VkAllocationCallbacks *passed = pm_instance_callbacks(instance, allocator);
    pm_registry_remove_instance(instance);
    pm_instance_release(instance);
    destroy(handle, passed);
}
