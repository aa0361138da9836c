#include "layer/shader/withheld.h"

#include "base/buffer.h"
#include "base/file.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

/* "KEY", or "KEY PARTS", which it takes apart. */
static bool take_line(struct pm_withheld_line *line, char *text)
{
    char *parts = strchr(text, ' ');
    line->parts = PM_PARTS_ALL;
    if (parts)
        *parts++ = '\0';
    const bool ok =
        pm_shader_key_parse(text, &line->key) && (!parts || pm_parts_parse(parts, &line->parts));
    if (parts)
        parts[-1] = ' ';
    return ok;
}

/* Of the lines with the mark, or of those without. */
static bool take_lines(struct pm_withheld *withheld, const char *path, char *text,
                       struct pm_error *error)
{
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        const bool marked = line[0] == '!';
        if (line[0] == '\0' || strcmp(line, "*") == 0)
            continue;
        if (!take_line(&withheld->lines[withheld->count], line + marked))
            return pm_fail(error, PM_ERROR_INPUT, "%s: '%.70s' is no shader's key", path, line);
        withheld->count += marked == withheld->all;
    }
    return true;
}

bool pm_withheld_read(struct pm_withheld *withheld, const char *path, struct pm_error *error)
{
    struct pm_buffer text;
    size_t lines = 1;
    *withheld = (struct pm_withheld){0};
    if (!path)
        return true;
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = pm_file_read(path, &text, error);
    char *at = ok && text.size > 0 ? (char *)text.data : NULL;
    for (size_t i = 0; ok && i < text.size; i++)
        lines += text.data[i] == '\n';
    withheld->lines = calloc(lines, sizeof *withheld->lines);
    withheld->all = at && (strncmp(at, "*\n", 2) == 0 || strcmp(at, "*") == 0);
    ok = ok && (withheld->lines || pm_fail(error, PM_ERROR_MEMORY, "no memory for %s", path)) &&
         (!at || take_lines(withheld, path, at, error));
    if (!ok) {
        withheld->all = true;
        withheld->count = 0;
    }
    pm_buffer_finish(&text);
    return ok;
}

void pm_withheld_finish(struct pm_withheld *withheld)
{
    free(withheld->lines);
}

uint32_t pm_withheld_parts(const struct pm_withheld *withheld, const struct pm_shader_key *key)
{
    uint32_t named = 0;
    for (size_t i = 0; i < withheld->count; i++)
        if (pm_shader_key_equal(&withheld->lines[i].key, key))
            named |= withheld->lines[i].parts;
    return withheld->all ? PM_PARTS_ALL & ~named : named;
}
