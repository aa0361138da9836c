/* For tests of recipes (shader_rewrite/variants/variants.h): canonical modules, and what a recipe
 * makes of them. */
#pragma once

#include "shader_rewrite/shader_rewrite.h"
#include "shader_rewrite/variants/variants.h"

extern const struct pm_target recipe_target;

/* The canonical form of a compute shader; and of one of recipe_subjects/, by its name. */
struct pm_words recipe_canonical(const uint32_t *words, size_t count);
struct pm_words recipe_subject(const char *name);

/* By one recipe, or two, for a driver (NULL: any); no words where they change nothing. */
struct pm_words recipe_make_for(const struct pm_words *canonical, const char *name,
                                const char *second, const struct pm_driver *driver);
/* For a driver without quirks. */
struct pm_words recipe_make(const struct pm_words *canonical, const char *name, const char *second);
