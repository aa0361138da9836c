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

/* Takes [start, start + bytes) out of the range that *link leads to and that has it. false: out of
 * memory. */
static bool cut(struct pm_range **link, uint64_t start, uint64_t bytes)
{
    struct pm_range *range = *link;
    const uint64_t before = start - range->offset, after = range->bytes - before - bytes;
    if (before > 0 && after > 0) {
        struct pm_range *rest = malloc(sizeof *rest);
        if (rest == NULL)
            return false;
        *rest = (struct pm_range){range->next, start + bytes, after};
        range->next = rest;
        range->bytes = before;
    } else if (before > 0) {
        range->bytes = before;
    } else if (after > 0) {
        range->offset = start + bytes;
        range->bytes = after;
    } else {
        *link = range->next;
        free(range);
    }
    return true;
}

static bool take_from(struct pm_range **ranges, uint64_t from, uint64_t bytes, uint64_t *offset)
{
    for (struct pm_range **link = ranges; *link != NULL; link = &(*link)->next) {
        const struct pm_range *range = *link;
        const uint64_t start = range->offset > from ? range->offset : from;
        const uint64_t end = range->offset + range->bytes;
        if (start < end && end - start >= bytes && cut(link, start, bytes)) {
            *offset = start;
            return true;
        }
    }
    return false;
}

bool pm_ranges_take(struct pm_range **ranges, uint64_t from, uint64_t bytes, uint64_t *offset)
{
    return take_from(ranges, from, bytes, offset) || take_from(ranges, 0, bytes, offset);
}

void pm_ranges_finish(struct pm_range **ranges)
{
    for (struct pm_range *range = *ranges, *next; range != NULL; range = next) {
        next = range->next;
        free(range);
    }
    *ranges = NULL;
}
