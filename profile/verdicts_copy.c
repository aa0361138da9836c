/* Verdicts are copied from one journal to another. verdicts.h. */
#include "profile/verdicts.h"

#include "base/file.h"
#include "profile/journal_folder.h"
#include "profile/verdicts_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct copying {
    const char *to, *game;
};

static bool copy_file(const char *from, const char *folder, struct pm_error *error)
{
    struct pm_buffer text;
    char *path = NULL;
    pm_buffer_init(&text, PM_VERDICTS_MOST_BYTES);
    if (asprintf(&path, "%s/verdicts", folder) < 0)
        path = NULL;
    const bool ok =
        path ? pm_make_folder(folder, error) && pm_file_read(from, &text, error) &&
                   pm_file_put(path, text.data ? text.data : (const void *)"", text.size, error)
             : pm_fail(error, PM_ERROR_MEMORY, "no memory for verdicts");
    free(path);
    pm_buffer_finish(&text);
    return ok;
}

static bool copy_game(const char *path, const char *game, void *user, struct pm_error *error)
{
    const struct copying *copying = user;
    char *from = NULL, *folder = NULL;
    if (copying->game && strcmp(game, copying->game) != 0)
        return true;
    bool ok = asprintf(&from, "%s/verdicts", path) >= 0;
    if (!ok)
        from = NULL;
    ok = ok && asprintf(&folder, "%s/%s", copying->to, game) >= 0;
    if (!ok)
        folder = NULL;
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "no memory for verdicts");
    else if (access(from, F_OK) == 0)
        ok = copy_file(from, folder, error);
    free(folder);
    free(from);
    return ok;
}

bool pm_verdicts_copy(const char *from, const char *to, const char *game, struct pm_error *error)
{
    struct copying copying = {to, game};
    return pm_journal_each_folder(from, copy_game, &copying, error);
}
