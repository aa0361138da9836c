#include "tools/common/grouped.h"

#include <inttypes.h>
#include <stdio.h>

const char *pm_grouped(uint64_t number, char out[static PM_GROUPED_TEXT])
{
    char digits[PM_GROUPED_TEXT];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    int size = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[size++] = ',';
        out[size++] = digits[i];
    }
    out[size] = '\0';
    return out;
}
