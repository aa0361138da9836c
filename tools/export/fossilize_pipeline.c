#include "tools/export/fossilize_pipeline.h"

#include "profile/fossilize.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct section {
    const char *name;
    enum pm_fossilize_tag tag;
} sections[] = {
    {"samplers", PM_FOSSILIZE_SAMPLER},
    {"setLayouts", PM_FOSSILIZE_SET_LAYOUT},
    {"pipelineLayouts", PM_FOSSILIZE_PIPELINE_LAYOUT},
    {"renderPasses", PM_FOSSILIZE_RENDER_PASS},
    {"renderPasses2", PM_FOSSILIZE_RENDER_PASS},
    {"computePipelines", PM_FOSSILIZE_COMPUTE_PIPELINE},
    {"graphicsPipelines", PM_FOSSILIZE_GRAPHICS_PIPELINE},
};

struct writing {
    struct pm_fossilize_file *file;
    const cJSON *own;                         /* "piecemeal" of the document */
    const struct pm_fossilize_shader *shader; /* NULL: the program's own */
    cJSON *renamed; /* pipelines that are others with the shader: old name to new */
    uint64_t pipeline;
};

static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}

static bool damaged(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_INPUT, "a pipeline's state is damaged");
}

/* ---- another shader ---- */

/* Puts the shader into the stage of the pipeline whose it is. */
static bool replace_shader(const struct writing *w, cJSON *json, struct pm_error *error)
{
    char name[PM_FOSSILIZE_HASH_TEXT];
    const cJSON *place = cJSON_GetObjectItemCaseSensitive(w->own, "stage");
    cJSON *stage = cJSON_GetObjectItemCaseSensitive(json, "stage");
    if (!stage && cJSON_IsNumber(place))
        stage =
            cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "stages"), place->valueint);
    if (!stage)
        return damaged(error);
    snprintf(name, sizeof name, "%016" PRIx64, w->shader->module);
    cJSON_DeleteItemFromObject(stage, "specializationInfo");
    return (cJSON_ReplaceItemInObjectCaseSensitive(stage, "module", cJSON_CreateString(name)) &&
            cJSON_ReplaceItemInObjectCaseSensitive(stage, "name",
                                                   cJSON_CreateString(w->shader->entry_point))) ||
           damaged(error);
}

/* Libraries that are others now. true: there was one. */
static bool rename_libraries(const struct writing *w, cJSON *json)
{
    bool any = false;
    cJSON *item, *library;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "pNext"))
    {
        cJSON_ArrayForEach(library, cJSON_GetObjectItemCaseSensitive(item, "libraries"))
        {
            const char *name = cJSON_GetStringValue(library);
            const char *now = name ? text_of(w->renamed, name) : "";
            if (now[0] && cJSON_SetValuestring(library, now))
                any = true;
        }
    }
    return any;
}

/* Makes of a pipeline the one with the shader; *other: it is another one. */
static bool adapt(const struct writing *w, cJSON *json, bool *other, struct pm_error *error)
{
    *other = w->shader && strcmp(json->string, text_of(w->own, "owner")) == 0;
    if (*other && !replace_shader(w, json, error))
        return false;
    if (w->shader && rename_libraries(w, json))
        *other = true;
    return true;
}

/* ---- writing ---- */

static bool write_one(struct writing *w, const struct section *section, cJSON *json,
                      struct pm_error *error)
{
    bool other = false;
    char name[PM_FOSSILIZE_HASH_TEXT], *end = NULL;
    uint64_t hash = strtoull(json->string, &end, 16);
    if (!*json->string || *end)
        return damaged(error);
    if (section->tag >= PM_FOSSILIZE_GRAPHICS_PIPELINE && !adapt(w, json, &other, error))
        return false;
    char *text = cJSON_PrintUnformatted(json);
    if (!text)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a pipeline");
    if (other) {
        hash = pm_fossilize_hash_text(text);
        snprintf(name, sizeof name, "%016" PRIx64, hash);
        cJSON_AddStringToObject(w->renamed, json->string, name);
    }
    if (strcmp(json->string, text_of(w->own, "pipeline")) == 0)
        w->pipeline = hash;
    const bool ok = pm_fossilize_object(w->file, section->tag, section->name, hash, text, error);
    cJSON_free(text);
    return ok;
}

/* A library stands before what links it. */
static bool write_all(struct writing *w, const cJSON *document, struct pm_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof sections / sizeof *sections; i++) {
        const cJSON *objects = cJSON_GetObjectItemCaseSensitive(document, sections[i].name);
        for (cJSON *json = objects ? objects->child : NULL; ok && json; json = json->next)
            ok = write_one(w, &sections[i], json, error);
    }
    return ok;
}

static bool write_modules(struct pm_fossilize_file *file, const struct pm_stored_pipeline *pipeline,
                          struct pm_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pipeline->module_count; i++) {
        uint64_t hash;
        ok = pm_fossilize_module(file, pipeline->modules[i].words, pipeline->modules[i].count,
                                 &hash, error);
    }
    return ok;
}

bool pm_fossilize_pipeline(struct pm_fossilize_file *file,
                           const struct pm_stored_pipeline *pipeline,
                           const struct pm_fossilize_shader *shader, uint64_t *hash,
                           struct pm_error *error)
{
    cJSON *document = cJSON_Parse(pipeline->document);
    struct writing w = {.file = file,
                        .own = cJSON_GetObjectItemCaseSensitive(document, "piecemeal"),
                        .shader = shader,
                        .renamed = cJSON_CreateObject()};
    const cJSON *left_out = cJSON_GetObjectItemCaseSensitive(w.own, "left_out");
    bool ok = w.own || damaged(error);
    if (ok && cJSON_GetArraySize(left_out) > 0)
        ok = pm_fail(error, PM_ERROR_UNSUPPORTED, "it has a structure of type %d",
                     cJSON_GetArrayItem(left_out, 0)->valueint);
    ok = ok && write_modules(file, pipeline, error) && write_all(&w, document, error) &&
         (w.pipeline != 0 || damaged(error));
    *hash = w.pipeline;
    cJSON_Delete(w.renamed);
    cJSON_Delete(document);
    return ok;
}
