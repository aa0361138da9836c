/* The shaders of a game in this machine's store, and what they are specialized to, as modules. */
#include "profile/shader_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "shader_rewrite/zero/zero_profile.h"
#include "tools/export/export.h"
#include "tools/export/fossilize_file.h"
#include <inttypes.h>

struct foz {
    const struct pm_export *export;
    struct pm_fossilize_file file;
    struct pm_shader_store *store;
    size_t shaders, missing;
};

/* A module, and a line of what it is. */
static bool put(struct foz *foz, const char *what, const struct pm_shader_estimates *shader,
                const uint32_t *words, size_t count, struct pm_error *error)
{
    char key[PM_SHADER_KEY_TEXT];
    uint64_t hash;
    if (!pm_fossilize_module(&foz->file, words, count, &hash, error))
        return false;
    pm_shader_key_format(&shader->key, key);
    if (foz->export->index)
        fprintf(foz->export->index, "%016" PRIx64 " %s %s\n", hash, what, key);
    return true;
}

/* What the layer would make of it by the database. */
static bool put_specialized(struct foz *foz, const struct pm_shader_estimates *shader,
                            const struct pm_stored_shader *stored, struct pm_error *error)
{
    const struct pm_shader_estimates *zeros =
        pm_database_find(foz->export->database, &shader->key, &shader->environment, PM_KIND_ZERO);
    struct pm_zero_profile profile;
    struct pm_specialized made;
    struct pm_error why = {0};
    if (!zeros || !zeros->points)
        return true;
    if (!pm_zero_profile_init(&profile, zeros, shader))
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a zero profile");
    const struct pm_specialize_zero_info info = {
        .profile = &profile, .subgroup_quad = true, .target = pm_target_of_bits(stored->target)};
    bool ok = true;
    /* Of what cannot be specialized there is nothing to export. */
    if (pm_specialize_zero(stored->canonical, stored->canonical_count, &info, &made, &why)) {
        ok = made.transforms == 0 ||
             put(foz, "specialized", shader, made.words.data, made.words.count, error);
        pm_specialized_finish(&made);
    }
    pm_zero_profile_finish(&profile);
    return ok;
}

static bool put_shader(struct foz *foz, const struct pm_shader_estimates *shader,
                       struct pm_error *error)
{
    struct pm_stored_shader stored;
    struct pm_error why = {0};
    struct pm_arena *arena = pm_arena_create(0);
    bool ok = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    foz->shaders++;
    if (ok && !pm_shader_store_read(foz->store, &shader->key, arena, &stored, &why))
        foz->missing++;
    else
        ok = ok && put(foz, "original", shader, stored.original, stored.original_count, error) &&
             put(foz, "canonical", shader, stored.canonical, stored.canonical_count, error) &&
             put_specialized(foz, shader, &stored, error);
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
    return ok;
}
