#include "tools/shader/partition_pass.h"

#include "base/file.h"
#include "tools/common/out_file.h"
#include "tools/common/print_json.h"
#include "tools/shader/limits_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_addresses(cJSON *json, const struct pm_partition_pass *pass)
{
    cJSON_AddNumberToObject(json, "scratch_address_low_spec_id", pass->spec_id_low);
    cJSON_AddNumberToObject(json, "scratch_address_high_spec_id", pass->spec_id_high);
}

static void add_images(cJSON *json, const struct pm_partition_pass *pass)
{
    cJSON *outputs = cJSON_AddArrayToObject(json, "writes_outputs");
    for (uint32_t i = 0; i < 32; i++)
        if (pass->outputs >> i & 1)
            cJSON_AddItemToArray(outputs, cJSON_CreateNumber(i));
    cJSON *targets = cJSON_AddArrayToObject(json, "writes_images");
    for (uint32_t i = 0; i < pass->target_count; i++) {
        cJSON *target = cJSON_CreateObject();
        cJSON_AddNumberToObject(target, "location", pass->targets[i].location);
        cJSON_AddNumberToObject(target, "image", pass->targets[i].image);
        cJSON_AddItemToArray(targets, target);
    }
    cJSON *reads = cJSON_AddArrayToObject(json, "reads_images");
    for (uint32_t i = 0; i < pass->read_count; i++)
        cJSON_AddItemToArray(reads, cJSON_CreateNumber(pass->reads[i]));
}

static cJSON *json_of(const struct pm_partitioned *made)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "operations", made->operations);
    if (made->fragment) {
        cJSON *images = cJSON_AddObjectToObject(json, "images");
        cJSON_AddNumberToObject(images, "count", made->image_count);
        cJSON_AddStringToObject(images, "format", "VK_FORMAT_R32G32B32A32_UINT");
        cJSON_AddNumberToObject(images, "descriptor_set", made->image_set);
    } else {
        cJSON_AddNumberToObject(json, "scratch_words_per_invocation", made->scratch_words);
        cJSON_AddNumberToObject(json, "own_words_per_invocation", made->own_words);
        cJSON_AddNumberToObject(json, "workgroup_invocations", made->workgroup_invocations);
    }
    cJSON_AddNumberToObject(json, "selections_cut_open", made->opened);
    cJSON_AddNumberToObject(json, "switches_made_selections", made->switches);
    cJSON *cost = cJSON_AddObjectToObject(json, "cost");
    cJSON_AddNumberToObject(cost, "alu", (double)made->cost.alu);
    cJSON_AddNumberToObject(cost, "texture", (double)made->cost.texture);
    cJSON_AddNumberToObject(cost, "spilled_components", (double)made->cost.spilled_components);
    cJSON_AddNumberToObject(cost, "most_components_at_once", (double)made->cost.most_components);
    cJSON *list = cJSON_AddArrayToObject(json, "passes");
    for (uint32_t i = 0; i < made->count; i++) {
        char name[32];
        cJSON *pass = cJSON_CreateObject();
        snprintf(name, sizeof(name), "pass-%u.spv", i);
        cJSON_AddStringToObject(pass, "module", name);
        cJSON_AddNumberToObject(pass, "operations", made->passes[i].operations);
        cJSON_AddNumberToObject(pass, "words", (double)made->passes[i].words.count);
        if (made->fragment)
            add_images(pass, &made->passes[i]);
        else
            add_addresses(pass, &made->passes[i]);
        cJSON_AddItemToArray(list, pass);
    }
    return json;
}

static bool write_file(const char *folder, const char *name, const void *data, size_t size,
                       struct pm_error *error)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return pm_fail(error, PM_ERROR_INPUT, "%s: the path is too long", folder);
    return pm_out_bytes(path, data, size, error);
}

static bool write_folder(const char *folder, const struct pm_partitioned *made, const cJSON *json,
                         struct pm_error *error)
{
    bool ok = pm_make_folder(folder, error);
    for (uint32_t i = 0; i < made->count && ok; i++) {
        const struct pm_words *words = &made->passes[i].words;
        char name[32];
        snprintf(name, sizeof(name), "pass-%u.spv", i);
        ok = write_file(folder, name, words->data, words->count * sizeof(uint32_t), error);
    }
    char *text = ok ? cJSON_Print(json) : NULL;
    if (ok && !text)
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && write_file(folder, "passes.json", text, strlen(text), error);
    cJSON_free(text);
    return ok;
}

static void say(const struct pm_shader_options *options, const struct pm_partitioned *made)
{
    printf("%u operations in %u passes, %u %s%s%s\n", made->operations, made->count,
           made->fragment ? made->image_count : made->scratch_words,
           made->fragment ? "images between them" : "words of scratch memory an invocation",
           options->out ? "; see " : "", options->out ? options->out : "");
}

bool pm_shader_partition(struct pm_shader_options *options, const struct pm_words *in,
                         struct pm_error *error)
{
    struct pm_pass_limits limits;
    struct pm_partitioned made;
    const struct pm_partition_info info = {
        .limits = &limits, .method = options->method, .target = options->target};
    if (!pm_limits_read(options->limits, &limits, error) ||
        !pm_partition(in->data, in->count, &info, &made, error))
        return false;
    cJSON *json = json_of(&made);
    bool ok = json || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && (!options->out || write_folder(options->out, &made, json, error));
    if (ok && !options->json)
        say(options, &made);
    if (ok && options->json)
        pm_tool_print_json(json);
    else
        cJSON_Delete(json);
    pm_partitioned_finish(&made);
    return ok;
}
