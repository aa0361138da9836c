/* The shaders of a game in this machine's store, and what they are specialized to, as modules and
 * pipelines. */
#include "profile/shader_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "shader_rewrite/zero/zero_profile.h"
#include "tools/export/export.h"
#include "tools/export/fossilize_pipeline.h"
#include <inttypes.h>
#include <stdlib.h>

struct foz {
    const struct pm_export *export;
    struct pm_fossilize_file file;
    struct pm_shader_store *store;
    size_t shaders, missing, without_pipeline;
};

/* One shader on its way into the file. */
struct putting {
    struct foz *foz;
    const struct pm_shader_estimates *shader;
    struct pm_stored_shader stored;
    struct pm_stored_pipeline pipeline;
    bool has_pipeline;
};

/* A line of what an entry is. */
static void say(const struct putting *putting, const char *what, uint64_t hash)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&putting->shader->key, key);
    if (putting->foz->export->index)
        fprintf(putting->foz->export->index, "%016" PRIx64 " %s %s\n", hash, what, key);
}

static bool put_module(const struct putting *putting, const char *what, const uint32_t *words,
                       size_t count, uint64_t *hash, struct pm_error *error)
{
    if (!pm_fossilize_module(&putting->foz->file, words, count, hash, error))
        return false;
    say(putting, what, *hash);
    return true;
}

/* The pipeline with a shader, NULL: its own. One that cannot be told is as none. */
static bool put_pipeline(struct putting *putting, const char *what,
                         const struct pm_fossilize_shader *shader, struct pm_error *error)
{
    struct pm_error why = {0};
    uint64_t hash;
    if (!putting->has_pipeline)
        return true;
    if (pm_fossilize_pipeline(&putting->foz->file, &putting->pipeline, shader, &hash, &why)) {
        say(putting, what, hash);
        return true;
    }
    putting->has_pipeline = false;
    if (why.code == PM_ERROR_UNSUPPORTED || why.code == PM_ERROR_INPUT)
        return true;
    return pm_fail(error, why.code, "%s", why.message);
}

static bool put_made(struct putting *putting, const struct pm_words *words, struct pm_error *error)
{
    struct pm_fossilize_shader shader;
    char *name = pm_canonical_entry_point(words->data, words->count, error);
    shader.entry_point = name;
    const bool ok =
        name &&
        put_module(putting, "specialized", words->data, words->count, &shader.module, error) &&
        put_pipeline(putting, "specialized-pipeline", &shader, error);
    free(name);
    return ok;
}

/* What the layer would make of it by the database. */
static bool put_specialized(struct putting *putting, struct pm_error *error)
{
    const struct pm_shader_estimates *shader = putting->shader;
    const struct pm_shader_estimates *zeros = pm_database_find(
        putting->foz->export->database, &shader->key, &shader->environment, PM_KIND_ZERO);
    struct pm_zero_profile profile;
    struct pm_specialized made;
    struct pm_error why = {0};
    if (!zeros || !zeros->points)
        return true;
    if (!pm_zero_profile_init(&profile, zeros, shader))
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a zero profile");
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .subgroup_quad = true,
                                                 .target =
                                                     pm_target_of_bits(putting->stored.target)};
    bool ok = true;
    /* Of what cannot be specialized there is nothing to export. */
    if (pm_specialize_zero(putting->stored.canonical, putting->stored.canonical_count, &info, &made,
                           &why)) {
        ok = made.transforms == 0 || put_made(putting, &made.words, error);
        pm_specialized_finish(&made);
    }
    pm_zero_profile_finish(&profile);
    return ok;
}

static bool put_stored(struct putting *putting, struct pm_arena *arena, struct pm_error *error)
{
    struct foz *foz = putting->foz;
    const struct pm_stored_shader *stored = &putting->stored;
    struct pm_error why = {0};
    uint64_t hash;
    putting->has_pipeline =
        pm_stored_pipeline_read(foz->store, &putting->shader->key, arena, &putting->pipeline, &why);
    const bool ok =
        put_module(putting, "original", stored->original, stored->original_count, &hash, error) &&
        put_module(putting, "canonical", stored->canonical, stored->canonical_count, &hash,
                   error) &&
        put_pipeline(putting, "pipeline", NULL, error) && put_specialized(putting, error);
    foz->without_pipeline += !putting->has_pipeline;
    return ok;
}

static bool put_shader(struct foz *foz, const struct pm_shader_estimates *shader,
                       struct pm_error *error)
{
    struct putting putting = {.foz = foz, .shader = shader};
    struct pm_error why = {0};
    struct pm_arena *arena = pm_arena_create(0);
    bool ok = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    foz->shaders++;
    if (ok && !pm_shader_store_read(foz->store, &shader->key, arena, &putting.stored, &why))
        foz->missing++;
    else
        ok = ok && put_stored(&putting, arena, error);
    pm_arena_destroy(arena);
    return ok;
}

bool pm_export_foz(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    struct foz foz = {.export = export, .store = pm_shader_store_open(export->store, 0)};
    const struct pm_database *database = export->database;
    bool ok = foz.store || pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    pm_fossilize_begin(&foz.file, out);
    for (size_t i = 0; ok && i < database->shader_count; i++)
        if (pm_export_has_blocks(export, &database->shaders[i]))
            ok = put_shader(&foz, &database->shaders[i], error);
    pm_fossilize_finish(&foz.file);
    pm_shader_store_close(foz.store);
    if (ok && foz.shaders == foz.missing)
        return pm_fail(error, PM_ERROR_STATE, "none of %zu shaders is in this machine's store",
                       foz.shaders);
    if (ok && foz.missing > 0)
        fprintf(stderr, "piecemeal db export: %zu of %zu shaders are not in this machine's store\n",
                foz.missing, foz.shaders);
    if (ok && foz.without_pipeline > 0)
        fprintf(stderr,
                "piecemeal db export: of %zu shaders no pipeline was kept that can be told: only "
                "their modules\n",
                foz.without_pipeline);
    return ok;
}
