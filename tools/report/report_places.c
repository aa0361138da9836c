#include "tools/report/report_places.h"
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct pm_report_place *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

bool pm_report_places_build(const struct pm_report_shader *shader, struct pm_arena *arena,
                            struct pm_report_places *places)
{
    *places = (struct pm_report_places){
        .list = pm_arena_alloc(arena, (shader->line_count + 1) * sizeof(*places->list))};
    for (size_t i = 0; places->list && i < shader->line_count; i++)
        if (shader->lines[i].place)
            places->list[places->count++] = (struct pm_report_place){
                shader->lines[i].block, shader->lines[i].place, (uint32_t)i};
    if (places->list)
        qsort(places->list, places->count, sizeof(*places->list), compare);
    return places->list != NULL;
}

uint32_t pm_report_places_find(const struct pm_report_places *places, uint32_t block, size_t place)
{
    const struct pm_report_place wanted = {.block = block, .place = place};
    const struct pm_report_place *list = places->list;
    size_t low = 0, high = places->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < places->count && list[low].block == block)
        return list[low].line;
    return low > 0 && list[low - 1].block == block ? list[low - 1].line : UINT32_MAX;
}
