#include "shader_rewrite/partition/schedule/ready_list.h"

#include <stdlib.h>

bool pm_ready_list_init(struct pm_ready_list *list, const uint32_t *place, uint32_t operations)
{
    *list = (struct pm_ready_list){
        .place = place,
        .heap = malloc((operations + (size_t)1) * sizeof(*list->heap)),
        .in = calloc(operations + (size_t)1, sizeof(*list->in)),
    };
    return list->heap && list->in;
}

void pm_ready_list_finish(struct pm_ready_list *list)
{
    free(list->heap);
    free(list->in);
    *list = (struct pm_ready_list){0};
}

void pm_ready_list_add(struct pm_ready_list *list, uint32_t operation)
{
    if (list->in[operation])
        return;
    list->in[operation] = true;
    uint32_t at = list->count++;
    while (at) {
        uint32_t above = (at - 1) / 2;
        if (list->place[list->heap[above]] < list->place[operation])
            break;
        list->heap[at] = list->heap[above];
        at = above;
    }
    list->heap[at] = operation;
}

uint32_t pm_ready_list_take(struct pm_ready_list *list)
{
    uint32_t first = list->heap[0];
    uint32_t moved = list->heap[--list->count];
    list->in[first] = false;
    uint32_t at = 0;
    for (uint32_t below; (below = 2 * at + 1) < list->count; at = below) {
        if (below + 1 < list->count &&
            list->place[list->heap[below + 1]] < list->place[list->heap[below]])
            below++;
        if (list->place[moved] < list->place[list->heap[below]])
            break;
        list->heap[at] = list->heap[below];
    }
    list->heap[at] = moved;
    return first;
}
