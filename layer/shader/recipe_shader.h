/*
 * A recipe's variant of a shader (shader_rewrite/variants): of a contest (contest.h), and of
 * debug.recipe, with which every shader that the recipe fits is built, and bound without a trial or
 * a verdict, so that tests see what each recipe computes in programs that were not written for it.
 *
 * Thread safety: any thread. Making one takes as long as a compiler does: compile threads only.
 */
#pragma once

#include "layer/shader/shader_record.h"
#include "layer/shader/specialized.h"

/* Makes the words of a record's variant, or of what is made of shader->base where there is one, and
 * with them the shader's key, recipe, made_by and subgroup_size. withheld: parts that it may not
 * have (enum pm_part). No words: the recipe finds nothing to change. false: see *error. */
bool pm_recipe_shader_make(const struct pm_device *device, const struct pm_shader_record *record,
                           const struct pm_variant_choice *choice, uint32_t withheld,
                           struct pm_specialized_shader *shader, struct pm_error *error);

/* What debug.recipe asks for. */
struct pm_recipe_asked {
    bool asked;                      /* false: nothing, and all else is 0 */
    bool any;                        /* of each shader a recipe that fits it, drawn by lot */
    uint64_t lot;                    /* sampler.seed, which makes another draw */
    struct pm_variant_choice choice; /* not of `any`; of no recipe: no shader is built */
};

/* false: what the config asks for is none, and *error says what may be asked for. */
bool pm_recipe_asked_read(const struct pm_config *config, struct pm_recipe_asked *asked,
                          struct pm_error *error);

/* As pm_recipe_shader_make, of what is asked for. The draw is a function of the shader's key and
 * the lot, and each recipe that fits the shader is as likely as the others. */
bool pm_recipe_asked_make(const struct pm_recipe_asked *asked, const struct pm_device *device,
                          const struct pm_shader_record *record, uint32_t withheld,
                          struct pm_specialized_shader *shader, struct pm_error *error);
