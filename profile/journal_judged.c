#include "profile/journal_judged.h"

#include "base/file.h"
#include "profile/lines.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HEADER "piecemeal judged 1\n"

enum { MOST_BYTES = 1 << 16 };

static char *path_in(const char *folder)
{
    char *path = NULL;
    return asprintf(&path, "%s/judged", folder) < 0 ? NULL : path;
}

static uint64_t hash_of_text(const struct pm_buffer *text)
{
    return XXH3_64bits(text->data ? (const void *)text->data : "", text->size);
}

static uint64_t hash_of_name(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return XXH3_64bits(name, strlen(name));
}

static bool parse(const struct pm_buffer *text, uint64_t history, struct pm_judged *judged)
{
    const char *at = (const char *)text->data, *end = at + text->size;
    struct pm_line line;
    uint64_t of = 0;
    bool good = pm_lines_begin(&at, end, HEADER) && pm_lines_next(&at, end, &line) &&
                pm_line_is(&line, "history", 2) && pm_line_long_number(line.words[1], 16, &of) &&
                of == history;
    judged->names = good ? calloc(text->size / 2, sizeof(*judged->names)) : NULL;
    while (judged->names && good && pm_lines_next(&at, end, &line))
        good = pm_line_is(&line, "session", 2) &&
               pm_line_long_number(line.words[1], 16, &judged->names[judged->count++]);
    return judged->names && good;
}

void pm_judged_read(const char *folder, const struct pm_buffer *history, struct pm_judged *judged)
{
    struct pm_buffer text;
    char *path = path_in(folder);
    *judged = (struct pm_judged){0};
    pm_buffer_init(&text, MOST_BYTES);
    if (path && access(path, F_OK) == 0 && pm_file_read(path, &text, NULL) && text.data &&
        !parse(&text, hash_of_text(history), judged))
        pm_judged_finish(judged);
    pm_buffer_finish(&text);
    free(path);
}

void pm_judged_finish(struct pm_judged *judged)
{
    free(judged->names);
    *judged = (struct pm_judged){0};
}

bool pm_judged_has(const struct pm_judged *judged, const char *path)
{
    bool has = false;
    const uint64_t name = judged->count > 0 ? hash_of_name(path) : 0;
    for (size_t i = 0; !has && i < judged->count; i++)
        has = judged->names[i] == name;
    return has;
}

void pm_judged_write(const char *folder, const struct pm_buffer *history, const char *const *paths,
                     size_t count)
{
    struct pm_buffer text;
    char *path = path_in(folder);
    pm_buffer_init(&text, MOST_BYTES);
    bool ok =
        path && pm_buffer_printf(&text, HEADER "history %" PRIx64 "\n", hash_of_text(history));
    for (size_t i = 0; ok && i < count; i++)
        ok = pm_buffer_printf(&text, "session %" PRIx64 "\n", hash_of_name(paths[i]));
    if (ok)
        pm_file_put(path, text.data, text.size, NULL);
    pm_buffer_finish(&text);
    free(path);
}

void pm_judged_forget(const char *folder)
{
    char *path = path_in(folder);
    if (path)
        unlink(path);
    free(path);
}
