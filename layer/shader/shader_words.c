#include "layer/shader/shader_words.h"

#include "layer/core/trace.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/quirks/helper_loops.h"
#include "shader_rewrite/quirks/hiding_casts.h"
#include "shader_rewrite/quirks/leaving_shared.h"
#include <stdlib.h>
#include <string.h>

/* What an earlier session found, if the store has it. */
static bool load(const struct pm_device *device, struct pm_shader_store *store,
                 const struct pm_shader_key *digest, enum pm_stage stage,
                 struct pm_words *canonical)
{
    struct pm_shader_key key;
    struct pm_stored_shader stored;
    if (!store || !pm_shader_store_find(store, pm_canonicalize_recipe(), digest, &key, NULL))
        return false;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error error = {0};
    bool loaded = arena && pm_shader_store_read(store, &key, arena, &stored, &error) &&
                  stored.stage == (uint32_t)stage;
    if (loaded) {
        const size_t bytes = stored.canonical_count * sizeof(uint32_t);
        *canonical = (struct pm_words){malloc(bytes ? bytes : 1), stored.canonical_count};
        loaded = canonical->data != NULL;
        if (loaded)
            memcpy(canonical->data, stored.canonical, bytes);
    } else if (error.code != PM_OK && error.code != PM_ERROR_STATE) {
        pm_log_info(device->instance->log, "%s", error.message);
    }
    pm_arena_destroy(arena);
    return loaded;
}

static void save(const struct pm_device *device, struct pm_shader_store *store,
                 const struct pm_shader_key *digest, const struct pm_asked_shader *asked,
                 const struct pm_words *canonical)
{
    if (!store)
        return;
    const struct pm_stored_shader shader = {
        .key = pm_shader_key_compute(pm_canonicalize_recipe(), canonical->data, canonical->count),
        .recipe = pm_canonicalize_recipe(),
        .stage = asked->request->stage,
        .target = pm_target_bits(&device->abilities.target),
        .entry_point = asked->request->entry_point,
        .spec_values = asked->set.data,
        .spec_value_count = asked->set.count,
        .original = asked->words.data,
        .original_count = asked->words.count,
        .canonical = canonical->data,
        .canonical_count = canonical->count,
    };
    struct pm_error error;
    if (!pm_shader_store_write(store, digest, &shader, &error))
        pm_log_debug(device->instance->log, "a shader is not kept: %s", error.message);
}

bool pm_shader_canonicalize(const struct pm_device *device, struct pm_shader_store *store,
                            const struct pm_shader_key *digest, const struct pm_asked_shader *asked,
                            struct pm_words *canonical, struct pm_error *error)
{
    if (load(device, store, digest, asked->request->stage, canonical))
        return true;
    struct pm_error kept;
    const struct pm_canonicalize_info info = {
        .words = asked->words.data,
        .word_count = asked->words.count,
        .stage = asked->request->stage,
        .entry_point = asked->request->entry_point,
        .spec_values = asked->set.data,
        .spec_value_count = asked->set.count,
        .target = device->abilities.target,
        .kept = &kept,
    };
    pm_trace_begin(device->trace, NULL, "canonicalize", NULL);
    const bool done = pm_canonicalize(&info, canonical, error);
    pm_trace_end(device->trace, NULL, NULL);
    if (!done)
        return false;
    if (kept.message[0])
        pm_log_info(device->instance->log,
                    "a shader is not simplified, so that it may have nothing to count: %s",
                    kept.message);
    save(device, store, digest, asked, canonical);
    return true;
}

struct pm_driver pm_device_driver(const struct pm_device *device)
{
    return pm_driver_of(device->abilities.driver_id, device->properties.driverVersion,
                        device->abilities.driver_info);
}

bool pm_shader_casts_matter(const struct pm_device *device)
{
    const struct pm_driver driver = pm_device_driver(device);
    return (pm_quirks_of(&driver) & PM_QUIRK_FOLDS_UNCAST) != 0;
}

bool pm_shader_may_do_without_casts(const struct pm_device *device, const struct pm_words *original,
                                    struct pm_error *error)
{
    if (!pm_shader_casts_matter(device))
        return true;
    struct pm_ir_module *module = pm_ir_parse(original->data, original->count, error);
    if (!module)
        return false;
    const bool has = pm_has_hiding_casts(module);
    pm_ir_module_destroy(module);
    return !has || pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "it casts floats to integers and back, and this driver folds floats "
                           "inexactly without such casts");
}

bool pm_shader_may_be_changed(const struct pm_device *device, const struct pm_words *canonical,
                              struct pm_error *error)
{
    const struct pm_driver driver = pm_device_driver(device);
    const uint32_t quirks = pm_quirks_of(&driver);
    bool helpers = false, shared = false;
    if (!(quirks & (PM_QUIRK_HELPERS_LEAVE | PM_QUIRK_SHARES_LEAVING)))
        return true;
    struct pm_ir_module *module = pm_ir_parse(canonical->data, canonical->count, error);
    if (!module)
        return false;
    const bool looked =
        (!(quirks & PM_QUIRK_HELPERS_LEAVE) || pm_has_helper_loops(module, &helpers, error)) &&
        (!(quirks & PM_QUIRK_SHARES_LEAVING) || pm_has_leaving_shared(module, &shared, error));
    pm_ir_module_destroy(module);
    if (helpers)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "it takes derivatives of what a loop leaves behind, which this driver's "
                       "helper invocations leave too early");
    return looked && (!shared || pm_fail(error, PM_ERROR_UNSUPPORTED,
                                         "what is done where a loop is left and what comes behind "
                                         "it share a value or an address, of which this driver "
                                         "makes code that may crash it"));
}

bool pm_shader_may_be_compiled(const struct pm_device *device, const struct pm_words *made)
{
    const struct pm_driver driver = pm_device_driver(device);
    struct pm_error error;
    bool has;
    if (!(pm_quirks_of(&driver) & PM_QUIRK_SHARES_LEAVING))
        return true;
    struct pm_ir_module *module = pm_ir_parse(made->data, made->count, &error);
    const bool looked = module && pm_has_leaving_shared(module, &has, &error);
    pm_ir_module_destroy(module);
    return looked && !has;
}
