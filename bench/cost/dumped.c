#include "bench/cost/dumped.h"

#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_CAP = 64 << 20, SUFFIX = 4 };

const struct pm_target pm_dumped_target = {.vulkan_minor = 3,
                                           .scalar_block_layout = true,
                                           .relaxed_block_layout = true,
                                           .uniform_buffer_standard_layout = true,
                                           .workgroup_explicit_layout = true};

static bool read_file(const char *folder, const char *name, const char *suffix,
                      struct pm_buffer *bytes, struct pm_error *error)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    pm_buffer_init(bytes, FILE_CAP);
    return pm_file_read(path, bytes, error);
}

static bool is_there(const char *folder, const char *name, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    return access(path, F_OK) == 0;
}

static cJSON *read_about(const char *folder, const char *name, struct pm_error *error)
{
    struct pm_buffer bytes;
    cJSON *about = NULL;
    if (!is_there(folder, name, ".json"))
        return cJSON_CreateObject();
    if (read_file(folder, name, ".json", &bytes, error)) {
        about = cJSON_ParseWithLength((const char *)bytes.data, bytes.size);
        if (!about)
            pm_fail(error, PM_ERROR_INPUT, "%s/%s.json is not JSON", folder, name);
    }
    pm_buffer_finish(&bytes);
    return about;
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text(const cJSON *object, const char *name)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return value ? value : "";
}

/* The first entry point for fragments or compute: its stage and, in the words, its name. */
static const char *entry_of(const uint32_t *words, size_t count, enum pm_stage *stage)
{
    enum { HEADER = 5, OP_ENTRY_POINT = 15, NAME = 3, FRAGMENT = 4, GL_COMPUTE = 5 };
    for (size_t at = HEADER, size; at < count; at += size) {
        size = words[at] >> 16;
        if (size == 0 || size > count - at)
            break;
        if ((words[at] & 0xffff) != OP_ENTRY_POINT || size <= NAME ||
            (words[at + 1] != FRAGMENT && words[at + 1] != GL_COMPUTE))
            continue;
        *stage = words[at + 1] == FRAGMENT ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE;
        const char *name = (const char *)&words[at + NAME];
        return memchr(name, 0, (size - NAME) * sizeof(uint32_t)) ? name : "main";
    }
    return "main";
}

static void fill_info(struct pm_dumped *shader)
{
    const cJSON *about = shader->about, *constant;
    size_t count = 0;
    cJSON_ArrayForEach(constant, cJSON_GetObjectItemCaseSensitive(about, "constants"))
    {
        if (count < PM_DUMPED_SPECS)
            shader->specs[count++] = (struct pm_spec_value){
                .spec_id = (uint32_t)number(constant, "id"),
                .size = (uint32_t)number(constant, "bytes"),
                .bits = (uint64_t)number(constant, "value"),
            };
    }
    const uint32_t *words = (const uint32_t *)(const void *)shader->bytes.data;
    const size_t word_count = shader->bytes.size / sizeof(uint32_t);
    enum pm_stage stage =
        strcmp(text(about, "stage"), "compute") == 0 ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT;
    const char *entry = text(about, "entry");
    if (!entry[0])
        entry = entry_of(words, word_count, &stage);
    shader->info = (struct pm_canonicalize_info){
        .words = words,
        .word_count = word_count,
        .stage = stage,
        .entry_point = entry,
        .spec_values = shader->specs,
        .spec_value_count = count,
        .target = pm_dumped_target,
    };
}

bool pm_dumped_read(const char *folder, const char *name, struct pm_dumped *shader,
                    struct pm_error *error)
{
    snprintf(shader->name, sizeof(shader->name), "%s", name);
    shader->about = read_about(folder, name, error);
    if (!shader->about)
        return false;
    if (!read_file(folder, name, ".spv", &shader->bytes, error)) {
        pm_dumped_finish(shader);
        return false;
    }
    fill_info(shader);
    return true;
}

void pm_dumped_finish(struct pm_dumped *shader)
{
    cJSON_Delete(shader->about);
    pm_buffer_finish(&shader->bytes);
}

void pm_dumped_each(const char *folder,
                    void (*visit)(void *user, const char *folder, const char *name), void *user)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    if (!directory)
        fprintf(stderr, "%s: %m\n", folder);
    while (directory && (entry = readdir(directory))) {
        const size_t length = strlen(entry->d_name);
        char name[256];
        if (length <= SUFFIX || strcmp(entry->d_name + length - SUFFIX, ".spv") != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(length - SUFFIX), entry->d_name);
        visit(user, folder, name);
    }
    if (directory)
        closedir(directory);
}
