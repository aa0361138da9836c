/* pprof's profile.proto. Functions: 1 is the game, then a shader each. Locations: 1 is the game,
 * then a block each. */
#include "tools/export/export.h"

#include "base/arena.h"
#include "pprof.pb-c.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MEMORY_CAP ((size_t)2 << 30)
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, and gzip's frame around it */

/* Indices of the strings that are always there. */
enum { EMPTY, INVOCATIONS, COUNT, GAME, COMMENT, SUBGROUP_SIZE, FIXED_STRINGS };

struct writer {
    struct pm_arena *arena;
    Pprof__Profile profile;
};

/* How much there is to write: shaders with block counts, and their blocks. */
static void count_all(const struct pm_export *export, size_t *shaders, size_t *blocks)
{
    *shaders = *blocks = 0;
    for (size_t i = 0; i < export->database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &export->database->shaders[i];
        if (pm_export_has_blocks(export, shader)) {
            ++*shaders;
            *blocks += shader->space;
        }
    }
}

static bool prepare(struct writer *writer, const struct pm_export *export, struct pm_error *error)
{
    size_t shaders, blocks;
    Pprof__Profile *profile = &writer->profile;
    struct pm_arena *arena = writer->arena;
    pprof__profile__init(profile);
    count_all(export, &shaders, &blocks);
    profile->string_table =
        pm_arena_zalloc(arena, FIXED_STRINGS + 2 * shaders, sizeof(*profile->string_table));
    profile->function = pm_arena_zalloc(arena, shaders + 1, sizeof(*profile->function));
    profile->location = pm_arena_zalloc(arena, blocks + 1, sizeof(*profile->location));
    profile->sample = pm_arena_zalloc(arena, blocks + 1, sizeof(*profile->sample));
    profile->sample_type = pm_arena_zalloc(arena, 1, sizeof(*profile->sample_type));
    profile->comment = pm_arena_zalloc(arena, 1, sizeof(*profile->comment));
    Pprof__ValueType *type = pm_arena_zalloc(arena, 1, sizeof(*type));
    if (!profile->string_table || !profile->function || !profile->location || !profile->sample ||
        !profile->sample_type || !profile->comment || !type)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu blocks", blocks);
    profile->string_table[EMPTY] = "";
    profile->string_table[INVOCATIONS] = "invocations";
    profile->string_table[COUNT] = "count";
    profile->string_table[GAME] = (char *)(uintptr_t) export->database->game;
    profile->string_table[COMMENT] = "Piecemeal: how often blocks ran in sampled calls";
    profile->string_table[SUBGROUP_SIZE] = "subgroup_size";
    profile->n_string_table = FIXED_STRINGS;
    pprof__value_type__init(type);
    type->type = INVOCATIONS;
    type->unit = COUNT;
    profile->sample_type[profile->n_sample_type++] = type;
    profile->comment[profile->n_comment++] = COMMENT;
    const uint64_t latest = (uint64_t)INT64_MAX / 1000000000;
    const uint64_t at = export->database->curated_at;
    profile->time_nanos = (int64_t)(at < latest ? at : latest) * 1000000000;
    return true;
}

/* The id of a new function; 0: out of memory. */
static uint64_t add_function(struct writer *writer, int64_t name, int64_t file)
{
    Pprof__Profile *profile = &writer->profile;
    Pprof__Function *function = pm_arena_alloc(writer->arena, sizeof(*function));
    if (!function)
        return 0;
    pprof__function__init(function);
    function->name = function->system_name = name;
    function->filename = file;
    profile->function[profile->n_function++] = function;
    return function->id = profile->n_function;
}

static uint64_t add_location(struct writer *writer, uint64_t function, uint32_t line)
{
    Pprof__Profile *profile = &writer->profile;
    Pprof__Location *location = pm_arena_alloc(writer->arena, sizeof(*location));
    Pprof__Line *at = pm_arena_alloc(writer->arena, sizeof(*at));
    Pprof__Line **lines = pm_arena_alloc(writer->arena, sizeof(Pprof__Line *));
    if (!location || !at || !lines)
        return 0;
    pprof__line__init(at);
    at->function_id = function;
    at->line = line;
    *lines = at;
    pprof__location__init(location);
    location->line = lines;
    location->n_line = 1;
    profile->location[profile->n_location++] = location;
    return location->id = profile->n_location;
}

