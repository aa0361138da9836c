/* What a game calls its shader modules (VK_EXT_debug_utils) is kept beside the shader store, for
 * people. */
#include "base/file.h"
#include "tests/layer/spooled.h"
#include "tests/patience.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The one name that is kept; "": none is. */
static void kept_name(char *name, size_t size)
{
    char folder[512], path[1024];
    snprintf(folder, sizeof folder, "%s/piecemeal/shaders", pm_layered_home());
    DIR *entries = opendir(folder);
    *name = '\0';
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".name") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "re");
        assert_non_null(file);
        assert_string_equal(name, ""); /* there is but one */
        name[fread(name, 1, size - 1, file)] = '\0';
        fclose(file);
    }
    if (entries)
        closedir(entries);
}

static void wait_for_name(const char *expected)
{
    char name[256];
    uint64_t until = 0;
    do
        kept_name(name, sizeof name);
    while (strcmp(name, expected) != 0 && patience(&until));
    assert_string_equal(name, expected);
}

static void play(const char *module_name)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, NULL};
    const struct pm_harness_options options = {.instance_extensions = extensions};
    struct pm_harness h;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    pm_harness_open(&h, &options);
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_SHADER_MODULE,
        .objectHandle = (uint64_t)h.compute,
        .pObjectName = module_name,
    };
    if (module_name)
        PM_CHECK(h.vk.SetDebugUtilsObjectNameEXT(h.device, &info));
    VkPipeline own = h.dispatch;
    h.dispatch = pm_harness_make_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    spooled_dispatch(&h, h.queue, buffer);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    if (module_name)
        wait_for_name(module_name);
    h.vk.DestroyPipeline(h.device, h.dispatch, NULL);
    h.dispatch = own;
    pm_harness_close(&h);
}

static void a_modules_name_is_kept(void **state)
{
    (void)state;
    char name[256];
    play(NULL);
    kept_name(name, sizeof name);
    assert_string_equal(name, "");
    play("lit opaque");
    /* In the next session it may be called otherwise, though the shader is known. */
    play("lit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_modules_name_is_kept, pm_layered_set_up,
                                        pm_layered_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
