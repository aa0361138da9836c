#include "tools/report/report_diff.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the table of the changed parts' lines. */
#define MOST_CELLS ((size_t)1 << 24)

struct texts {
    const char *const *from, *const *to;
    bool *left, *kept;
};

static bool same(const char *a, const char *b)
{
    return strcmp(a + strspn(a, " "), b + strspn(b, " ")) == 0;
}

/* length[i * columns + j]: of the longest common subsequence of what follows line i and line j. */
static void fill(const struct texts *t, size_t rows, size_t columns, uint16_t *length)
{
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;) {
            uint16_t *at = &length[i * (columns + 1) + j];
            const uint16_t down = at[columns + 1], right = at[1];
            *at = same(t->from[i], t->to[j]) ? (uint16_t)(at[columns + 2] + 1)
                  : down > right             ? down
                                             : right;
        }
}

static void mark(const struct texts *t, size_t rows, size_t columns, const uint16_t *length)
{
    size_t i = 0, j = 0;
    while (i < rows && j < columns) {
        const uint16_t *at = &length[i * (columns + 1) + j];
        if (same(t->from[i], t->to[j]))
            t->left[i++] = t->kept[j++] = true;
        else if (at[columns + 1] >= at[1])
            i++;
        else
            j++;
    }
}

bool pm_report_diff(const char *const *from, size_t from_count, const char *const *to,
                    size_t to_count, bool *left, bool *kept)
{
    size_t begin = 0;
    memset(left, 0, from_count);
    memset(kept, 0, to_count);
    while (begin < from_count && begin < to_count && same(from[begin], to[begin])) {
        left[begin] = kept[begin] = true;
        begin++;
    }
    while (from_count > begin && to_count > begin && same(from[from_count - 1], to[to_count - 1]))
        left[--from_count] = kept[--to_count] = true;
    const struct texts texts = {from + begin, to + begin, left + begin, kept + begin};
    const size_t rows = from_count - begin, columns = to_count - begin;
    if (rows == 0 || columns == 0 || rows >= UINT16_MAX || columns >= UINT16_MAX ||
        (rows + 1) * (columns + 1) > MOST_CELLS)
        return true;
    uint16_t *length = calloc((rows + 1) * (columns + 1), sizeof(*length));
    if (!length)
        return false;
    fill(&texts, rows, columns, length);
    mark(&texts, rows, columns, length);
    free(length);
    return true;
}
