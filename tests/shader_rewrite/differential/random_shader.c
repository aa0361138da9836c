/* Control flow and the main function of random shaders. */
#include "tests/shader_rewrite/differential/random_shader_private.h"

#include <stdlib.h>

#include "tests/cmocka_includes.h"

#define TEXT_LIMIT ((size_t)1 << 22)

static const struct random_type uint_type = {RANDOM_UINT, 32, 1};
static const struct random_type bool_type = {RANDOM_BOOL, 1, 1};

/* ---- blocks ---- */

static void begin_block(struct random_generator *g, uint32_t label)
{
    pm_buffer_printf(&g->body, "%%v%u = OpLabel\n", label);
    g->block = label;
    g->ended = false;
}

static void branch(struct random_generator *g, uint32_t label)
{
    if (!g->ended)
        pm_buffer_printf(&g->body, "OpBranch %%v%u\n", label);
    g->ended = true;
}

static void statements(struct random_generator *g);

/* The statements of a block and what it branches into, inside which nothing else dominates. */
static void nested(struct random_generator *g, uint32_t label, uint32_t after, bool uniform)
{
    const struct random_place outer = g->place;
    begin_block(g, label);
    g->place.depth++;
    g->place.uniform = outer.uniform && uniform;
    statements(g);
    branch(g, after);
    g->place = outer;
}

/* ---- selections ---- */

static struct random_value condition(struct random_generator *g, bool *uniform)
{
    *uniform = random_once_in(g, 3);
    if (g->options.words && random_once_in(g, 2)) {
        *uniform = true;
        if (random_once_in(g, 2))
            return random_emit(g, bool_type, 0, "OpFOrdGreaterThan", "%%v%u %%f_half",
                               random_word(g, RANDOM_FLOAT).id);
        return random_emit(g, bool_type, 0, random_once_in(g, 2) ? "OpINotEqual" : "OpULessThan",
                           "%%v%u %%u_%u", random_word(g, RANDOM_UINT).id, random_below(g, 4));
    }
    return *uniform ? random_uniform_bool(g) : random_any(g, bool_type);
}

/* A value of either side meets in an OpPhi. */
static void meet(struct random_generator *g, const struct random_value *yes, uint32_t yes_block,
                 const struct random_value *no, uint32_t no_block)
{
    double bound = yes->bound > no->bound ? yes->bound : no->bound;
    random_emit(g, yes->type, bound, "OpPhi", "%%v%u %%v%u %%v%u %%v%u", yes->id, yes_block, no->id,
                no_block);
}

static void if_else(struct random_generator *g)
{
    bool uniform;
    struct random_value when = condition(g, &uniform);
    const struct random_type type = random_any_type(g);
    const uint32_t yes = g->next++, no = g->next++, merge = g->next++;
    const bool both = random_once_in(g, 2);
    struct random_value before = random_any(g, type), of_yes = {0}, of_no = {0};
    const uint32_t kept = g->value_count, head = g->block;
    pm_buffer_printf(&g->body, "OpSelectionMerge %%v%u %s\n", merge,
                     random_once_in(g, 6) ? "Flatten" : "None");
    pm_buffer_printf(&g->body, "OpBranchConditional %%v%u %%v%u %%v%u\n", when.id, yes,
                     both ? no : merge);
    const struct random_place outer = g->place;
    g->place.depth++;
    g->place.uniform = outer.uniform && uniform;
    begin_block(g, yes);
    statements(g);
    const bool yes_ends = g->ended;
    if (!yes_ends)
        of_yes = random_any(g, type);
    const uint32_t yes_block = g->block;
    branch(g, merge);
    g->value_count = kept;
    bool no_ends = false;
    uint32_t no_block = head;
    if (both) {
        begin_block(g, no);
        statements(g);
        no_ends = g->ended;
        if (!no_ends)
            of_no = random_any(g, type);
        no_block = g->block;
        branch(g, merge);
        g->value_count = kept;
    } else {
        of_no = before;
    }
    g->place = outer;
    begin_block(g, merge);
    if (yes_ends && no_ends) {
        pm_buffer_append_string(&g->body, "OpUnreachable\n");
        g->ended = true;
    } else if (!yes_ends && !no_ends) {
        meet(g, &of_yes, yes_block, &of_no, no_block);
    }
}

