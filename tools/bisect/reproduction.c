#include "tools/bisect/reproduction.h"

#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"
#include "profile/shader_store.h"
#include "profile/verdicts.h"
#include "tools/bisect/reproduction_script.h"
#include "tools/common/launch.h"
#include "tools/common/out_file.h"
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    KEY_SHOWN = 12,
    MOST_OPTIONS = 64,
    WORDS_BEFORE = 5, /* of the pass */
    MOST_PASSES = 256,
    MOST_FOLDERS = 1000, /* of one finding, over time */
};

#define MOST_BYTES ((size_t)256 << 20)

struct writing {
    const struct pm_bisection *bisection;
    const struct pm_names *keys;
    struct pm_names shaders; /* the keys alone */
    char *folder;
    char *variants;           /* where the session kept its modules */
    struct pm_names modules;  /* of these shaders, ORIGINAL-VARIANT */
    struct pm_buffer details; /* of them, for README.txt */
};

/* FOLDER/NAME; malloc'ed. NULL: *error. */
static char *join(const char *folder, const char *name, struct pm_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) >= 0)
        return path;
    pm_fail(error, PM_ERROR_MEMORY, "no memory for a path");
    return NULL;
}

static bool put(const struct writing *w, const char *name, const void *data, size_t size,
                struct pm_error *error)
{
    char *path = join(w->folder, name, error);
    const bool ok = path && pm_file_put(path, data, size, error);
    free(path);
    return ok;
}

static bool copy(const struct writing *w, const char *from, const char *name,
                 struct pm_error *error)
{
    struct pm_buffer data;
    pm_buffer_init(&data, MOST_BYTES);
    const bool ok = pm_file_read(from, &data, error) && put(w, name, data.data, data.size, error);
    pm_buffer_finish(&data);
    return ok;
}

/* ---- texts ---- */

static bool print_script(void *user, FILE *out, struct pm_error *error)
{
    const struct writing *w = user;
    return pm_reproduction_script(w->bisection, out, error);
}

static bool print_readme(void *user, FILE *out, struct pm_error *error)
{
    const struct writing *w = user;
    struct utsname machine = {0};
    (void)error;
    uname(&machine);
    fprintf(out, "piecemeal %s on %s %s found that the program\n   ", PM_VERSION, machine.sysname,
            machine.machine);
    pm_reproduction_program(w->bisection, out);
    fprintf(
        out,
        "goes wrong with what `only` names of its specialized shaders, and not without.\n\n"
        "reproduce.sh      starts it so (PIECEMEAL=/path/to/piecemeal where that is not on "
        "PATH)\n"
        "only              what reproduce.sh withholds: all but this, a shader's key and the\n"
        "                  part of what is done to it\n"
        "databases/        the PGO database that they were specialized by\n"
        "journal/          what trials had found of variants, and what happens in reproduce.sh\n"
        "KEY.original.spv  a shader as the program gave it\n"
        "KEY.canonical.spv what it was specialized from\n"
        "KEY-VARIANT.spv   what it was specialized to; of several passes KEY-VARIANT.passN.spv\n"
        "KEY-VARIANT.json  for which device, and how; and the state of a pipeline with it\n"
        "KEY-VARIANT.stageN.spv  the pipeline's other stages\n\n");
    if (w->bisection->check)
        fprintf(out, "Whether it goes wrong is said by: %s\n", w->bisection->check);
    if (w->bisection->compare)
        fprintf(out, "It goes wrong when %s is not what it is without.\n", w->bisection->compare);
    fprintf(out, "To go on without, put the lines into a file that optimize.withhold names:\n");
    for (size_t i = 0; i < w->keys->count; i++)
        fprintf(out, "    %s\n", w->keys->names[i]);
    if (w->details.size > 0)
        fprintf(out, "\n%s", (const char *)w->details.data);
    fprintf(out, "\nWith the profile beside the source: piecemeal report --database "
                 "databases/GAME.pmdb -o report.html\n");
    return true;
}

static bool put_text(const struct writing *w, const char *name, pm_out_writer print,
                     struct pm_error *error)
{
    char *path = join(w->folder, name, error);
    const bool ok = path && pm_out_file(path, print, (void *)(uintptr_t)w, error);
    free(path);
    return ok;
}

/* ---- modules ---- */

