#include "tests/layer/spooled.h"

#include "aggregator_client/disk/spool.h"
#include "tests/patience.h"
#include <stdio.h>
#include <string.h>

enum { KEYS_MOST = 4096 };

struct keys {
    struct pm_shader_key found[KEYS_MOST];
    size_t count;
};

struct counted {
    const char *scene;
    uint64_t calls;
};

static bool add_calls(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    struct counted *counted = user;
    (void)error;
    if (counted->scene != NULL && strcmp(counted->scene, checkpoint->scene) != 0)
        return true;
    for (size_t i = 0; i < checkpoint->shader_count; i++) {
        for (size_t j = 0; j < checkpoint->shaders[i].point_count; j++) {
            if (checkpoint->shaders[i].points[j].point == 0)
                counted->calls += checkpoint->shaders[i].points[j].calls;
        }
    }
    return true;
}

uint64_t spooled_calls(const char *scene, size_t *sessions, size_t *live)
{
    char folder[256];
    struct pm_spool_session *list = NULL;
    size_t count = 0;
    struct pm_error error = {0};
    struct counted counted = {.scene = scene};
    *live = 0;
    snprintf(folder, sizeof folder, "%s/piecemeal/spool", pm_layered_home());
    if (pm_spool_list(folder, &list, &count, &error)) {
        for (size_t i = 0; i < count; i++) {
            uint64_t damaged_at;
            *live += list[i].live;
            if (!pm_spool_read(list[i].path, add_calls, &counted, &damaged_at, &error))
                fail_msg("%s", error.message);
            if (!list[i].live && damaged_at != UINT64_MAX)
                fail_msg("%s: damaged at %lu", list[i].path, (unsigned long)damaged_at);
        }
    }
    *sessions = count;
    pm_spool_list_free(list, count);
    return counted.calls;
}

static bool add_keys(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    struct keys *keys = user;
    (void)error;
    for (size_t i = 0; i < checkpoint->shader_count; i++) {
        const struct pm_shader_profile *shader = &checkpoint->shaders[i];
        bool known = shader->point_count == 0;
        for (size_t j = 0; !known && j < keys->count; j++)
            known = pm_shader_key_equal(&keys->found[j], &shader->key);
        if (known)
            continue;
        assert_true(keys->count < KEYS_MOST);
        keys->found[keys->count++] = shader->key;
    }
    return true;
}

size_t spooled_shaders(void)
{
    static struct keys keys;
    char folder[256];
    struct pm_spool_session *list = NULL;
    size_t count = 0;
    struct pm_error error = {0};
    keys.count = 0;
    snprintf(folder, sizeof folder, "%s/piecemeal/spool", pm_layered_home());
    if (!pm_spool_list(folder, &list, &count, &error))
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged_at;
        if (!pm_spool_read(list[i].path, add_keys, &keys, &damaged_at, &error))
            fail_msg("%s", error.message);
    }
    pm_spool_list_free(list, count);
    return keys.count;
}

uint64_t calls_of(const char *scene)
{
    size_t sessions, live;
    return spooled_calls(scene, &sessions, &live);
}

uint64_t all_calls(void)
{
    return calls_of(NULL);
}

bool wait_for_calls(uint64_t calls)
{
    uint64_t until = 0;
    while (all_calls() < calls && patience(&until))
        ;
    return all_calls() >= calls;
}

void spooled_dispatch(struct pm_harness *harness, VkQueue queue, VkCommandBuffer buffer)
{
    pm_harness_begin(harness, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, harness->dispatch);
    harness->vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(harness->vk.EndCommandBuffer(buffer));
    pm_harness_submit(harness, queue, buffer, VK_NULL_HANDLE);
}
