#include "tools/db_games.h"

#include <stdlib.h>
#include <string.h>

static bool add(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    struct pm_game_list *list = user;
    char **names = realloc(list->names, (list->count + 1) * sizeof(*names));
    (void)uploads;
    if (names) {
        list->names = names;
        if ((names[list->count] = strdup(game))) {
            list->count++;
            return true;
        }
    }
    return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a list of games");
}

bool pm_game_list_read(struct pm_game_list *list, struct pm_storage *storage, const char *only,
                       struct pm_error *error)
{
    *list = (struct pm_game_list){0};
    if (only ? add(list, only, 0, error)
             : storage->operations->list_games(storage, add, list, error))
        return true;
    pm_game_list_finish(list);
    return false;
}

void pm_game_list_finish(struct pm_game_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct pm_game_list){0};
}
