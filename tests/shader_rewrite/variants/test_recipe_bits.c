/* Each recipe makes something of one of the shaders of recipe_runs/ at least, as the layer makes it
 * for the driver that runs it, and what it makes writes the same bits as the original on that
 * driver: as it is, and with every float result NoContraction in both (HAZARDS 3).
 *
 * test_variant_bits.c does so with random shaders. These have what random ones lack: components of
 * vectors that are loaded by themselves, structures of which little is used, memory that is read
 * again behind a store. */
#include "shader_rewrite/ir/ir_builder.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/gpu_driver.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum {
    MOST_RECIPES = 64,
    PROFILES = 4, /* of blocks, for each shader */
    MOST_RUN = MOST_RECIPES + PROFILES * MOST_RECIPES,
};

static const struct pm_target target = {.vulkan_minor = 1};
static const char *const names[] = {"loads", "loops", "selections", "vectors"};
enum { SUBJECTS = sizeof names / sizeof *names };

static struct differential differential;
static struct subject {
    const char *name;
    struct pm_words original, canonical;
    struct differential_output free, precise; /* what the original writes */
    struct adversary_block_profile blocks[PROFILES];
    struct pm_words ran[MOST_RUN]; /* several recipes come to the same words */
    uint32_t ran_count;
} subjects[SUBJECTS];

static void run_precise(const struct pm_words *module, struct differential_output *output)
{
    struct pm_words precise = differential_precise(module);
    differential_run(&differential, &precise, PM_STAGE_COMPUTE, NULL, output);
    pm_words_finish(&precise);
}

static void fail_with(const struct subject *subject, const char *recipe,
                      const struct pm_words *variant, const char *what)
{
    char folder[64];
    temporary_make(folder, sizeof folder);
    differential_dump(folder, "original", &subject->original);
    differential_dump(folder, "canonical", &subject->canonical);
    differential_dump(folder, "variant", variant);
    fail_msg("%s of %s on %s: %s; see %s", recipe, subject->name, differential.gpu.name, what,
             folder);
}

static void compare(const struct subject *subject, const char *recipe,
                    const struct pm_words *variant, const char *how,
                    const struct differential_output *expected,
                    const struct differential_output *output)
{
    char text[128];
    size_t first;
    const size_t different = differential_compare(expected, output, &first);
    if (different == 0)
        return;
    snprintf(text, sizeof text, "%s %zu words differ, from word %zu on: 0x%08x, not 0x%08x", how,
             different, first, output->words[first], expected->words[first]);
    fail_with(subject, recipe, variant, text);
}

static bool was_run(const struct subject *subject, const struct pm_words *variant)
{
    for (uint32_t i = 0; i < subject->ran_count; i++)
        if (subject->ran[i].count == variant->count &&
            memcmp(subject->ran[i].data, variant->data, variant->count * sizeof(uint32_t)) == 0)
            return true;
    return false;
}

/* Whether the recipe makes something by the profile; NULL: by none. */
static bool check(struct subject *subject, const struct pm_recipe *recipe,
                  const struct adversary_block_profile *known)
{
    static struct differential_output output;
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    const struct pm_optimize_blocks_info blocks = {.profile = known ? &known->profile : NULL,
                                                   .points = known ? &known->points : NULL,
                                                   .turns = known ? &known->turns : NULL,
                                                   .passes = PM_BLOCK_ALL,
                                                   .uniform_share = 0.9};
    const struct pm_variant_info info = {.choice = {.recipe = recipe},
                                         .target = target,
                                         .driver = &driver,
                                         .blocks = known ? &blocks : NULL,
                                         .subgroup_vote = differential.gpu.quad};
    struct pm_words made;
    struct pm_error error;
    if (!pm_make_variant(subject->canonical.data, subject->canonical.count, &info, &made, &error))
        fail_msg("%s of %s: %s", recipe->name, subject->name, error.message);
    if (made.count == 0)
        return false;
    if (was_run(subject, &made)) {
        pm_words_finish(&made);
        return true;
    }
    differential_run(&differential, &made, PM_STAGE_COMPUTE, NULL, &output);
    compare(subject, recipe->name, &made, "as it is", &subject->free, &output);
    run_precise(&made, &output);
    compare(subject, recipe->name, &made, "with NoContraction", &subject->precise, &output);
    assert_true(subject->ran_count < MOST_RUN);
    subject->ran[subject->ran_count++] = made;
    return true;
}

