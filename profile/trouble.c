#include "profile/trouble.h"

#include "base/clock.h"
#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "trouble"

enum { MOST_BYTES = 16 << 10 };

static char *path_of(const char *game)
{
    char *safe = pm_file_safe_name(game), *name = NULL, *path = NULL;
    if (safe && asprintf(&name, FOLDER "/%s", safe) >= 0)
        path = pm_place_path(PM_PLACE_DATA, name);
    else
        name = NULL;
    free(name);
    free(safe);
    return path;
}

void pm_trouble_note(const char *game, const char *message)
{
    char *path = path_of(game), *folder = pm_place_path(PM_PLACE_DATA, FOLDER);
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    if (path && !message)
        unlink(path);
    else if (path && folder && pm_make_folder(folder, NULL) &&
             pm_buffer_printf(&text, "%.6f\n%s\n%s\n", pm_wall_seconds(), game, message))
        (void)pm_file_put(path, text.data, text.size, NULL);
    pm_buffer_finish(&text);
    free(folder);
    free(path);
}

struct visiting {
    void (*visit)(void *user, const char *game, double at, const char *message);
    void *user;
};

static void visit_file(void *user, const char *path)
{
    const struct visiting *visiting = user;
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    char *rest = pm_file_read(path, &text, NULL) && text.size > 0 ? (char *)text.data : NULL;
    const char *at = strsep(&rest, "\n"), *game = strsep(&rest, "\n");
    const char *message = strsep(&rest, "\n");
    if (at && game && message)
        visiting->visit(visiting->user, game, strtod(at, NULL), message);
    pm_buffer_finish(&text);
}

void pm_trouble_each(void (*visit)(void *user, const char *game, double at, const char *message),
                     void *user)
{
    char *folder = pm_place_path(PM_PLACE_DATA, FOLDER);
    pm_folder_each(folder, "", visit_file, &(struct visiting){visit, user});
    free(folder);
}