static void switch_case(struct random_generator *g)
{
    enum { CASES = 3 };
    struct random_value selector = random_any(g, uint_type);
    selector = random_emit(g, uint_type, 0, "OpBitwiseAnd", "%%v%u %%u_7", selector.id);
    const uint32_t merge = g->next++, kept = g->value_count;
    uint32_t labels[CASES + 1];
    for (int i = 0; i <= CASES; i++)
        labels[i] = g->next++;
    const bool has_default = random_once_in(g, 2);
    pm_buffer_printf(&g->body, "OpSelectionMerge %%v%u None\nOpSwitch %%v%u %%v%u", merge,
                     selector.id, has_default ? labels[CASES] : merge);
    pm_buffer_printf(&g->body, " 0 %%v%u 1 %%v%u 5 %%v%u 3 %%v%u\n", labels[0], labels[1],
                     labels[1], labels[2]);
    for (int i = 0; i < CASES + has_default; i++) {
        const bool falls = i + 1 < CASES && random_once_in(g, 4);
        nested(g, labels[i], falls ? labels[i + 1] : merge, false);
        g->value_count = kept;
    }
    begin_block(g, merge);
}

/* ---- loops ---- */

static struct random_value trip_count(struct random_generator *g, bool *uniform)
{
    static const uint32_t many[] = {4, 6, 8, 12};
    if (g->options.many_turns && !g->place.loops) {
        *uniform = true;
        return random_constant_int(g, uint_type, many[random_below(g, 4)]);
    }
    uint32_t most = g->place.loops ? 3 : random_once_in(g, 4) ? 7 : 3;
    struct random_value count = random_constant_int(g, uint_type, 1 + random_below(g, most));
    *uniform = true;
    if (random_once_in(g, 3))
        return count;
    *uniform = random_once_in(g, 2);
    count = *uniform ? random_uniform_uint(g) : random_any(g, uint_type);
    struct random_value mask = random_constant_int(g, uint_type, most);
    return random_emit(g, uint_type, 0, "OpBitwiseAnd", "%%v%u %%v%u", count.id, mask.id);
}

/* Where a loop is left when its counter is done. */
enum exit { EXIT_FIRST, EXIT_AT_END, EXIT_INSIDE };

static enum exit random_exit(struct random_generator *g)
{
    if (g->options.exits_inside && random_once_in(g, 4))
        return EXIT_INSIDE;
    return random_once_in(g, 3) ? EXIT_AT_END : EXIT_FIRST;
}

/* In a block that writes first what the loop made: the only one that leaves, if no other breaks. */
static void leave_inside(struct random_generator *g, uint32_t counter, struct random_value trips,
                         uint32_t merge)
{
    const uint32_t inside = g->next++, stays = g->next++;
    random_operation(g);
    struct random_value made =
        random_emit(g, uint_type, 0, "OpBitwiseAnd", "%%v%u %%u_31", counter);
    const uint32_t pointer = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%sb_u32_1 %%in_uints %%u_0 %%v%u\n", pointer,
                     made.id);
    made = random_emit(g, uint_type, 0, "OpLoad", "%%v%u", pointer);
    struct random_value more =
        random_emit(g, bool_type, 0, "OpULessThan", "%%v%u %%v%u", counter, trips.id);
    pm_buffer_printf(&g->body, "OpSelectionMerge %%v%u None\n", stays);
    pm_buffer_printf(&g->body, "OpBranchConditional %%v%u %%v%u %%v%u\n", more.id, stays, inside);
    const uint32_t kept = g->value_count;
    begin_block(g, inside);
    random_write_out(g, made);
    random_write_out(g, random_any(g, random_any_type(g)));
    branch(g, merge);
    g->value_count = kept;
    begin_block(g, stays);
}

/* A float that begins with a literal and goes on with what was read: a compiler may know what is
 * computed of it in the first turn. The last is there from the body on; 0: there is none. */
struct walk {
    uint32_t at, next, first, read;
};

static const struct random_type walk_type = {RANDOM_FLOAT, 32, 1};
static const double walk_least = 0.37;

static struct walk begin_walk(struct random_generator *g)
{
    struct walk walk = {0};
    if (!g->options.walks || !random_once_in(g, 3))
        return walk;
    walk.first = random_constant_float(g, walk_type, walk_least * (1 + random_below(g, 8))).id;
    walk.at = g->next++;
    walk.next = g->next++;
    return walk;
}

static void walk_on(struct random_generator *g, struct walk *walk)
{
    static const char *const functions[] = {"Sqrt", "InverseSqrt", "Log2", "Log"};
    if (!walk->at)
        return;
    random_write_out(
        g, random_emit_glsl(g, walk_type, 8, functions[random_below(g, 4)], "%%v%u", walk->at));
    walk->read = random_positive(g, walk_type).id;
}

