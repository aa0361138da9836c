#include "layer/shader/pipeline_keep.h"

#include "layer/shader/pipeline_state.h"
#include "profile/stored_pipeline.h"

#define MOST_BYTES ((size_t)64 << 20)

static bool append_module(void *user, uint64_t hash, const struct pm_words *words,
                          struct pm_error *error)
{
    return pm_stored_pipeline_append(user, hash, words->data, words->count) ||
           pm_fail(error, PM_ERROR_LIMIT, "its modules are too large");
}

static bool keep(const struct pm_pipeline *pipeline, struct pm_shader_store *store,
                 const struct pm_shader_key *key, struct pm_error *error)
{
    struct pm_buffer modules;
    pm_buffer_init(&modules, MOST_BYTES);
    cJSON *document = pm_pipeline_state(pipeline, append_module, &modules, error);
    char *text = document ? cJSON_PrintUnformatted(document) : NULL;
    const bool ok = document &&
                    (text || pm_fail(error, PM_ERROR_MEMORY, "no memory for its state")) &&
                    pm_stored_pipeline_write(store, key, text, &modules, error);
    cJSON_free(text);
    cJSON_Delete(document);
    pm_buffer_finish(&modules);
    return ok;
}

void pm_pipeline_keep(const struct pm_pipeline *pipeline, struct pm_shader_record *record)
{
    struct pm_shader_store *store = pm_shader_records_store(pipeline->device->pipelines->records);
    struct pm_error error = {0};
    if (!store || pipeline->object || atomic_exchange(&record->pipeline_kept, true) ||
        pm_stored_pipeline_is_there(store, &record->key))
        return;
    if (!keep(pipeline, store, &record->key, &error))
        pm_log_debug(pipeline->device->instance->log, "a pipeline is not kept: %s", error.message);
}
