#include "shader_rewrite/variants/recipes.h"

#include "shader_rewrite/variants/variant_passes.h"
#include <string.h>

#define PASS(name, number)                                                                         \
    {                                                                                              \
        .pass = &pm_pass_##name, .argument = (number)                                              \
    }
#define FLAG(text)                                                                                 \
    {                                                                                              \
        .flag = (text)                                                                             \
    }
#define FLAG_WHERE(text, guard)                                                                    \
    {                                                                                              \
        .flag = (text), .fits = (guard)                                                            \
    }
#define BLOCKS(passes)                                                                             \
    {                                                                                              \
        .blocks = (passes)                                                                         \
    }
#define STEPS(...)                                                                                 \
    (const struct pm_recipe_step[])                                                                \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define NO_STEPS                                                                                   \
    (const struct pm_recipe_step[])                                                                \
    {                                                                                              \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Unrolls by SPIRV-Tools what may come to so many copies. */
#define UNROLL(flag, most) PASS(mark_loops, most), FLAG(flag), PASS(unmark_loops, 0)
/* So many turns at a time; of two loops at most, one after the other. */
#define UNROLL_PART(copies)                                                                        \
    UNROLL("--loop-unroll-partial=" #copies, PM_UNROLL_PART(copies)),                              \
        UNROLL("--loop-unroll-partial=" #copies, PM_UNROLL_PART(copies))

static const struct pm_recipe recipes[] = {
    {"canonical", 1, PM_RECIPE_CANONICAL, "the canonical module: simplified, inlined, in SSA form",
     NO_STEPS},
    {"schedule-late", 1, PM_RECIPE_SCHEDULING, "each value right before its first use",
     STEPS(PASS(schedule, PM_SCHEDULE_LATE))},
    {"schedule-pressure", 1, PM_RECIPE_SCHEDULING, "as few values alive at a time as may be",
     STEPS(PASS(schedule, PM_SCHEDULE_PRESSURE))},
    {"schedule-breadth", 1, PM_RECIPE_SCHEDULING, "what waits for the least first",
     STEPS(PASS(schedule, PM_SCHEDULE_BREADTH))},
    {"schedule-critical", 1, PM_RECIPE_SCHEDULING, "the longest chains first",
     STEPS(PASS(schedule, PM_SCHEDULE_CRITICAL))},
    {"schedule-loads", 1, PM_RECIPE_SCHEDULING, "loads and samples first",
     STEPS(PASS(schedule, PM_SCHEDULE_LOADS))},
    {"unroll-full", 5, PM_RECIPE_UNROLLING, "loops of up to 16 turns unrolled",
     STEPS(UNROLL("--loop-unroll", 16))},
    {"unroll-long", 5, PM_RECIPE_UNROLLING, "loops of up to 64 turns unrolled",
     STEPS(UNROLL("--loop-unroll", 64))},
    {"unroll-twice", 4, PM_RECIPE_UNROLLING, "two turns of a loop at a time",
     STEPS(UNROLL_PART(2))},
    {"unroll-four", 4, PM_RECIPE_UNROLLING, "four turns of a loop at a time",
     STEPS(UNROLL_PART(4))},
    {"unroll-three", 4, PM_RECIPE_UNROLLING, "three turns of a loop at a time",
     STEPS(UNROLL_PART(3))},
    {"ask-unroll", 4, PM_RECIPE_UNROLLING, "the driver is asked to unroll",
     STEPS(PASS(controls, PM_CONTROLS_UNROLL))},
    {"ask-no-unroll", 3, PM_RECIPE_UNROLLING, "the driver is asked not to unroll",
     STEPS(PASS(controls, PM_CONTROLS_DONT_UNROLL))},
    {"scalarize", 2, PM_RECIPE_SCALARS, "vector arithmetic component by component",
     STEPS(PASS(scalarize, 0))},
    {"unroll-scalars", 5, PM_RECIPE_SCALARS, "loops unrolled, then local arrays taken apart",
     STEPS(UNROLL("--loop-unroll", 64), FLAG("--ccp"), FLAG("--scalar-replacement=0"),
           FLAG("--ssa-rewrite"))},
    {"hoist", 1, PM_RECIPE_REDUNDANCY, "what does not change in a loop, before the loop",
     STEPS(PASS(hoist, 0))},
    {"hoist-common", 1, PM_RECIPE_REDUNDANCY,
     "what both sides of a selection compute, before it too", STEPS(PASS(hoist, 1))},
    {"one-return", 2, PM_RECIPE_REDUNDANCY, "early returns go through one",
     STEPS(FLAG("--merge-return"))},
    {"if-convert", 1, PM_RECIPE_SELECTIONS, "selections between ready values without a branch",
     STEPS(FLAG("--if-conversion"))},
    {"ask-flatten", 1, PM_RECIPE_SELECTIONS, "the driver is asked to do without branches",
     STEPS(PASS(controls, PM_CONTROLS_FLATTEN))},
    {"ask-flatten-small", 1, PM_RECIPE_SELECTIONS, "likewise, where little is in them",
     STEPS(PASS(controls, PM_CONTROLS_FLATTEN_SMALL))},
    {"ask-branch", 1, PM_RECIPE_SELECTIONS, "the driver is asked to keep branches",
     STEPS(PASS(controls, PM_CONTROLS_DONT_FLATTEN))},
    {"ask-branch-large", 1, PM_RECIPE_SELECTIONS, "likewise, where much is in them",
     STEPS(PASS(controls, PM_CONTROLS_DONT_FLATTEN_LARGE))},
    {"whole-loads", 2, PM_RECIPE_LOADS, "one load of a vector for several components",
     STEPS(PASS(loads, PM_LOADS_WHOLE))},
    {"small-loads", 2, PM_RECIPE_LOADS, "of structures only what is used",
     STEPS(FLAG_WHERE("--reduce-load-size=1.0", pm_loads_may_be_parted))},
    {"sink-loads", 3, PM_RECIPE_LOADS, "loads into the branches that use them",
     STEPS(FLAG_WHERE("--code-sink", pm_loads_may_sink))},
    {"repeat-loads", 1, PM_RECIPE_LOADS, "constant memory loaded again where it is used",
     STEPS(PASS(loads, PM_LOADS_REPEAT))},
    {"strength", 3, PM_RECIPE_STRENGTH, "shifts and products for divisions by powers of two",
     STEPS(PASS(strength, 0))},
    {"late-scalars", 2, PM_RECIPE_SCALARS, "component by component, each right before its use",
     STEPS(PASS(scalarize, 0), PASS(schedule, PM_SCHEDULE_LATE))},
    {"hoist-late", 1, PM_RECIPE_REDUNDANCY,
     "loops and selections rid of what they share, then each value right before its use",
     STEPS(PASS(hoist, 1), PASS(schedule, PM_SCHEDULE_LATE))},
    {"repeat-late", 1, PM_RECIPE_LOADS, "loads repeated, then each value right before its use",
     STEPS(PASS(loads, PM_LOADS_REPEAT), PASS(schedule, PM_SCHEDULE_LATE))},
    {"vote-branches", 1, PM_RECIPE_SELECTIONS, "bodies of selections behind votes of the subgroup",
     STEPS({.blocks = 1u << PM_BLOCK_VERSION, .argument = 1})},
    {"blocks-flatten", 1, PM_RECIPE_BLOCKS,
     "the driver is told which branches are rare or balanced",
     STEPS(BLOCKS(1u << PM_BLOCK_FLATTEN))},
    {"blocks-sink", 1, PM_RECIPE_BLOCKS, "what only rare blocks need is computed there",
     STEPS(BLOCKS(1u << PM_BLOCK_SINK))},
    {"blocks-version", 1, PM_RECIPE_BLOCKS, "rare bodies behind votes of the subgroup",
     STEPS(BLOCKS(1u << PM_BLOCK_VERSION))},
    {"blocks-unroll", 2, PM_RECIPE_BLOCKS, "the driver is told how often loops turn",
     STEPS(BLOCKS(1u << PM_BLOCK_UNROLL))},
    {"blocks-peel", 2, PM_RECIPE_BLOCKS, "turns that are always made in front of their loop",
     STEPS(BLOCKS(1u << PM_BLOCK_PEEL))},
    {"blocks-layout", 2, PM_RECIPE_BLOCKS, "rare blocks last, and weights of branches",
     STEPS(BLOCKS(1u << PM_BLOCK_LAYOUT))},
    {"blocks-all", 3, PM_RECIPE_BLOCKS, "all of these by how often blocks run",
     STEPS(BLOCKS(PM_BLOCK_ALL))},
    {"scalar-pressure", 2, PM_RECIPE_SCALARS,
     "component by component, as few values alive at a time as may be",
     STEPS(PASS(scalarize, 0), PASS(schedule, PM_SCHEDULE_PRESSURE))},
    {"scalar-breadth", 2, PM_RECIPE_SCALARS,
     "component by component, what waits for the least first",
     STEPS(PASS(scalarize, 0), PASS(schedule, PM_SCHEDULE_BREADTH))},
    {"scalar-critical", 2, PM_RECIPE_SCALARS, "component by component, the longest chains first",
     STEPS(PASS(scalarize, 0), PASS(schedule, PM_SCHEDULE_CRITICAL))},
    {"scalar-loads", 2, PM_RECIPE_SCALARS, "component by component, loads and samples first",
     STEPS(PASS(scalarize, 0), PASS(schedule, PM_SCHEDULE_LOADS))},
    {"hoist-pressure", 1, PM_RECIPE_REDUNDANCY,
     "loops and selections rid of what they share, then as few values alive as may be",
     STEPS(PASS(hoist, 1), PASS(schedule, PM_SCHEDULE_PRESSURE))},
    {"repeat-pressure", 1, PM_RECIPE_LOADS, "loads repeated, then as few values alive as may be",
     STEPS(PASS(loads, PM_LOADS_REPEAT), PASS(schedule, PM_SCHEDULE_PRESSURE))},
};

enum { RECIPES = sizeof recipes / sizeof *recipes };

uint32_t pm_recipe_count(void)
{
    return RECIPES;
}

const struct pm_recipe *pm_recipe_at(uint32_t index)
{
    return index < RECIPES ? &recipes[index] : NULL;
}

const struct pm_recipe *pm_recipe_find(const char *name)
{
    for (uint32_t i = 0; i < RECIPES; i++)
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    return NULL;
}

const char *pm_recipe_kind_name(enum pm_recipe_kind kind)
{
    static const char *const names[] = {
        [PM_RECIPE_CANONICAL] = "canonical",   [PM_RECIPE_SCHEDULING] = "scheduling",
        [PM_RECIPE_UNROLLING] = "unrolling",   [PM_RECIPE_SCALARS] = "scalar replacement",
        [PM_RECIPE_REDUNDANCY] = "redundancy", [PM_RECIPE_SELECTIONS] = "if-conversion",
        [PM_RECIPE_LOADS] = "loads",           [PM_RECIPE_STRENGTH] = "strength",
        [PM_RECIPE_BLOCKS] = "blocks",
    };
    return names[kind];
}

static bool is_by_blocks(const struct pm_recipe *recipe)
{
    const struct pm_recipe_step *step = recipe ? recipe->steps : NULL;
    while (step && (step->pass || step->flag) && !step->blocks)
        step++;
    return step && step->blocks != 0;
}

bool pm_variant_needs_blocks(const struct pm_variant_choice *choice)
{
    return (choice->recipe && choice->recipe->kind == PM_RECIPE_BLOCKS) ||
           (choice->second && choice->second->kind == PM_RECIPE_BLOCKS);
}

bool pm_variant_by_blocks(const struct pm_variant_choice *choice)
{
    return is_by_blocks(choice->recipe) || is_by_blocks(choice->second);
}
