#include "layer/shader/pipeline_list.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

static bool has(const struct pm_pipeline_list *list, const struct pm_pipeline *pipeline)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == pipeline)
            return true;
    return false;
}

static void drop_gone(struct pm_pipeline_list *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (atomic_load(&list->items[i]->gone))
            pm_pipeline_release(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

/* When more than half is used of what there is room for, there is twice as much then. */
static bool make_room(struct pm_pipeline_list *list)
{
    if (list->count < list->room)
        return true;
    drop_gone(list);
    if (list->count < list->room / 2)
        return true;
    const uint32_t room = list->room > 0 ? 2 * list->room : FIRST_ROOM;
    struct pm_pipeline **items = realloc(list->items, room * sizeof *items);
    if (!items)
        return list->count < list->room;
    list->items = items;
    list->room = room;
    return true;
}

bool pm_pipeline_list_put(struct pm_pipeline_list *list, struct pm_pipeline *pipeline)
{
    if (has(list, pipeline))
        return true;
    if (!make_room(list))
        return false;
    pm_pipeline_reference(pipeline);
    list->items[list->count++] = pipeline;
    return true;
}

struct pm_pipeline *pm_pipeline_list_take(struct pm_pipeline_list *list)
{
    struct pm_pipeline *first = NULL;
    drop_gone(list);
    if (list->count > 0) {
        first = list->items[0];
        list->count--;
        memmove(list->items, list->items + 1, list->count * sizeof *list->items);
    }
    return first;
}

void pm_pipeline_list_finish(struct pm_pipeline_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        pm_pipeline_release(list->items[i]);
    free(list->items);
    *list = (struct pm_pipeline_list){0};
}