static void test_each_recipe(void **state)
{
    (void)state;
    uint32_t variants = 0;
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const struct pm_recipe *recipe = pm_recipe_at(r);
        const uint32_t profiles = recipe->kind == PM_RECIPE_BLOCKS ? PROFILES : 1;
        bool made = false;
        printf("%-18s", recipe->name);
        for (uint32_t s = 0; s < SUBJECTS; s++) {
            bool makes = false;
            for (uint32_t p = 0; p < profiles; p++)
                makes |= check(&subjects[s], recipe, profiles > 1 ? &subjects[s].blocks[p] : NULL);
            printf(" %s", makes ? names[s] : "-");
            made |= makes;
        }
        printf("\n");
        if (!made)
            fail_msg("%s makes nothing of any", recipe->name);
    }
    for (uint32_t s = 0; s < SUBJECTS; s++)
        variants += subjects[s].ran_count;
    printf("%u recipes, %u variants run on %s\n", pm_recipe_count(), variants,
           differential.gpu.name);
}

/* ---- that they would notice ---- */

static bool is_constant(const struct pm_ir_instr *instr)
{
    return instr && instr->opcode == SpvOpConstant;
}

/* The type that the chain goes into with its last index; NULL: it is not into memory that stays
 * what it is, or not by constants. */
static const struct pm_ir_instr *type_of_place(const struct pm_ir_instr *chain)
{
    const struct pm_ir_instr *pointer = pm_ir_type_of(pm_ir_operand_instr(chain, 0));
    const uint32_t storage = pm_ir_operand_word(&pointer->operands[0]);
    const struct pm_ir_instr *type = pm_ir_operand_instr(pointer, 1);
    if (storage != SpvStorageClassPushConstant && storage != SpvStorageClassUniform &&
        storage != SpvStorageClassInput)
        return NULL;
    for (uint32_t o = 1; o + 1 < chain->operand_count; o++) {
        const struct pm_ir_instr *index = pm_ir_operand_instr(chain, o);
        if (type->opcode == SpvOpTypeStruct && !is_constant(index))
            return NULL;
        type = pm_ir_operand_instr(
            type, type->opcode == SpvOpTypeStruct ? pm_ir_operand_word(&index->operands[0]) : 0);
    }
    return is_constant(pm_ir_operand_instr(chain, chain->operand_count - 1)) ? type : NULL;
}

/* The next place of the same type; `place` itself where there is none. */
static uint32_t next_place(const struct pm_ir_instr *type, uint32_t place)
{
    if (type->opcode == SpvOpTypeVector)
        return (place + 1) % pm_ir_operand_word(&type->operands[1]);
    if (type->opcode != SpvOpTypeStruct)
        return place;
    const uint32_t next = (place + 1) % type->operand_count;
    return type->operands[next].def == type->operands[place].def ? next : place;
}

static bool is_chain(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpAccessChain || instr->opcode == SpvOpInBoundsAccessChain;
}

/* Whether the instruction names a place that has such a next one. */
static bool has_next(const struct pm_ir_instr *instr, uint32_t *next)
{
    const bool extracts = instr->opcode == SpvOpCompositeExtract && instr->operand_count == 2 &&
                          pm_ir_operand_instr(instr, 0)->opcode == SpvOpLoad;
    if (!extracts && !is_chain(instr))
        return false;
    const struct pm_ir_instr *type =
        extracts ? pm_ir_type_of(pm_ir_operand_instr(instr, 0)) : type_of_place(instr);
    const struct pm_ir_operand *last = &instr->operands[instr->operand_count - 1];
    if (!type)
        return false;
    const uint32_t place = pm_ir_operand_word(extracts ? last : &last->def->instr->operands[0]);
    *next = next_place(type, place);
    return *next != place;
}