/* Two files of the same bytes, of which the second one goes. */
static bool is_same(const char *kept, const char *made, struct pm_error *error)
{
    struct pm_buffer a, b;
    pm_buffer_init(&a, MOST_BYTES);
    pm_buffer_init(&b, MOST_BYTES);
    const bool same = pm_file_read(kept, &a, error) && pm_file_read(made, &b, error) &&
                      a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
    pm_buffer_finish(&b);
    pm_buffer_finish(&a);
    unlink(made);
    return same;
}

/* Of a shader in several passes: MADE/pass-N.spv, in a folder that goes. */
static bool are_same_passes(const struct writing *w, const char *module, const char *made,
                            struct pm_error *error)
{
    bool same = true, more = true;
    unsigned count = 0;
    for (; same && more && count < MOST_PASSES; count++) {
        char *kept = NULL, *own = NULL;
        if (asprintf(&kept, "%s/%s.pass%u.spv", w->folder, module, count) >= 0 &&
            asprintf(&own, "%s/pass-%u.spv", made, count) >= 0) {
            more = access(kept, F_OK) == 0 || access(own, F_OK) == 0;
            same = !more || is_same(kept, own, error);
        }
        free(own);
        free(kept);
    }
    char *list = join(made, "passes.json", error);
    if (list)
        unlink(list);
    free(list);
    rmdir(made);
    return same && count > 1;
}

/* The pass's command line, run here to see whether it makes the same words. */
static bool makes_same(const struct writing *w, char **command, const char *module, char *made,
                       bool passes, struct pm_error *error)
{
    int status = 1;
    bool same = false;
    char *variant = NULL;
    if (asprintf(&variant, "%s/%s.spv", w->folder, module) < 0)
        variant = NULL;
    if (variant && pm_launch_wait(command, &status, error) && status == 0)
        same = passes ? are_same_passes(w, module, made, error) : is_same(variant, made, error);
    free(variant);
    return same;
}

static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}

/* Whether what the pass makes depends on one. */
static bool needs_profile(const char *pass, const cJSON *options)
{
    bool blocks = false;
    const cJSON *option;
    cJSON_ArrayForEach(option, options)
    {
        blocks |= cJSON_IsString(option) && strncmp(option->valuestring, "blocks-", 7) == 0;
    }
    return strcmp(pass, "specialize_zero") == 0 || strcmp(pass, "optimize_blocks") == 0 ||
           (strcmp(pass, "make_variant") == 0 && blocks);
}

/* How the module is made again, and whether it was. */
static bool detail(struct writing *w, const char *module, const cJSON *json, struct pm_error *error)
{
    const char *game = w->bisection->games.count > 0 ? w->bisection->games.names[0] : "";
    const cJSON *passes = cJSON_GetObjectItemCaseSensitive(json, "passes");
    const char *pass = cJSON_GetStringValue(cJSON_GetArrayItem(passes, 0));
    const bool has_more = cJSON_GetArraySize(passes) > 1;
    pass = pass ? pass : "";
    char *safe = pm_file_safe_name(game), *profile = NULL, *canonical = NULL;
    const bool in_passes = pass && strcmp(pass, "partition") == 0;
    char *made = join(w->folder, in_passes ? "again" : "again.spv", error);
    char self[PATH_MAX] = "";
    char *command[MOST_OPTIONS + 16] = {"sh", "-c", "exec \"$0\" \"$@\" >/dev/null", self,
                                        "shader"};
    size_t count = WORDS_BEFORE;
    const cJSON *option;
    bool ok = made && safe && readlink("/proc/self/exe", self, sizeof self - 1) > 0;
    if (asprintf(&profile, "%s/databases/%s.pmdb", w->folder, safe ? safe : "") < 0)
        profile = NULL;
    if (asprintf(&canonical, "%s/%s.canonical.spv", w->folder, text_of(json, "original")) < 0)
        canonical = NULL;
    ok = ok && profile && canonical;
    command[count++] = (char *)(uintptr_t)pass;
    command[count++] = canonical;
    cJSON_ArrayForEach(option, cJSON_GetObjectItemCaseSensitive(json, "options"))
    {
        if (cJSON_IsString(option) && count < MOST_OPTIONS)
            command[count++] = option->valuestring;
    }
    if (needs_profile(pass, cJSON_GetObjectItemCaseSensitive(json, "options"))) {
        command[count++] = "--profile";
        command[count++] = profile;
    }
    command[count++] = "-o";
    command[count++] = made;
    struct pm_error ignored = {0};
    ok = ok && pm_buffer_printf(&w->details, "%s\n    %s, %s shader, on %s (%s)\n    piecemeal",
                                module, pass, text_of(json, "stage"), text_of(json, "device"),
                                text_of(json, "driver"));
    for (size_t i = WORDS_BEFORE - 1; ok && i < count; i++) {
        const size_t inside = strlen(w->folder);
        const bool own = strncmp(command[i], w->folder, inside) == 0 && command[i][inside] == '/';
        ok = pm_buffer_printf(&w->details, " %s", command[i] + (own ? inside + 1 : 0));
    }
    ok = ok &&
         pm_buffer_printf(
             &w->details, "\n    %s\n",
             makes_same(w, command, module, made, in_passes, &ignored) ? "makes these words again."
             : has_more ? "makes its first part: behind it more passes were run (passes in "
                          "the JSON file)."
                        : "made other words just now.");
    free(made);
    free(canonical);
    free(profile);
    free(safe);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "no memory for README.txt");
}

