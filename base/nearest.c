#include "base/nearest.h"
#include <stdint.h>
#include <string.h>

size_t pm_nearest_distance(const char *a, const char *b, size_t b_length)
{
    enum { LONGEST = 63 };
    size_t a_length = strlen(a), row[LONGEST + 1];
    if (a_length > 2 * LONGEST || b_length > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t least = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[b_length];
}

size_t pm_nearest_most(const char *name)
{
    return strlen(name) / 3 > 2 ? strlen(name) / 3 : 2;
}
