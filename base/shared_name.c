#include "base/shared_name.h"

#include <string.h>

static const char *const engines[] = {
    "darkplaces",  "fteqw",         "Godot",        "Godot Engine",   "godot4",
    "gzdoom",      "hl2",           "hl2_linux",    "ioq3",           "ioquake3",
    "love",        "pyrogenesis",   "quake3e",      "quake3e-vulkan", "RBDOOM-3-BFG",
    "renpy",       "retroarch",     "ScummVM",      "UE4Game",        "Unity",
    "UnityPlayer", "Unreal Engine", "UnrealEngine", "UnrealGame",     "vkQuake",
    NULL};

/* What gives its own name for whatever uses it or runs in it; last what examples call themselves
 * that many a program began as. */
static const char *const libraries[] = {"bgfx",
                                        "dotnet",
                                        "DXVK",
                                        "FNA",
                                        "FNA3D",
                                        "java",
                                        "javaw",
                                        "mono",
                                        "python",
                                        "pythonw",
                                        "vkd3d",
                                        "wgpu",
                                        "wgpu-hal",
                                        "Hello Triangle",
                                        "Hello Vulkan",
                                        "My Vulkan App",
                                        "Vulkan",
                                        "Vulkan App",
                                        "Vulkan Application",
                                        "Vulkan Engine",
                                        "Vulkan Example",
                                        "Vulkan Renderer",
                                        "Vulkan Test",
                                        "Vulkan Triangle",
                                        "Vulkan Tutorial",
                                        "VulkanApp",
                                        "VulkanApplication",
                                        NULL};

bool pm_name_is_in(const char *const *list, const char *name, size_t size)
{
    for (; *list; list++) {
        if (strlen(*list) == size && strncasecmp(*list, name, size) == 0)
            return true;
    }
    return false;
}

size_t pm_name_stem(const char *name, size_t size)
{
    return size > 4 && strncasecmp(name + size - 4, ".exe", 4) == 0 ? size - 4 : size;
}

/* Its length without what it was built for, as id's engines end: ioquake3.x86_64, quake3e.x64. */
static size_t without_architecture(const char *name, size_t size)
{
    static const char *const architectures[] = {"aarch64", "arm", "arm64", "armv7",  "i386",
                                                "ppc64le", "x64", "x86",   "x86_64", NULL};
    size_t at = size;
    while (at > 0 && name[at - 1] != '.')
        at--;
    return at > 1 && pm_name_is_in(architectures, name + at, size - at) ? at - 1 : size;
}

enum pm_shared_name pm_shared_name(const char *name, size_t size)
{
    const size_t stem = without_architecture(name, pm_name_stem(name, size));
    if (pm_name_is_in(engines, name, stem))
        return PM_SHARED_ENGINE;
    return pm_name_is_in(libraries, name, stem) ? PM_SHARED_LIBRARY : PM_SHARED_NONE;
}

size_t pm_shared_name_in(const char *game)
{
    const char *added = strstr(game, " (");
    if (!added || game[strlen(game) - 1] != ')')
        return 0;
    const size_t size = (size_t)(added - game);
    return pm_shared_name(game, size) != PM_SHARED_NONE ? size : 0;
}