static void loop(struct random_generator *g)
{
    bool uniform;
    const enum exit exit = random_exit(g);
    struct random_value trips = trip_count(g, &uniform);
    const struct random_type carried_type = random_int_type(g);
    struct random_value first = random_any(g, carried_type);
    struct walk walk = begin_walk(g);
    const uint32_t header = g->next++, test = g->next++, body = g->next++, next = g->next++,
                   merge = g->next++, counter = g->next++, counter_next = g->next++,
                   carried = g->next++, carried_next = g->next++, before = g->block;
    branch(g, header);
    begin_block(g, header);
    pm_buffer_printf(&g->body, "%%v%u = OpPhi %%u32_1 %%u_0 %%v%u %%v%u %%v%u\n", counter, before,
                     counter_next, next);
    if (walk.at)
        pm_buffer_printf(&g->body, "%%v%u = OpPhi %%f32_1 %%v%u %%v%u %%v%u %%v%u\n", walk.at,
                         walk.first, before, walk.next, next);
    pm_buffer_printf(&g->body,
                     "%%v%u = OpPhi " RANDOM_TYPE " %%v%u %%v%u %%v%u %%v%u\n"
                     "OpLoopMerge %%v%u %%v%u None\n",
                     carried, RANDOM_TYPE_ARGS(carried_type), first.id, before, carried_next, next,
                     merge, next);
    branch(g, exit == EXIT_FIRST ? test : body);
    const uint32_t kept = g->value_count;
    const struct random_place outer = g->place;
    /* An invocation may leave early, and then the others are alone. */
    const bool leaves = random_once_in(g, 2);
    g->place = (struct random_place){.depth = outer.depth + 1,
                                     .loops = outer.loops + 1,
                                     .break_label = leaves ? merge : 0,
                                     .continue_label = leaves ? next : 0,
                                     .uniform = outer.uniform && uniform && !leaves};
    if (exit == EXIT_FIRST) {
        begin_block(g, test);
        struct random_value more =
            random_emit(g, bool_type, 0, "OpULessThan", "%%v%u %%v%u", counter, trips.id);
        pm_buffer_printf(&g->body, "OpBranchConditional %%v%u %%v%u %%v%u\n", more.id, body, merge);
    }
    begin_block(g, body);
    if (g->value_count + 2 < RANDOM_VALUES) {
        g->values[g->value_count++] = (struct random_value){counter, uint_type, 0};
        g->values[g->value_count++] = (struct random_value){carried, carried_type, 0};
    }
    walk_on(g, &walk);
    if (exit == EXIT_INSIDE)
        leave_inside(g, counter, trips, merge);
    statements(g);
    branch(g, next);
    g->value_count = kept;
    begin_block(g, next);
    pm_buffer_printf(&g->body,
                     "%%v%u = OpIAdd %%u32_1 %%v%u %%u_1\n"
                     "%%v%u = OpIAdd " RANDOM_TYPE " %%v%u %%v%u\n",
                     counter_next, counter, carried_next, RANDOM_TYPE_ARGS(carried_type), carried,
                     first.id);
    if (walk.at)
        pm_buffer_printf(&g->body, "%%v%u = OpFAdd %%f32_1 %%v%u %%v%u\n", walk.next, walk.read,
                         walk.first);
    if (exit == EXIT_AT_END) {
        struct random_value more =
            random_emit(g, bool_type, 0, "OpULessThan", "%%v%u %%v%u", counter_next, trips.id);
        pm_buffer_printf(&g->body, "OpBranchConditional %%v%u %%v%u %%v%u\n", more.id, header,
                         merge);
    } else {
        pm_buffer_printf(&g->body, "OpBranch %%v%u\n", header);
    }
    g->value_count = kept;
    g->place = outer;
    g->meet_again = g->meet_again && outer.loops > 0;
    begin_block(g, merge);
}

/* ---- leaving ---- */

/* Under a condition: break, continue, return, or what ends fragments. */
static void leave(struct random_generator *g)
{
    struct random_value when = random_any(g, bool_type);
    const uint32_t inside = g->next++, merge = g->next++;
    pm_buffer_printf(&g->body, "OpSelectionMerge %%v%u None\n", merge);
    pm_buffer_printf(&g->body, "OpBranchConditional %%v%u %%v%u %%v%u\n", when.id, inside, merge);
    const uint32_t kept = g->value_count;
    begin_block(g, inside);
    if (random_once_in(g, 2))
        random_write_out(g, random_any(g, random_any_type(g)));
    if (g->place.break_label && !random_once_in(g, 4)) {
        branch(g, random_once_in(g, 2) ? g->place.break_label : g->place.continue_label);
    } else if (g->options.stage == PM_STAGE_FRAGMENT && random_once_in(g, 2)) {
        if (g->options.demote && random_once_in(g, 2)) {
            pm_buffer_append_string(&g->body, "OpDemoteToHelperInvocationEXT\n");
            branch(g, merge);
        } else {
            pm_buffer_append_string(&g->body, "OpKill\n");
            g->diverged = true;
        }
    } else {
        pm_buffer_append_string(&g->body, "OpReturn\n");
        g->diverged = true;
    }
    g->ended = true;
    g->value_count = kept;
    begin_block(g, merge);
}

