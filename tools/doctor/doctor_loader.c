#include "tools/doctor/doctor_loader.h"
#include "base/file.h"
#include "tools/common/launch.h"
#include <dlfcn.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANIFEST "VkLayer_piecemeal.json"
#define LAYER_NAME "VK_LAYER_PIECEMEAL_cooperative_pgo"

/* A manifest's library_path is absolute, relative to the manifest when it has a slash, else the
 * linker's to find. */
static char *library_of(const char *manifest, struct pm_doctor *doctor)
{
    struct pm_buffer text;
    struct pm_error error = {0};
    char *path = NULL;
    pm_buffer_init(&text, 1 << 20);
    cJSON *json =
        pm_file_read(manifest, &text, &error) ? cJSON_Parse((const char *)text.data) : NULL;
    const cJSON *layer = cJSON_GetObjectItemCaseSensitive(json, "layer");
    const char *library =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(layer, "library_path"));
    if (!library) {
        pm_doctor_say(doctor, PM_FINDING_BAD, "manifest", "%s: %s", manifest,
                      error.code != PM_OK ? error.message : "has no layer.library_path");
    } else if (library[0] == '/' || !strchr(library, '/')) {
        path = strdup(library);
    } else {
        const char *slash = strrchr(manifest, '/');
        size_t folder = (size_t)(slash - manifest) + 1, size = folder + strlen(library) + 1;
        path = malloc(size);
        if (path)
            snprintf(path, size, "%.*s%s", (int)folder, manifest, library);
    }
    cJSON_Delete(json);
    pm_buffer_finish(&text);
    return path;
}

static void check_manifest(struct pm_doctor *doctor, const char *folder, const char *kind,
                           unsigned *found)
{
    char manifest[PATH_MAX];
    int length =
        snprintf(manifest, sizeof(manifest), "%s/vulkan/%s_layer.d/%s", folder, kind, MANIFEST);
    if (length <= 0 || (size_t)length >= sizeof(manifest) || access(manifest, F_OK) != 0)
        return;
    ++*found;
    char *library = library_of(manifest, doctor);
    if (!library)
        return;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        pm_doctor_say(doctor, PM_FINDING_BAD, "manifest",
                      "%s: the loader drops the layer without a word: %s", manifest, dlerror());
    else if (!dlsym(handle, "vkNegotiateLoaderLayerInterfaceVersion"))
        pm_doctor_say(doctor, PM_FINDING_BAD, "manifest", "%s: %s is no layer library", manifest,
                      library);
    else
        pm_doctor_say(doctor, PM_FINDING_OK, "manifest", "%s (%s), its library opens", manifest,
                      kind);
    if (handle)
        dlclose(handle);
    free(library);
}

static unsigned check_list(struct pm_doctor *doctor, const char *list, const char *kind)
{
    unsigned found = 0;
    char *copy = strdup(list), *rest = NULL;
    for (char *folder = copy ? strtok_r(copy, ":", &rest) : NULL; folder;
         folder = strtok_r(NULL, ":", &rest))
        check_manifest(doctor, folder, kind, &found);
    free(copy);
    return found;
}

/* Where the loader looks (Vulkan-Loader, LoaderLayerInterface.md, "Linux Layer Discovery"), the
 * folders that hold user data and system data; VK_LAYER_PATH replaces them for explicit layers. */