static bool put_variant(struct writing *w, const char *file, struct pm_error *error)
{
    char *from = join(w->variants, file, error), *module = strdup(file);
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = from && module && copy(w, from, file, error);
    if (ok && strcmp(file + strlen(file) - 5, ".json") == 0) {
        module[strlen(file) - 5] = '\0';
        ok = pm_file_read(from, &text, error) && pm_names_append(&w->modules, module);
    }
    pm_buffer_finish(&text);
    free(module);
    free(from);
    return ok;
}

/* What sessions kept of a shader's variants. */
static bool put_variants(struct writing *w, const char *key, struct pm_error *error)
{
    DIR *directory = opendir(w->variants);
    bool ok = directory || pm_fail_errno(error, errno, "%s", w->variants);
    for (struct dirent *entry; ok && (entry = readdir(directory));)
        if (strncmp(entry->d_name, key, strlen(key)) == 0 && strlen(entry->d_name) > 5)
            ok = put_variant(w, entry->d_name, error);
    if (directory)
        closedir(directory);
    return ok;
}

/* As the program gave it, and as it was specialized from, where the store still has it. */
static bool put_stored(const struct writing *w, struct pm_shader_store *store, const char *text,
                       struct pm_error *error)
{
    struct pm_shader_key key;
    struct pm_stored_shader stored;
    char name[PM_SHADER_KEY_TEXT + 16];
    struct pm_arena *arena = pm_arena_create(0);
    bool ok = true;
    if (arena && pm_shader_key_parse(text, &key) &&
        pm_shader_store_read(store, &key, arena, &stored, NULL)) {
        snprintf(name, sizeof name, "%s.original.spv", text);
        ok = put(w, name, stored.original, stored.original_count * sizeof(uint32_t), error);
        snprintf(name, sizeof name, "%s.canonical.spv", text);
        ok = ok && put(w, name, stored.canonical, stored.canonical_count * sizeof(uint32_t), error);
    }
    pm_arena_destroy(arena);
    return ok;
}

static bool put_databases(const struct writing *w, struct pm_error *error)
{
    char *folder = join(w->folder, "databases", error);
    bool ok = folder && pm_make_folder(folder, error);
    for (size_t i = 0; ok && i < w->bisection->games.count; i++) {
        char *from = pm_database_cache_path(w->bisection->games.names[i]);
        char *name = NULL;
        if (from && access(from, R_OK) == 0 &&
            asprintf(&name, "databases%s", strrchr(from, '/')) >= 0)
            ok = copy(w, from, name, error);
        free(name);
        free(from);
    }
    free(folder);
    return ok;
}

/* What trials have found of these games' variants, so that they are the same elsewhere. */
static bool put_verdicts(const struct writing *w, struct pm_error *error)
{
    char *known = pm_bisection_verdicts(w->bisection), *journal = join(w->folder, "journal", error);
    bool ok = known && journal;
    for (size_t i = 0; ok && i < w->bisection->games.count; i++) {
        char *safe = pm_file_safe_name(w->bisection->games.names[i]);
        ok = (safe || pm_fail(error, PM_ERROR_MEMORY, "no memory for a game's name")) &&
             pm_verdicts_copy(known, journal, safe, error);
        free(safe);
    }
    free(journal);
    free(known);
    return ok;
}

