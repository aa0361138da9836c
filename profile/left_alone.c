#include "profile/left_alone.h"

#include "base/buffer.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_BYTES = 256 << 10, /* of a file: some 2,000 shaders */
    LONGEST_REASON = 160,   /* bytes; what is longer is cut */
    REASONS_SAID = 3,
};

static char *folder_of(const char *folder)
{
    return folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "left_alone");
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    return folder && name && asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

/* ---- noting ---- */

/* Whether the file can be appended to: it is of the recipe, and there is room. One of another
 * recipe goes. */
static bool is_current(const char *path, const char *recipe)
{
    char line[96], wanted[96];
    struct stat status;
    snprintf(wanted, sizeof wanted, "recipe %s\n", recipe);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const bool same = fgets(line, sizeof line, file) && strcmp(line, wanted) == 0;
    const bool room = fstat(fileno(file), &status) == 0 && status.st_size < MOST_BYTES;
    fclose(file);
    if (!same)
        unlink(path);
    return same && room;
}

/* Appends a line in one piece. exclusive: only to a file that is not there yet. */
static bool append(const char *path, bool exclusive, const char *text, size_t size)
{
    const int fd = open(
        path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (exclusive ? O_CREAT | O_EXCL : 0),
        0600);
    if (fd < 0)
        return false;
    const bool written = pm_write_all(fd, text, size) == 0;
    close(fd);
    return written;
}

void pm_left_alone_note(const char *folder, const char *game, const char *recipe,
                        const struct pm_shader_key *digest, const char *reason)
{
    char key[PM_SHADER_KEY_TEXT];
    char *place = folder_of(folder), *safe = pm_file_safe_name(game);
    char *path = join(place, safe), *head = NULL, *line = NULL;
    pm_shader_key_format(digest, key);
    const int head_size = asprintf(&head, "recipe %s\ngame %s\n", recipe, game);
    const int line_size = asprintf(&line, "shader %s %" PRId64 " %.*s\n", key, (int64_t)time(NULL),
                                   LONGEST_REASON, reason);
    if (path && head_size > 0 && line_size > 0 && pm_make_folder(place, NULL)) {
        if (!is_current(path, recipe))
            append(path, true, head, (size_t)head_size);
        if (is_current(path, recipe))
            append(path, false, line, (size_t)line_size);
    }
    free(line);
    free(head);
    free(path);
    free(safe);
    free(place);
}

/* ---- reading ---- */

struct entry {
    const char *digest, *reason; /* in the file's text */
    enum pm_left_alone_why why;
};

static int by_digest(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->digest, ((const struct entry *)b)->digest);
}

static int by_reason(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->reason, ((const struct entry *)b)->reason);
}

static int by_frequency(const void *a, const void *b)
{
    const struct pm_left_alone_reason *x = a, *y = b;
    return x->shaders != y->shaders ? (x->shaders < y->shaders) - (x->shaders > y->shaders)
                                    : strcmp(x->text, y->text);
}

/* The reason without the place in the shader, so that equal ones are counted together. */
static const char *without_place(const char *reason)
{
    int end = 0;
    if (sscanf(reason, "SPIR-V word %*u: %n", &end) == 0 && end > 0)
        return reason + end;
    if (sscanf(reason, "SPIR-V instruction %*u: %n", &end) == 0 && end > 0)
        return reason + end;
    return reason;
}

/* One line, which it cuts. *game is set by the line that has it. false: it is no shader's, or one
 * noted before. */
static bool parse_line(char *line, int64_t since, struct entry *entry, const char **game)
{
    enum { DIGEST = sizeof "shader " - 1, TIME = DIGEST + PM_SHADER_KEY_TEXT };
    int64_t at;
    int end = 0;
    if (strncmp(line, "game ", 5) == 0)
        *game = line + 5;
    if (strncmp(line, "shader ", DIGEST) != 0 || strlen(line) <= TIME ||
        sscanf(line + TIME, "%" SCNd64 " %n", &at, &end) != 1 || end == 0 || at < since)
        return false;
    line[TIME - 1] = 0;
    const char *reason = line + TIME + end;
    *entry = (struct entry){line + DIGEST, without_place(reason), pm_left_alone_classify(reason)};
    return true;
}