/* ---- statements ---- */

static void statement(struct random_generator *g)
{
    if (g->options.raw_copies && random_once_in(g, 8)) {
        random_copy_raw(g);
        return;
    }
    if (g->straight) {
        random_once_in(g, 5) ? random_write_out(g, random_any(g, random_any_type(g)))
                             : random_operation(g);
        return;
    }
    const bool deep = g->place.depth >= 4;
    const bool together = g->options.stage == PM_STAGE_COMPUTE && g->place.uniform && !g->diverged;
    switch (random_below(g, 24)) {
    case 0:
    case 1:
    case 2:
        if (!deep) {
            if_else(g);
            break;
        }
        /* fall through */
    case 3:
        if (!deep && random_once_in(g, 2)) {
            switch_case(g);
            break;
        }
        /* fall through */
    case 4:
        if (!deep && g->place.loops < 2) {
            loop(g);
            break;
        }
        /* fall through */
    case 5:
        if (!g->meet_again && random_once_in(g, g->place.break_label ? 1 : 4)) {
            leave(g);
            break;
        }
        /* fall through */
    case 6:
        if (together) {
            g->meet_again = g->place.loops > 0;
            random_exchange(g);
            break;
        }
        /* fall through */
    case 7:
    case 8:
        random_write_out(g, random_any(g, random_any_type(g)));
        break;
    case 9:
    case 10:
    case 11:
        random_use_variable(g);
        break;
    default:
        random_operation(g);
    }
}

static void statements(struct random_generator *g)
{
    uint32_t count = 2 + random_below(g, 6);
    for (uint32_t i = 0; i < count && g->budget && !g->ended; i++) {
        g->budget--;
        statement(g);
    }
}

/* ---- main ---- */

static void declare_variables(struct random_generator *g)
{
    g->variable_count = 2 + random_below(g, RANDOM_VARIABLES - 2);
    for (uint32_t i = 0; i < g->variable_count; i++) {
        struct random_type type = random_any_type(g);
        while (type.kind == RANDOM_BOOL)
            type = random_any_type(g);
        uint32_t elements = random_once_in(g, 4) && type.width == 32 && type.n == 1 ? 4 : 0;
        if (type.kind == RANDOM_INT)
            elements = 0;
        g->variables[i] = (struct random_variable){g->next++, type, elements};
        pm_buffer_printf(&g->variables_text, "%%v%u = OpVariable %%%s_%c%u_%u Function\n",
                         g->variables[i].id, elements ? "fna" : "fn", RANDOM_TYPE_ARGS(type));
    }
}

static void first_values(struct random_generator *g)
{
    for (uint32_t i = 0; i < g->variable_count; i++) {
        const struct random_variable *v = &g->variables[i];
        for (uint32_t e = 0; e < (v->elements ? v->elements : 1); e++) {
            struct random_value value = random_input(g, v->type);
            uint32_t pointer = v->id;
            if (v->elements) {
                pointer = g->next++;
                pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%fn_%c%u_%u %%v%u %%u_%u\n",
                                 pointer, RANDOM_TYPE_ARGS(v->type), v->id, e);
            }
            pm_buffer_printf(&g->body, "OpStore %%v%u %%v%u\n", pointer, value.id);
        }
        g->stored_count = i + 1;
    }
}

/* The places where inputs are, from %lane and %region; then some inputs to begin with. */
static void indices(struct random_generator *g)
{
    for (uint32_t i = 0; i < RANDOM_INDICES; i++) {
        struct random_value shift =
            random_constant_int(g, uint_type, random_below(g, RANDOM_SHADER_REGION - 1));
        pm_buffer_printf(&g->body,
                         "%%shifted_%u = OpIAdd %%u32_1 %%lane %%v%u\n"
                         "%%inside_%u = OpBitwiseAnd %%u32_1 %%shifted_%u %%u_127\n"
                         "%%index_%u = OpIAdd %%u32_1 %%inside_%u %%region\n",
                         i, shift.id, i, i, i, i);
    }
    for (int i = 0; i < 6; i++)
        random_input(g, random_any_type(g));
}