static void check_manifests(struct pm_doctor *doctor)
{
    static const char *const kinds[] = {"implicit", "explicit"};
    const char *data_home = getenv("XDG_DATA_HOME"), *home = getenv("HOME"),
               *dirs = getenv("XDG_DATA_DIRS");
    char fallback[PATH_MAX] = "";
    if (home)
        snprintf(fallback, sizeof(fallback), "%s/.local/share", home);
    char *own = pm_launch_data_folder();
    for (size_t i = 0; i < 2; i++) {
        unsigned found =
            check_list(doctor, data_home && *data_home ? data_home : fallback, kinds[i]);
        found += check_list(doctor, "/etc/xdg:/etc", kinds[i]);
        found += check_list(doctor, dirs && *dirs ? dirs : "/usr/local/share:/usr/share", kinds[i]);
        if (found == 0 && own)
            pm_doctor_say(doctor, PM_FINDING_NOTE, "manifest",
                          "the loader finds no %s one by itself; `piecemeal run` points it at %s",
                          kinds[i], own);
        else if (found == 0)
            pm_doctor_say(doctor, PM_FINDING_BAD, "manifest",
                          "no %s manifest is where the loader looks", kinds[i]);
    }
    free(own);
}

/* Loaders from 1.3.234 on leave out what VK_LOADER_LAYERS_DISABLE names, unless
 * VK_LOADER_LAYERS_ALLOW does (LoaderInterfaceArchitecture.md). */
static bool is_filtered(const char *filter)
{
    static const char *const all[] = {"~all~", "~implicit~"};
    bool found = false;
    char *copy = strdup(filter), *rest = NULL;
    for (char *glob = copy ? strtok_r(copy, ",", &rest) : NULL; glob && !found;
         glob = strtok_r(NULL, ",", &rest))
        found = !strcmp(glob, all[0]) || !strcmp(glob, all[1]) ||
                fnmatch(glob, LAYER_NAME, FNM_CASEFOLD) == 0;
    free(copy);
    return found;
}

static void check_filters(struct pm_doctor *doctor)
{
    const char *disable = getenv("VK_LOADER_LAYERS_DISABLE");
    const char *allow = getenv("VK_LOADER_LAYERS_ALLOW");
    if (disable && is_filtered(disable) && !(allow && is_filtered(allow)))
        pm_doctor_say(doctor, PM_FINDING_BAD, "environment",
                      "VK_LOADER_LAYERS_DISABLE is '%s': the loader leaves the layer out", disable);
}

/* Others that the loader may load around the game, which may be why something looks different. */
static void say_other_layers(struct pm_doctor *doctor)
{
    uint32_t count = 0;
    struct pm_buffer names;
    pm_buffer_init(&names, 4096);
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS)
        return;
    VkLayerProperties *layers = calloc(count + 1, sizeof(*layers));
    if (layers && vkEnumerateInstanceLayerProperties(&count, layers) >= 0)
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(layers[i].layerName, LAYER_NAME) != 0)
                pm_buffer_printf(&names, "%s%s", names.size ? ", " : "", layers[i].layerName);
    if (names.size)
        pm_doctor_say(doctor, PM_FINDING_NOTE, "layers", "others that the loader knows: %s",
                      (const char *)names.data);
    pm_buffer_finish(&names);
    free(layers);
}

void pm_doctor_loader(struct pm_doctor *doctor)
{
    const char *enable = getenv("PIECEMEAL_ENABLE"), *layers = getenv("VK_INSTANCE_LAYERS");
    check_manifests(doctor);
    if (getenv("PIECEMEAL_DISABLE"))
        pm_doctor_say(
            doctor, PM_FINDING_BAD, "environment",
            "PIECEMEAL_DISABLE is defined: the loader leaves the layer out whatever its value");
    if (enable && strcmp(enable, "1") != 0)
        pm_doctor_say(doctor, PM_FINDING_BAD, "environment",
                      "PIECEMEAL_ENABLE is '%s': the loader wants exactly 1", enable);
    else if (!enable && !(layers && strstr(layers, "VK_LAYER_PIECEMEAL")))
        pm_doctor_say(doctor, PM_FINDING_NOTE, "environment",
                      "PIECEMEAL_ENABLE is not set here; `piecemeal run` sets it for the game");
    check_filters(doctor);
    if (getenv("VK_LAYER_PATH"))
        pm_doctor_say(doctor, PM_FINDING_NOTE, "environment",
                      "VK_LAYER_PATH replaces where explicit layers are looked for");
    say_other_layers(doctor);
}