/* The canonical module with the place of this number exchanged for the next one; no words: it has
 * no more. */
static struct pm_words with_other_place(const struct subject *subject, uint32_t number)
{
    struct pm_error error;
    struct pm_words out = {0};
    uint32_t next;
    struct pm_ir_module *module =
        pm_ir_parse(subject->canonical.data, subject->canonical.count, &error);
    assert_non_null(module);
    for (struct pm_ir_block *b = module->last_function->first_block; b && !out.count; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i && !out.count; i = i->next) {
            if (!has_next(i, &next) || number-- > 0)
                continue;
            struct pm_ir_operand *last = &i->operands[i->operand_count - 1];
            if (is_chain(i))
                pm_ir_operand_set(last,
                                  pm_ir_global(module, SpvOpConstant, last->def->instr->type.def,
                                               PM_IR_ARGS(pm_ir_word(next))));
            else
                pm_ir_operand_set_word(last, next);
            if (!pm_ir_emit(module, &out, &error))
                fail_msg("%s", error.message);
        }
    pm_ir_module_destroy(module);
    return out;
}

/* What they write tells each component, and each member of a structure, that they load from its
 * neighbour: so a recipe that loads another one is found. */
static void test_each_place_tells(void **state)
{
    (void)state;
    static struct differential_output output;
    uint32_t places = 0;
    for (uint32_t s = 0; s < SUBJECTS; s++)
        for (uint32_t n = 0;; n++, places++) {
            size_t first;
            struct pm_words other = with_other_place(&subjects[s], n);
            if (other.count == 0)
                break;
            run_precise(&other, &output);
            if (differential_compare(&subjects[s].precise, &output, &first) == 0)
                fail_with(&subjects[s], "another place", &other, "writes the same");
            pm_words_finish(&other);
        }
    printf("%u places\n", places);
    assert_true(places >= 16);
}

/* ---- the shaders ---- */

/* All words that constant memory has differ, and none is zero. */
static void set_inputs(void)
{
    differential_inputs(&differential, 1, false);
    differential.specials = true; /* zeroes keep their sign */
    for (uint32_t w = 0; w < RANDOM_SHADER_PUSH; w++) {
        const float number = 0.3125f + 0.4375f * (float)w;
        const uint32_t integer = 3 + w;
        memcpy(&differential.inputs.push[w],
               w < RANDOM_SHADER_PUSH / 2 ? (const void *)&number : &integer, sizeof(uint32_t));
    }
    memcpy(differential.uniform.data, differential.inputs.push, sizeof differential.inputs.push);
}

static void load(struct subject *subject, const char *name)
{
    char file[64];
    struct pm_error error;
    snprintf(file, sizeof file, "%s.comp", name);
    subject->name = name;
    pm_gpu_load(PM_TEST_RECIPE_RUNS, file, &subject->original.data, &subject->original.count);
    const struct pm_canonicalize_info info = {.words = subject->original.data,
                                              .word_count = subject->original.count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &subject->canonical, &error))
        fail_msg("%s: %s", name, error.message);
    for (uint32_t p = 0; p < PROFILES; p++)
        if (!adversary_block_profile(0, p, &subject->canonical, &subject->blocks[p], &error))
            fail_msg("%s: %s", name, error.message);
    differential_run(&differential, &subject->original, PM_STAGE_COMPUTE, NULL, &subject->free);
    run_precise(&subject->original, &subject->precise);
}

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    set_inputs();
    for (uint32_t s = 0; s < SUBJECTS; s++)
        load(&subjects[s], names[s]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SUBJECTS; s++) {
        while (subjects[s].ran_count > 0)
            pm_words_finish(&subjects[s].ran[--subjects[s].ran_count]);
        for (uint32_t p = 0; p < PROFILES; p++)
            adversary_block_profile_finish(&subjects[s].blocks[p]);
        pm_words_finish(&subjects[s].original);
        pm_words_finish(&subjects[s].canonical);
    }
    differential_destroy(&differential);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_recipe),
        cmocka_unit_test(test_each_place_tells),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
