#include "tools/shader/shader_input.h"
#include "base/file.h"
#include "profile/shader_store.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

static bool read_file(const char *path, struct pm_shader_input *input, struct pm_error *error)
{
    struct pm_buffer bytes;
    pm_buffer_init(&bytes, MOST_BYTES);
    bool ok = pm_file_read(path, &bytes, error);
    if (ok && (bytes.size == 0 || bytes.size % 4 != 0))
        ok = pm_fail(error, PM_ERROR_INPUT,
                     "%s: %zu bytes are no SPIR-V module: its size is a multiple of 4", path,
                     bytes.size);
    input->words.count = bytes.size / 4;
    input->words.data = ok ? pm_arena_dup(input->arena, bytes.data, bytes.size) : NULL;
    if (ok && !input->words.data)
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_buffer_finish(&bytes);
    return ok;
}

/* Options that were given come before what the store says; layouts add up. */
static bool take_stored(struct pm_shader_options *options, const struct pm_stored_shader *shader,
                        struct pm_error *error)
{
    const struct pm_target given = options->target;
    struct pm_target *target = &options->target;
    *target = pm_target_of_bits(shader->target);
    if (options->target_set)
        target->vulkan_minor = given.vulkan_minor;
    target->scalar_block_layout |= given.scalar_block_layout;
    target->relaxed_block_layout |= given.relaxed_block_layout;
    target->uniform_buffer_standard_layout |= given.uniform_buffer_standard_layout;
    target->workgroup_explicit_layout |= given.workgroup_explicit_layout;
    if (!options->entry_set)
        options->entry = shader->entry_point;
    if (!options->stage_set)
        options->stage = shader->stage == PM_STAGE_COMPUTE ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT;
    options->stage_set = true;
    if (options->spec_count > 0)
        return true;
    if (shader->spec_value_count > PM_SHADER_SPECS)
        return pm_fail(error, PM_ERROR_LIMIT, "%zu specialization constants, the most are %d",
                       shader->spec_value_count, PM_SHADER_SPECS);
    options->spec_count = shader->spec_value_count;
    for (size_t i = 0; i < shader->spec_value_count; i++)
        options->specs[i] = shader->spec_values[i];
    return true;
}

static bool read_stored(struct pm_shader_options *options, const struct pm_shader_key *key,
                        bool original, struct pm_shader_input *input, struct pm_error *error)
{
    struct pm_shader_store *store = pm_shader_store_open(options->store, 0);
    struct pm_stored_shader shader;
    if (!store)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory or no place for the shader store");
    const bool ok = pm_shader_store_read(store, key, input->arena, &shader, error) &&
                    take_stored(options, &shader, error);
    pm_shader_store_close(store);
    if (ok && original)
        input->words = (struct pm_words){(uint32_t *)shader.original, shader.original_count};
    else if (ok)
        input->words = (struct pm_words){(uint32_t *)shader.canonical, shader.canonical_count};
    return ok;
}

bool pm_shader_input_read(struct pm_shader_options *options, bool original,
                          struct pm_shader_input *input, struct pm_error *error)
{
    struct pm_shader_key key;
    *input = (struct pm_shader_input){.arena = pm_arena_create((size_t)4 * MOST_BYTES)};
    if (!input->arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (pm_shader_key_parse(options->in, &key) && access(options->in, F_OK) != 0)
        return read_stored(options, &key, original, input, error);
    return read_file(options->in, input, error);
}

void pm_shader_input_finish(struct pm_shader_input *input)
{
    pm_arena_destroy(input->arena);
    *input = (struct pm_shader_input){0};
}

/* ---- which option would help ---- */

static bool is_valid(const struct pm_shader_input *input, const struct pm_target *target)
{
    return pm_validate(input->words.data, input->words.count, target, NULL);
}

void pm_shader_input_explain(const struct pm_shader_options *options,
                             const struct pm_shader_input *input, struct pm_error *error)
{
    struct pm_target target = options->target;
    /* The least first. */
    const struct {
        const char *option;
        bool *allows;
    } layouts[] = {
        {"--relax-block-layout", &target.relaxed_block_layout},
        {"--uniform-buffer-standard-layout", &target.uniform_buffer_standard_layout},
        {"--scalar-block-layout", &target.scalar_block_layout},
        {"--workgroup-scalar-block-layout", &target.workgroup_explicit_layout},
    };
    /* As pm_validate says it, of the input or of what was made of it. */
    const bool refused = strstr(error->message, "SPIR-V instruction ") != NULL ||
                         strstr(error->message, "SPIR-V word ") != NULL;
    if (!refused || is_valid(input, &target))
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        /* Workgroup memory may be laid out so where other memory may. */
        target = options->target;
        *layouts[i].allows = true;
        target.scalar_block_layout |= layouts[i].allows == &target.workgroup_explicit_layout;
        if (is_valid(input, &target)) {
            pm_fail_prefix(error, "with %s it is valid", layouts[i].option);
            return;
        }
    }
    target = options->target;
    while (++target.vulkan_minor <= PM_SHADER_TARGET) {
        if (is_valid(input, &target)) {
            pm_fail_prefix(error, "with --target %u it is valid", target.vulkan_minor);
            return;
        }
    }
}
