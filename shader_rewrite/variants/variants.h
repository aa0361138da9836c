/*
 * A-Z testing's variants of a shader (Cooperative PGO, section 4.3): versions that compute the same
 * bits in another way, of which nobody knows beforehand which one a driver runs fastest. Each is
 * made by a recipe: a few passes over the canonical module, of ours and of SPIRV-Tools', or over
 * what was made of that by what is known of the shader.
 *
 * A recipe has a name and a version, which is raised whenever another module comes out of it. Two
 * variants are the same where their canonical words are.
 *
 * Fragment and compute only. Units: words of 32 bits.
 * Ownership: output words are malloc'ed; the caller frees them with pm_words_finish.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"

struct pm_driver;               /* quirks.h */
struct pm_optimize_blocks_info; /* blocks.h */
struct pm_pass_times;           /* pass.h */

/* What a recipe is about, as in the paper. */
enum pm_recipe_kind {
    PM_RECIPE_CANONICAL, /* the canonical module itself, in the game's module's place */
    PM_RECIPE_SCHEDULING,
    PM_RECIPE_UNROLLING,
    PM_RECIPE_SCALARS, /* scalar replacement, of vectors too */
    PM_RECIPE_REDUNDANCY,
    PM_RECIPE_SELECTIONS, /* if-conversion, and what the driver is told of selections */
    PM_RECIPE_LOADS,
    PM_RECIPE_STRENGTH,
    PM_RECIPE_BLOCKS, /* a pass by how often blocks run, however little is expected of it */
};

struct pm_recipe_step; /* recipes.h */

struct pm_recipe {
    const char *name; /* one word, of letters, digits and '-' */
    uint32_t version;
    enum pm_recipe_kind kind;
    const char *what; /* a line, for people */
    const struct pm_recipe_step *steps;
};

/* How many there are, and the one of an index below that. The order stays from version to version;
 * new ones come last. */
uint32_t pm_recipe_count(void);
const struct pm_recipe *pm_recipe_at(uint32_t index);
/* NULL: none is called so. */
const struct pm_recipe *pm_recipe_find(const char *name);
/* "scheduling" and so on. */
const char *pm_recipe_kind_name(enum pm_recipe_kind kind);

/* Which variant. */
struct pm_variant_choice {
    const struct pm_recipe *recipe; /* NULL: none */
    const struct pm_recipe *second; /* run over what the first one made; NULL: none */
    uint32_t subgroup_size;         /* that its pipeline is to require; 0: as the game's */
};

/* "hoist", "hoist+strength" of two, one after the other, "subgroup-16", "hoist+subgroup-16". One
 * word. */
enum { PM_VARIANT_NAME = 64 /* bytes, with the last zero */ };
void pm_variant_name(const struct pm_variant_choice *choice, char name[PM_VARIANT_NAME]);
/* false: nothing is called so. */
bool pm_variant_parse(const char *name, struct pm_variant_choice *choice);
/* Whether one of its recipes runs a pass over blocks. */
bool pm_variant_by_blocks(const struct pm_variant_choice *choice);
/* Whether one of them goes by a block profile: not all that run such a pass do. */
bool pm_variant_needs_blocks(const struct pm_variant_choice *choice);

/* What a device can do of VK_EXT_subgroup_size_control in compute shaders. */
struct pm_subgroup_sizes {
    uint32_t own;            /* what a pipeline has that requires nothing */
    uint32_t least, most;    /* powers of two; most 0: none can be required */
    uint32_t most_subgroups; /* in a workgroup */
};
/* The sizes that the pipeline of a compute shader may require beside its own with the same outcome,
 * as bits: 16 | 32. None where the shader could tell: it has subgroup operations or built-ins, or
 * names the subgroup's scope. Smaller ones not where it has workgroup memory, since shaders that
 * forget a barrier count on lanes that run together; larger ones not where it has atomics, since
 * locks count on lanes that do not. */
uint32_t pm_variant_subgroup_sizes(const uint32_t *words, size_t count,
                                   const struct pm_subgroup_sizes *sizes);

struct pm_variant_info {
    struct pm_variant_choice choice;
    struct pm_target target;
    const struct pm_driver *driver; /* that will run it; NULL: any, so that every guard is on */
    /* For the recipes of PM_RECIPE_BLOCKS: the profile, the points that it is of, by what a block
     * is uniform, the costs, and which passes may run; the rest of it says nothing here. NULL: they
     * make nothing. */
    const struct pm_optimize_blocks_info *blocks;
    uint32_t withheld_passes;    /* over blocks, as bits: no recipe runs them */
    bool subgroup_vote;          /* the device has it in the stage */
    struct pm_pass_times *times; /* how long the passes took is added; NULL: not wanted */
};

/* Makes a variant. out->count is 0 where there is none: the recipe finds nothing to change, or what
 * it would make is too large, or known to crash the driver, or could tell the subgroup size that
 * the choice requires, as it has votes that the module had not. It is validated for the target, in
 * the canonical order, and other than the module in that order but for the recipe
 * PM_RECIPE_CANONICAL. false: the module cannot be read, SPIRV-Tools gave up, or what came out was
 * not valid (PM_ERROR_STATE: the message has spirv-val's words). */
bool pm_make_variant(const uint32_t *words, size_t count, const struct pm_variant_info *info,
                     struct pm_words *out, struct pm_error *error);

/* Makes of a shader one that does its work twice, in a loop of which no compiler knows how often it
 * turns: for tests of what is to find slow variants out. PM_ERROR_UNSUPPORTED: it returns from a
 * loop, or its second time would compute something else, as it reads what it writes. Of two
 * variables it is taken that they are not the same memory. */
bool pm_make_slow(const uint32_t *words, size_t count, const struct pm_target *target,
                  struct pm_words *out, struct pm_error *error);

/* Likewise of what was specialized, where all guards fail that this has put into it, for any of the
 * subgroup: faster in one scene, it may be slower in another. bound: of the shader that it was made
 * of: what has no smaller id is new. PM_ERROR_UNSUPPORTED also: it has no guard. */
bool pm_make_slow_where_guards_fail(const uint32_t *words, size_t count, uint32_t bound,
                                    const struct pm_target *target, struct pm_words *out,
                                    struct pm_error *error);
