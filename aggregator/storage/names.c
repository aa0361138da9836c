#include "aggregator/storage/names.h"

static bool add(void *user, const char *name, struct pm_error *error)
{
    return pm_names_append(user, name) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for a list of names");
}

static bool visit_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    (void)uploads;
    return add(user, game, error);
}

bool pm_names_of_games(struct pm_names *list, struct pm_storage *storage, const char *only,
                       struct pm_error *error)
{
    return only ? add(list, only, error)
                : storage->operations->list_games(storage, visit_game, list, error);
}

static bool visit_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                        struct pm_error *error)
{
    (void)uploads;
    (void)day;
    return add(user, scene, error);
}

bool pm_names_of_scenes(struct pm_names *list, struct pm_storage *storage, const char *game,
                        uint32_t most, struct pm_error *error)
{
    return most == 0 ||
           storage->operations->list_scenes(storage, game, most, visit_scene, list, error);
}
