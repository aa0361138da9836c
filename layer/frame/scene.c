#include "layer/frame/scene.h"

#include "base/utf8.h"
#include "layer/public/piecemeal.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(PM_SCENE_NUMBERS == PM_SCENE_FIRST + PIECEMEAL_SCENES,
               "as the header for games says");

void pm_scenes_init(struct pm_scenes *scenes, const char *standard, const char *labels,
                    struct pm_log *log)
{
    *scenes = (struct pm_scenes){.log = log, .labels = labels};
    pthread_mutex_init(&scenes->lock, NULL);
    scenes->names[PM_SCENE_STANDARD] = standard != NULL ? strdup(standard) : NULL;
    atomic_init(&scenes->count, PM_SCENE_FIRST);
    atomic_init(&scenes->current, PM_SCENE_STANDARD);
}

void pm_scenes_finish(struct pm_scenes *scenes)
{
    for (uint32_t i = 0; i < PM_SCENE_NUMBERS; i++)
        free(scenes->names[i]);
    pthread_mutex_destroy(&scenes->lock);
}

/* Can a profile carry it? */
static bool is_name(const char *text)
{
    const size_t length = strnlen(text, PIECEMEAL_SCENE_NAME_BYTES + 1);
    return length <= PIECEMEAL_SCENE_NAME_BYTES && pm_utf8_check_line(text, length) == length;
}

static uint32_t look(const struct pm_scenes *scenes, const char *name)
{
    const uint32_t count = atomic_load_explicit(&scenes->count, memory_order_acquire);
    for (uint32_t i = PM_SCENE_STANDARD; i < count; i++) {
        if (scenes->names[i] != NULL && strcmp(scenes->names[i], name) == 0)
            return i;
    }
    return PM_SCENE_NONE;
}

static uint32_t add(struct pm_scenes *scenes, const char *name)
{
    const uint32_t count = atomic_load(&scenes->count);
    char *copy = count < PM_SCENE_NUMBERS ? strdup(name) : NULL;
    if (copy == NULL) {
        if (!scenes->full)
            pm_log_warning(
                scenes->log,
                "scene \"%s\" is one too many: what is not of the first %d goes untagged", name,
                PIECEMEAL_SCENES);
        scenes->full = true;
        return PM_SCENE_MIXED;
    }
    scenes->names[count] = copy;
    atomic_store_explicit(&scenes->count, count + 1, memory_order_release);
    pm_log_debug(scenes->log, "a new scene, \"%s\"", name);
    return count;
}

uint32_t pm_scenes_find(struct pm_scenes *scenes, const char *name)
{
    if (name == NULL || *name == '\0')
        return PM_SCENE_STANDARD;
    if (!is_name(name))
        return PM_SCENE_MIXED;
    uint32_t scene = look(scenes, name);
    if (scene != PM_SCENE_NONE)
        return scene;
    pthread_mutex_lock(&scenes->lock);
    scene = look(scenes, name);
    if (scene == PM_SCENE_NONE)
        scene = add(scenes, name);
    pthread_mutex_unlock(&scenes->lock);
    return scene;
}

uint32_t pm_scenes_of_label(struct pm_scenes *scenes, const char *label)
{
    const size_t length = scenes->labels != NULL ? strlen(scenes->labels) : 0;
    if (length == 0 || label == NULL || strncmp(label, scenes->labels, length) != 0)
        return PM_SCENE_NONE;
    return pm_scenes_find(scenes, label + length);
}

const char *pm_scenes_name(const struct pm_scenes *scenes, uint32_t scene)
{
    const char *name = scenes->names[scene];
    return name != NULL ? name : "";
}
