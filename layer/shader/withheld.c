#include "layer/shader/withheld.h"

#include "base/buffer.h"
#include "base/file.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

/* Of the lines with the mark, or of those without. */
static bool take_lines(struct pm_withheld *withheld, const char *path, char *text,
                       struct pm_error *error)
{
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        const bool marked = line[0] == '!';
        if (line[0] == '\0' || strcmp(line, "*") == 0)
            continue;
        if (!pm_shader_key_parse(line + marked, &withheld->keys[withheld->count]))
            return pm_fail(error, PM_ERROR_INPUT, "%s: '%.60s' is no shader's key", path, line);
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
    withheld->keys = calloc(lines, sizeof *withheld->keys);
    withheld->all = at && (strncmp(at, "*\n", 2) == 0 || strcmp(at, "*") == 0);
    ok = ok && (withheld->keys || pm_fail(error, PM_ERROR_MEMORY, "no memory for %s", path)) &&
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
    free(withheld->keys);
}

bool pm_withheld_has(const struct pm_withheld *withheld, const struct pm_shader_key *key)
{
    size_t i = 0;
    while (i < withheld->count && !pm_shader_key_equal(&withheld->keys[i], key))
        i++;
    return (i < withheld->count) != withheld->all;
}