static bool add_sample(struct writer *writer, uint64_t block, uint64_t root, uint64_t count,
                       uint32_t subgroup_size)
{
    Pprof__Profile *profile = &writer->profile;
    Pprof__Sample *sample = pm_arena_alloc(writer->arena, sizeof(*sample));
    Pprof__Label *label = pm_arena_alloc(writer->arena, sizeof(*label));
    Pprof__Label **labels = pm_arena_alloc(writer->arena, sizeof(Pprof__Label *));
    uint64_t *stack = pm_arena_alloc(writer->arena, 2 * sizeof(*stack));
    int64_t *value = pm_arena_alloc(writer->arena, sizeof(*value));
    if (!sample || !label || !labels || !stack || !value)
        return false;
    pprof__label__init(label);
    label->key = SUBGROUP_SIZE;
    label->num = subgroup_size;
    *labels = label;
    stack[0] = block;
    stack[1] = root;
    *value = (int64_t)count;
    pprof__sample__init(sample);
    sample->location_id = stack;
    sample->n_location_id = 2;
    sample->value = value;
    sample->n_value = 1;
    sample->label = labels;
    sample->n_label = 1;
    profile->sample[profile->n_sample++] = sample;
    return true;
}

static bool add_shader(struct writer *writer, const struct pm_shader_estimates *shader,
                       uint64_t root)
{
    Pprof__Profile *profile = &writer->profile;
    char key[PM_SHADER_KEY_TEXT], file[PM_SHADER_KEY_TEXT + 4];
    pm_shader_key_format(&shader->key, key);
    snprintf(file, sizeof(file), "%s.spv", key);
    const int64_t strings = (int64_t)profile->n_string_table;
    profile->string_table[strings] = pm_arena_strdup(writer->arena, key);
    profile->string_table[strings + 1] = pm_arena_strdup(writer->arena, file);
    const uint64_t function = add_function(writer, strings, strings + 1);
    if (!profile->string_table[strings] || !profile->string_table[strings + 1] || function == 0)
        return false;
    profile->n_string_table += 2;
    for (uint32_t i = 0; i < shader->space; i++) {
        uint64_t count;
        if (!pm_export_count(shader, i, &count))
            continue;
        const uint64_t location = add_location(writer, function, i);
        if (location == 0 ||
            !add_sample(writer, location, root, count, shader->environment.subgroup_size))
            return false;
    }
    return true;
}

/* Compresses and writes. */
static bool write_packed(const Pprof__Profile *profile, FILE *out, struct pm_error *error)
{
    const size_t size = pprof__profile__get_packed_size(profile);
    uint8_t *bytes = malloc(size), *packed = NULL;
    z_stream stream = {0};
    bool done = bytes && size <= UINT_MAX / 2 &&
                deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 9,
                             Z_DEFAULT_STRATEGY) == Z_OK;
    if (done) {
        pprof__profile__pack(profile, bytes);
        const uLong most = deflateBound(&stream, size);
        packed = malloc(most);
        stream.next_in = bytes;
        stream.avail_in = (uInt)size;
        stream.next_out = packed;
        stream.avail_out = (uInt)most;
        done = packed && deflate(&stream, Z_FINISH) == Z_STREAM_END;
        if (done)
            fwrite(packed, 1, stream.total_out, out);
        deflateEnd(&stream);
    }
    free(packed);
    free(bytes);
    return done || pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu bytes", size);
}

bool pm_export_pprof(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    const struct pm_database *database = export->database;
    struct writer writer = {.arena = pm_arena_create(MEMORY_CAP)};
    bool done = writer.arena ? prepare(&writer, export, error)
                             : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (done) {
        const uint64_t function = add_function(&writer, GAME, EMPTY);
        const uint64_t root = add_location(&writer, function, 0);
        bool added = function != 0 && root != 0;
        for (size_t i = 0; added && i < database->shader_count; i++)
            if (pm_export_has_blocks(export, &database->shaders[i]))
                added = add_shader(&writer, &database->shaders[i], root);
        done = added ? write_packed(&writer.profile, out, error)
                     : pm_fail(error, PM_ERROR_MEMORY, "out of memory for a profile");
    }
    pm_arena_destroy(writer.arena);
    return done;
}