static size_t drop_repeated(struct entry *entries, size_t count)
{
    size_t kept = 0;
    qsort(entries, count, sizeof *entries, by_digest);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(entries[kept - 1].digest, entries[i].digest) != 0)
            entries[kept++] = entries[i];
    }
    return kept;
}

static bool count_reasons(struct entry *entries, size_t count, struct pm_arena *arena,
                          struct pm_left_alone *out)
{
    struct pm_left_alone_reason *reasons = pm_arena_zalloc(arena, count + 1, sizeof *reasons);
    if (!reasons)
        return false;
    qsort(entries, count, sizeof *entries, by_reason);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(entries[i - 1].reason, entries[i].reason) != 0)
            reasons[out->reason_count++].text = entries[i].reason;
        reasons[out->reason_count - 1].shaders++;
        out->whys[entries[i].why]++;
    }
    qsort(reasons, out->reason_count, sizeof *reasons, by_frequency);
    out->shaders = count;
    out->reasons = reasons;
    return true;
}

static bool read_file(const char *path, int64_t since, struct pm_arena *arena,
                      struct pm_left_alone *out, struct pm_error *error)
{
    struct pm_buffer text;
    *out = (struct pm_left_alone){.game = NULL};
    pm_buffer_init(&text, 2 * MOST_BYTES);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    bool ok = pm_file_read(path, &text, error);
    char *copy = ok && text.size > 0 ? pm_arena_dup(arena, text.data, text.size + 1) : NULL;
    size_t lines = 1, count = 0;
    for (size_t i = 0; copy && i < text.size; i++)
        lines += copy[i] == '\n';
    struct entry *entries = copy ? pm_arena_zalloc(arena, lines, sizeof *entries) : NULL;
    for (char *rest = copy, *line; entries && (line = strsep(&rest, "\n"));)
        count += parse_line(line, since, &entries[count], &out->game);
    if (ok && text.size > 0)
        ok = entries && count_reasons(entries, drop_repeated(entries, count), arena, out)
                 ? true
                 : pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
    pm_buffer_finish(&text);
    return ok;
}

bool pm_left_alone_read(const char *folder, const char *game, int64_t since, struct pm_arena *arena,
                        struct pm_left_alone *out, struct pm_error *error)
{
    char *place = folder_of(folder), *safe = pm_file_safe_name(game);
    char *path = join(place, safe);
    const bool ok = path ? read_file(path, since, arena, out, error)
                         : pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    out->game = game;
    free(path);
    free(safe);
    free(place);
    return ok;
}

bool pm_left_alone_each(const char *folder, int64_t since,
                        void (*visit)(void *user, const struct pm_left_alone *left), void *user,
                        struct pm_error *error)
{
    char *place = folder_of(folder);
    DIR *directory = place ? opendir(place) : NULL;
    bool ok = true;
    for (struct dirent *file; ok && directory && (file = readdir(directory));) {
        if (file->d_name[0] == '.')
            continue;
        struct pm_left_alone left;
        struct pm_arena *arena = pm_arena_create(0);
        char *path = join(place, file->d_name);
        ok = arena && path ? read_file(path, since, arena, &left, error)
                           : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        if (ok && left.shaders > 0 && left.game)
            visit(user, &left);
        free(path);
        pm_arena_destroy(arena);
    }
    if (directory)
        closedir(directory);
    free(place);
    return ok;
}

char *pm_left_alone_describe(const struct pm_left_alone *left, struct pm_arena *arena)
{
    struct pm_buffer text;
    pm_buffer_init(&text, 4096);
    bool ok = pm_buffer_printf(&text, "%zu shader%s left alone", left->shaders,
                               left->shaders == 1 ? " is" : "s are");
    for (size_t i = 0; ok && i < left->reason_count && i < REASONS_SAID; i++)
        ok = pm_buffer_printf(&text, "%s %s (%zu)", i == 0 ? ":" : ",", left->reasons[i].text,
                              left->reasons[i].shaders);
    if (ok && left->reason_count > REASONS_SAID)
        ok = pm_buffer_append_string(&text, ", …");
    char *result = ok ? pm_arena_strdup(arena, (const char *)text.data) : NULL;
    pm_buffer_finish(&text);
    return result;
}
