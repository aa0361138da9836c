/* LLVM's text profile format (llvm/lib/ProfileData/InstrProfReader.cpp reads it): "#" starts a
 * comment line; per function its name, its hash, the number of counters and the counters, a line
 * each. */
#include "profile/shader_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tools/export/export.h"

#define CONTEXT_SENSITIVE (UINT64_C(1) << 60) /* a flag in the hash, to LLVM */
#define KEY_BYTES 6                           /* of the key in the hash */

static uint64_t hash_of(const struct pm_shader_estimates *shader)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < KEY_BYTES; i++)
        hash = hash << 8 | shader->key.bytes[i];
    hash = hash << 8 | (shader->environment.subgroup_size & 0xff);
    hash = hash << 8 | (shader->flags & 0xff);
    return hash & ~CONTEXT_SENSITIVE;
}

static bool is_whole(const struct pm_shader_estimates *shader)
{
    uint64_t count;
    for (uint32_t i = 0; i < shader->space; i++)
        if (!pm_export_count(shader, i, &count))
            return false;
    return shader->space > 0;
}

static void print_uniformity(const struct pm_shader_estimates *shader, double share, FILE *out)
{
    fputs("# amdgpu-block-uniformity=", out);
    for (uint32_t i = 0; i < shader->space; i++) {
        const struct pm_point_estimate *block = &shader->points[i];
        const char known = pm_block_is_uniform(block, share) ? 'U' : 'D';
        fputc(pm_block_uniformity_is_known(block) ? known : '?', out);
    }
    fputs(" UniformityBits=", out);
    for (uint32_t first = 0; first < shader->space; first += 8) {
        unsigned bits = 0;
        for (uint32_t i = first; i < shader->space && i < first + 8; i++)
            if (pm_block_is_uniform(&shader->points[i], share))
                bits |= 1u << (i - first);
        fprintf(out, "%02x", bits);
    }
    fputc('\n', out);
}

/* Of a compute shader whose code is at hand: which blocks whole workgroups enter, by the code. Its
 * first block is one. */
static void print_whole(struct pm_shader_store *store, const struct pm_shader_estimates *shader,
                        FILE *out)
{
    struct pm_stored_shader stored;
    struct pm_block_points points = {0};
    struct pm_arena *arena = store ? pm_arena_create(0) : NULL;
    if (arena && pm_shader_store_read(store, &shader->key, arena, &stored, NULL) &&
        pm_points_blocks(stored.canonical, stored.canonical_count, &points, NULL) &&
        points.count == shader->space && points.points[0].is_whole) {
        fputs("# workgroup-uniformity=", out);
        for (uint32_t i = 0; i < points.count; i++)
            fputc(points.points[i].is_whole ? 'W' : '-', out);
        fputc('\n', out);
    }
    pm_block_points_finish(&points);
    pm_arena_destroy(arena);
}

static void print_shader(struct pm_shader_store *store, const struct pm_shader_estimates *shader,
                         double uniform_share, FILE *out)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, key);
    print_uniformity(shader, uniform_share, out);
    print_whole(store, shader, out);
    fprintf(out, "%s.block\n%llu\n%u\n", key, (unsigned long long)hash_of(shader), shader->space);
    for (uint32_t i = 0; i < shader->space; i++) {
        uint64_t count = 0;
        pm_export_count(shader, i, &count);
        fprintf(out, "%llu\n", (unsigned long long)count);
    }
    fputc('\n', out);
}

bool pm_export_llvm(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    const struct pm_database *database = export->database;
    struct pm_shader_store *store = pm_shader_store_open(export->store, 0);
    size_t left_out = 0;
    (void)error;
    fputs("# Block counts of the shaders of ", out);
    pm_export_escaped(database->game, "", out);
    fputs("\n# Counted are invocations in sampled calls.\n", out);
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        if (!pm_export_has_blocks(export, shader))
            continue;
        if (is_whole(shader))
            print_shader(store, shader, export->uniform_share, out);
        else
            left_out++;
    }
    pm_shader_store_close(store);
    fprintf(out, "# Left out: %zu shaders that are not sampled whole.\n", left_out);
    return true;
}
