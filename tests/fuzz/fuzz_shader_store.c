/* Any bytes as a file of the shader store: as they stand, and as what its zstd frame holds, since a
 * fuzzer does not find its way through the entropy coding. */
#include "profile/profile.h"
#include "profile/shader_store.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

#define MAGIC "PMSHDR02"
/* A recipe, an entry point, one constant, two original words and one canonical word. */
#define CONTENTS                                                                                   \
    "\x06\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"             \
    "\x01\x00\x00\x00"                                                                             \
    "recipe\x00\x00"                                                                               \
    "main"                                                                                         \
    "\x07\x00\x00\x00\x04\x00\x00\x00\x2a\x00\x00\x00\x00\x00\x00\x00"                             \
    "\x03\x02\x23\x07\x00\x05\x01\x00\x03\x02\x23\x07"

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT(CONTENTS),
    /* A frame of one raw block without a checksum, which a fuzzer can change and keep valid. */
    PM_FUZZ_TEXT(MAGIC "\x28\xb5\x2f\xfd\x20\x40\x01\x02\x00" CONTENTS),
    PM_FUZZ_TEXT(MAGIC "\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00"),
    PM_FUZZ_TEXT("PMSHDR01"),
    {NULL, 0},
};

/* Of all that a reader is handed. */
static struct pm_shader_key digest(const struct pm_stored_shader *shader)
{
    const struct pm_shader_key key =
        pm_shader_key_compute(shader->recipe, shader->canonical, shader->canonical_count);
    PM_FUZZ_CHECK(pm_shader_key_equal(&key, &shader->key));
    return pm_raw_digest_compute(shader->original, shader->original_count, shader->stage,
                                 shader->entry_point, shader->spec_values,
                                 shader->spec_value_count);
}

static void parse(const void *data, size_t size)
{
    struct pm_arena *arena = pm_arena_create((size_t)256 << 20);
    struct pm_stored_shader shader;
    struct pm_error error = {0};
    if (!arena)
        return;
    if (!pm_stored_shader_parse(data, size, NULL, arena, &shader, &error)) {
        PM_FUZZ_CHECK(error.message[0] != '\0');
    } else {
        struct pm_shader_key key = shader.key;
        const struct pm_shader_key first = digest(&shader);
        PM_FUZZ_CHECK(pm_stored_shader_parse(data, size, &key, arena, &shader, &error));
        const struct pm_shader_key again = digest(&shader);
        PM_FUZZ_CHECK(pm_shader_key_equal(&first, &again));
        key.bytes[0] ^= 1;
        PM_FUZZ_CHECK(!pm_stored_shader_parse(data, size, &key, arena, &shader, &error));
    }
    pm_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_buffer file;
    struct pm_error error = {0};
    parse(data, size);
    pm_buffer_init(&file, (size_t)1 << 20);
    if (pm_buffer_append(&file, MAGIC, sizeof(MAGIC) - 1) && pm_compress(data, size, &file, &error))
        parse(file.data, file.size);
    pm_buffer_finish(&file);
    return 0;
}