/* %lane and %region; where outputs go, %place; and in compute shaders the index in the group,
 * %local. */
static void begin_main(struct random_generator *g)
{
    if (g->options.stage == PM_STAGE_COMPUTE) {
        pm_buffer_append_string(&g->body, "%group_id = OpLoad %u32_3 %in_group\n"
                                          "%group = OpCompositeExtract %u32_1 %group_id 0\n"
                                          "%local = OpLoad %u32_1 %in_local\n"
                                          "%lane = OpIAdd %u32_1 %local %u_0\n"
                                          "%region = OpIMul %u32_1 %group %u_128\n"
                                          "%start = OpIMul %u32_1 %group %u_64\n"
                                          "%item = OpIAdd %u32_1 %start %local\n"
                                          "%place = OpIMul %u32_1 %item %u_slots\n");
        return;
    }
    pm_buffer_append_string(&g->body, "%at = OpLoad %f32_4 %in_at\n"
                                      "%at_x = OpCompositeExtract %f32_1 %at 0\n"
                                      "%at_y = OpCompositeExtract %f32_1 %at 1\n"
                                      "%lane = OpConvertFToU %u32_1 %at_x\n"
                                      "%row = OpConvertFToU %u32_1 %at_y\n"
                                      "%band = OpShiftRightLogical %u32_1 %row %u_2\n"
                                      "%in_band = OpBitwiseAnd %u32_1 %band %u_7\n"
                                      "%region = OpIMul %u32_1 %in_band %u_128\n"
                                      "%above = OpIMul %u32_1 %row %u_width\n"
                                      "%item = OpIAdd %u32_1 %above %lane\n"
                                      "%place = OpIMul %u32_1 %item %u_slots\n"
                                      "OpStore %out_color %f4_zero\n");
}

/* All that is left to look at: the variables, and a color. */
static void end_main(struct random_generator *g)
{
    for (uint32_t i = 0; i < g->variable_count; i++) {
        uint32_t pointer = random_element_pointer(g, &g->variables[i]);
        random_write_out(g, random_emit(g, g->variables[i].type, RANDOM_VARIABLE_BOUND, "OpLoad",
                                        "%%v%u", pointer));
    }
    for (int i = 0; i < 4; i++)
        random_write_out(g, random_any(g, random_any_type(g)));
    if (g->options.stage == PM_STAGE_FRAGMENT) {
        struct random_value color = random_any(g, random_type(RANDOM_FLOAT, 32, 4));
        pm_buffer_printf(&g->body, "OpStore %%out_color %%v%u\n", color.id);
    }
    pm_buffer_append_string(&g->body, "OpReturn\nOpFunctionEnd\n");
}

char *random_shader_text(uint64_t seed, const struct random_shader_options *options)
{
    struct random_generator *g = calloc(1, sizeof(*g));
    assert_non_null(g);
    g->options = *options;
    g->place.uniform = true;
    g->budget = options->statements;
    g->next = 1;
    pm_random_init(&g->random, seed);
    struct pm_buffer text;
    pm_buffer_init(&g->globals, TEXT_LIMIT);
    pm_buffer_init(&g->variables_text, TEXT_LIMIT);
    pm_buffer_init(&g->body, TEXT_LIMIT);
    pm_buffer_init(&text, TEXT_LIMIT);
    declare_variables(g);
    begin_main(g);
    indices(g);
    first_values(g);
    g->block = g->next++;
    pm_buffer_printf(&g->body, "OpBranch %%v%u\n%%v%u = OpLabel\n", g->block, g->block);
    if (g->options.ends_first) {
        for (int i = 0; i < 4; i++)
            random_operation(g);
        leave(g);
        g->diverged = false;
        g->straight = true;
    }
    while (g->budget && !g->ended)
        statements(g);
    if (g->ended) {
        pm_buffer_append_string(&g->body, "OpFunctionEnd\n");
    } else {
        end_main(g);
    }
    random_frame(&text, g);
    pm_buffer_append(&text, g->globals.data, g->globals.size);
    pm_buffer_append_string(&text, "%main = OpFunction %void None %main_type\n%entry = OpLabel\n");
    pm_buffer_append(&text, g->variables_text.data, g->variables_text.size);
    assert_true(pm_buffer_append(&text, g->body.data, g->body.size));
    pm_buffer_finish(&g->globals);
    pm_buffer_finish(&g->variables_text);
    pm_buffer_finish(&g->body);
    free(g);
    return (char *)text.data;
}
