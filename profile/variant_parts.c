#include "profile/variant_parts.h"

#include <stdio.h>
#include <string.h>

static const char *const names[PM_PART_COUNT] = {"pushed", "words",  "zeros",
                                                 "blocks", "recipe", "passes"};

const char *pm_part_name(unsigned place)
{
    return names[place];
}

void pm_parts_format(uint32_t parts, char text[static PM_PARTS_TEXT])
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < PM_PART_COUNT; i++)
        if (parts >> i & 1)
            length += (size_t)snprintf(text + length, PM_PARTS_TEXT - length, "%s%s",
                                       length > 0 ? "," : "", names[i]);
}

bool pm_parts_parse(const char *text, uint32_t *parts)
{
    *parts = 0;
    for (;;) {
        const size_t length = strcspn(text, ",");
        unsigned i = 0;
        while (i < PM_PART_COUNT &&
               (strlen(names[i]) != length || strncmp(names[i], text, length) != 0))
            i++;
        if (i == PM_PART_COUNT)
            return false;
        *parts |= 1u << i;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}
