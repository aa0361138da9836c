/* What variants are called. variants.h. */
#include "shader_rewrite/variants/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE "subgroup-"

static void add(char *name, const char *part)
{
    const size_t length = strlen(name);
    snprintf(name + length, PM_VARIANT_NAME - length, "%s%s", length ? "+" : "", part);
}

void pm_variant_name(const struct pm_variant_choice *choice, char name[PM_VARIANT_NAME])
{
    char size[sizeof SIZE + 10];
    *name = 0;
    if (choice->recipe)
        add(name, choice->recipe->name);
    if (choice->second)
        add(name, choice->second->name);
    snprintf(size, sizeof size, SIZE "%u", choice->subgroup_size);
    if (choice->subgroup_size)
        add(name, size);
}

/* "subgroup-16"; 0: it is none. */
static uint32_t parse_size(const char *part)
{
    if (strncmp(part, SIZE, strlen(SIZE)) != 0)
        return 0;
    char *end = NULL;
    const char *digits = part + strlen(SIZE);
    const unsigned long size = *digits >= '1' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
    return end && !*end && size <= 1024 && (size & (size - 1)) == 0 ? (uint32_t)size : 0;
}

bool pm_variant_parse(const char *name, struct pm_variant_choice *choice)
{
    *choice = (struct pm_variant_choice){0};
    while (name) {
        char part[PM_VARIANT_NAME];
        const size_t length = strcspn(name, "+");
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : 0), name);
        const struct pm_recipe **place = choice->recipe ? &choice->second : &choice->recipe;
        if (choice->subgroup_size)
            return false; /* it comes last */
        if (!(choice->subgroup_size = parse_size(part)) &&
            (*place || !(*place = pm_recipe_find(part))))
            return false;
        name = name[length] ? name + length + 1 : NULL;
    }
    return choice->recipe || choice->subgroup_size;
}