static bool put_only(const struct writing *w, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = pm_buffer_append_string(&text, "*\n");
    for (size_t i = 0; ok && i < w->keys->count; i++)
        ok = pm_buffer_printf(&text, "!%s\n", w->keys->names[i]);
    ok = ok ? put(w, "only", text.data, text.size, error)
            : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_buffer_finish(&text);
    return ok;
}

static bool put_details(struct writing *w, struct pm_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < w->modules.count; i++) {
        char *name = NULL, *path = NULL;
        struct pm_buffer text;
        pm_buffer_init(&text, MOST_BYTES);
        if (asprintf(&name, "%s.json", w->modules.names[i]) >= 0)
            path = join(w->folder, name, error);
        ok = path && pm_file_read(path, &text, error);
        cJSON *json = ok ? cJSON_ParseWithLength((const char *)text.data, text.size) : NULL;
        ok = json && detail(w, w->modules.names[i], json, error);
        cJSON_Delete(json);
        pm_buffer_finish(&text);
        free(path);
        free(name);
    }
    return ok;
}

static bool put_modules(struct writing *w, struct pm_error *error)
{
    struct pm_shader_store *store = pm_shader_store_open(NULL, 0);
    bool ok = store || pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    for (size_t i = 0; ok && i < w->shaders.count; i++)
        ok = put_stored(w, store, w->shaders.names[i], error) &&
             put_variants(w, w->shaders.names[i], error);
    pm_shader_store_close(store);
    return ok;
}

/* The keys of "KEY PART", each once. */
static bool find_shaders(struct writing *w, struct pm_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < w->keys->count; i++) {
        char key[PM_SHADER_KEY_TEXT];
        snprintf(key, sizeof key, "%.48s", w->keys->names[i]);
        ok = pm_names_add(&w->shaders, key) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    return ok;
}

static bool put_script(const struct writing *w, struct pm_error *error)
{
    char *path = join(w->folder, "reproduce.sh", error);
    const bool ok = path && pm_out_file(path, print_script, (void *)(uintptr_t)w, error) &&
                    (chmod(path, 0755) == 0 || pm_fail_errno(error, errno, "%s", path));
    free(path);
    return ok;
}

/* A new folder for a finding, "KEY PART": KEY-PART, with a number where that is there from before.
 * malloc'ed; NULL: *error. */
static char *make_folder(const char *folder, const char *finding, struct pm_error *error)
{
    const char *part = strchr(finding, ' ');
    char name[64], number[16] = "";
    if (!pm_make_folder(folder, error))
        return NULL;
    for (unsigned i = 2; i <= MOST_FOLDERS; i++) {
        snprintf(name, sizeof name, "%.*s-%s%s", KEY_SHOWN, finding, part ? part + 1 : "", number);
        char *path = join(folder, name, error);
        if (!path || mkdir(path, 0700) == 0)
            return path;
        const int why = errno;
        if (why != EEXIST)
            pm_fail_errno(error, why, "%s: cannot make the folder", path);
        free(path);
        if (why != EEXIST)
            return NULL;
        snprintf(number, sizeof number, "-%u", i);
    }
    pm_fail(error, PM_ERROR_LIMIT, "%s: there are %d reproductions of it already", folder,
            MOST_FOLDERS);
    return NULL;
}

bool pm_reproduction_write(const struct pm_bisection *bisection, const char *folder,
                           const struct pm_names *keys, char **path, struct pm_error *error)
{
    struct writing w = {.bisection = bisection, .keys = keys};
    pm_buffer_init(&w.details, MOST_BYTES);
    w.folder = make_folder(folder, keys->names[0], error);
    w.variants = pm_bisection_variants(bisection);
    const bool ok = w.folder && w.variants && find_shaders(&w, error) && put_databases(&w, error) &&
                    put_verdicts(&w, error) && put_modules(&w, error) && put_only(&w, error) &&
                    put_details(&w, error) && put_script(&w, error) &&
                    put_text(&w, "README.txt", print_readme, error);
    pm_names_finish(&w.shaders);
    pm_names_finish(&w.modules);
    pm_buffer_finish(&w.details);
    free(w.variants);
    if (ok)
        *path = w.folder;
    else
        free(w.folder);
    return ok;
}
