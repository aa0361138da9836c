#include "layer/memory/ranges.h"

#include <stddef.h>
#include <stdlib.h>

void pm_ranges_give(struct pm_range **ranges, uint64_t offset, uint64_t bytes)
{
    struct pm_range **link = ranges, *before = NULL;
    while (*link != NULL && (*link)->offset < offset) {
        before = *link;
        link = &(*link)->next;
    }
    struct pm_range *after = *link;
    if (before != NULL && before->offset + before->bytes == offset) {
        before->bytes += bytes;
        if (after != NULL && before->offset + before->bytes == after->offset) {
            before->bytes += after->bytes;
            before->next = after->next;
            free(after);
        }
    } else if (after != NULL && offset + bytes == after->offset) {
        after->offset = offset;
        after->bytes += bytes;
    } else {
        struct pm_range *range = malloc(sizeof *range);
        if (range != NULL) {
            *range = (struct pm_range){after, offset, bytes};
            *link = range;
        }
    }
}

bool pm_ranges_take(struct pm_range **ranges, uint64_t from, uint64_t bytes, uint64_t *offset)
{
    struct pm_range **link = ranges;
    uint64_t before = 0; /* bytes of the part that stay free */
    for (; *link != NULL; link = &(*link)->next) {
        before = from > (*link)->offset ? from - (*link)->offset : 0;
        if (before <= (*link)->bytes && (*link)->bytes - before >= bytes)
            break;
    }
    struct pm_range *range = *link;
    if (range == NULL)
        return false;
    const uint64_t after = range->bytes - before - bytes;
    *offset = range->offset + before;
    if (before > 0) {
        range->bytes = before;
        if (after > 0)
            pm_ranges_give(link, *offset + bytes, after);
        return true;
    }
    range->offset += bytes;
    range->bytes = after;
    if (after == 0) {
        *link = range->next;
        free(range);
    }
    return true;
}

void pm_ranges_finish(struct pm_range **ranges)
{
    for (struct pm_range *range = *ranges, *next; range != NULL; range = next) {
        next = range->next;
        free(range);
    }
    *ranges = NULL;
}
