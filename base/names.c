#include "base/names.h"

#include <stdlib.h>
#include <string.h>

bool pm_names_append(struct pm_names *list, const char *name)
{
    char **more = reallocarray(list->names, list->count + 1, sizeof(*more));
    if (!more)
        return false;
    list->names = more;
    more[list->count] = strdup(name);
    return more[list->count] && ++list->count;
}

bool pm_names_has(const struct pm_names *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0)
            return true;
    }
    return false;
}

bool pm_names_add(struct pm_names *list, const char *name)
{
    return pm_names_has(list, name) || pm_names_append(list, name);
}

void pm_names_finish(struct pm_names *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct pm_names){0};
}
