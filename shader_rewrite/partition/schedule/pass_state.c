#include "shader_rewrite/partition/schedule/pass_state.h"

#include <stdlib.h>

/* Room for an array, filled with this. */
static uint32_t *array(uint32_t count, uint32_t value)
{
    uint32_t *made = malloc((count + (size_t)1) * sizeof(*made));
    for (uint32_t i = 0; i < count && made; i++)
        made[i] = value;
    return made;
}

bool pm_pass_state_init(struct pm_pass_state *state, const struct pm_operations *graph,
                        const struct pm_pass_limits *limits)
{
    *state = (struct pm_pass_state){
        .graph = graph,
        .limits = limits,
        .pass_of = array(graph->count, PM_NO_PASS),
        .missing = array(graph->count, 0),
        .waiting = array(graph->count, 0),
        .output_of = array(graph->count, 0),
        .read_in = array(graph->count, PM_NO_PASS),
        .output_in = array(graph->count, PM_NO_PASS),
        .input_in = array(graph->input_count, PM_NO_PASS),
    };
    if (!state->pass_of || !state->missing || !state->waiting || !state->output_of ||
        !state->read_in || !state->output_in || !state->input_in)
        return false;
    for (uint32_t i = 0; i < graph->count; i++)
        state->missing[i] = graph->operations[i].operand_count;
    for (uint32_t i = 0; i < graph->operand_count; i++)
        if (graph->operands[i].value)
            state->waiting[graph->operands[i].operation]++;
    return true;
}

void pm_pass_state_finish(struct pm_pass_state *state)
{
    free(state->pass_of);
    free(state->missing);
    free(state->waiting);
    free(state->output_of);
    free(state->read_in);
    free(state->output_in);
    free(state->input_in);
    *state = (struct pm_pass_state){0};
}

/* What an operation would take. */
struct need {
    uint64_t texture, live, ends; /* ends: components whose last user it is */
    uint32_t inputs[PM_INPUT_KINDS];
};

/* What reading a value of an earlier pass takes, as far as it was not read in this one. */
static void need_value(struct pm_pass_state *state, uint32_t operation, struct need *need)
{
    const struct pm_operation *of = &state->graph->operations[operation];
    if (state->read_in[operation] == state->pass)
        return;
    need->live += of->components;
    if (!state->limits->textures_hold_outputs)
        return;
    uint32_t whole = of->components % 4 ? of->components / 4 : of->components / 4 - 1;
    bool known = state->output_in[state->output_of[operation]] == state->pass;
    need->texture += whole + !known;
    need->inputs[PM_INPUT_TEXTURE] += whole + !known;
}

static struct need find_need(struct pm_pass_state *state, const struct pm_operation *operation)
{
    const struct pm_operations *graph = state->graph;
    struct need need = {.texture = operation->texture};
    for (uint32_t i = 0; i < operation->input_count; i++) {
        uint32_t input = graph->inputs[operation->first_input + i];
        need.inputs[graph->input_kinds[input]] += state->input_in[input] != state->pass;
    }
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
        if (!operand->value)
            continue;
        if (state->pass_of[operand->operation] != state->pass)
            need_value(state, operand->operation, &need);
        const struct pm_operation *of = &graph->operations[operand->operation];
        bool kept = of->result && state->pass_of[operand->operation] == state->pass;
        if (state->waiting[operand->operation] == 1 && !kept)
            need.ends += of->components;
    }
    return need;
}

static enum pm_fit fits(const struct pm_pass_state *state, const struct pm_operation *operation,
                        const struct need *need, uint32_t own, const char **why)
{
    const struct pm_pass_limits *limits = state->limits;
    uint64_t while_it_runs = state->live + need->live + operation->held;
    uint64_t behind = state->live + need->live - need->ends + own;
    enum pm_fit fit = PM_FIT_FULL;
    if (state->alu + operation->alu > limits->alu)
        *why = "ALU operations";
    else if (state->texture + need->texture > limits->texture)
        *why = "texture operations";
    else if (while_it_runs > limits->temporaries || behind > limits->temporaries)
        *why = "temporaries";
    else
        fit = PM_FIT_NOT_HERE;
    if (fit == PM_FIT_FULL)
        return fit;
    if (state->inputs[PM_INPUT_VARYING] + need->inputs[PM_INPUT_VARYING] > limits->varyings)
        *why = "varyings";
    else if (state->inputs[PM_INPUT_CONSTANT] + need->inputs[PM_INPUT_CONSTANT] > limits->constants)
        *why = "constants";
    else if (state->inputs[PM_INPUT_TEXTURE] + need->inputs[PM_INPUT_TEXTURE] > limits->textures)
        *why = "textures";
    else
        fit = PM_FITS;
    return fit;
}

enum pm_fit pm_pass_state_add(struct pm_pass_state *state, uint32_t at, const char **why)
{
    const struct pm_operations *graph = state->graph;
    const struct pm_operation *operation = &graph->operations[at];
    uint32_t own = state->waiting[at] || operation->result ? operation->components : 0;
    struct need need = find_need(state, operation);
    enum pm_fit fit = fits(state, operation, &need, own, why);
    if (fit != PM_FITS)
        return fit;
    state->alu += operation->alu;
    state->texture += need.texture;
    state->live = state->live + need.live - need.ends + own;
    for (int kind = 0; kind < PM_INPUT_KINDS; kind++)
        state->inputs[kind] += need.inputs[kind];
    for (uint32_t i = 0; i < operation->input_count; i++)
        state->input_in[graph->inputs[operation->first_input + i]] = state->pass;
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
        uint32_t of = operand->operation;
        if (!operand->value)
            continue;
        bool here = state->pass_of[of] == state->pass;
        if (!here) {
            state->read_in[of] = state->pass;
            state->output_in[state->output_of[of]] = state->pass;
        }
        if (--state->waiting[of] == 0 && here && !graph->operations[of].result)
            pm_outputs_remove(&state->outputs, graph->operations[of].components);
    }
    if (own)
        pm_outputs_add(&state->outputs, own);
    state->pass_of[at] = state->pass;
    for (uint32_t u = 0; u < operation->user_count; u++)
        state->missing[graph->users[operation->first_user + u]]--;
    return PM_FITS;
}

void pm_pass_state_remove(struct pm_pass_state *state, uint32_t at)
{
    const struct pm_operations *graph = state->graph;
    const struct pm_operation *operation = &graph->operations[at];
    for (uint32_t u = 0; u < operation->user_count; u++)
        state->missing[graph->users[operation->first_user + u]]++;
    state->pass_of[at] = PM_NO_PASS;
    if (operation->components && (state->waiting[at] || operation->result))
        pm_outputs_remove(&state->outputs, operation->components);
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
        uint32_t of = operand->operation;
        if (operand->value && state->waiting[of]++ == 0 && state->pass_of[of] == state->pass &&
            !graph->operations[of].result)
            pm_outputs_add(&state->outputs, graph->operations[of].components);
    }
}

static bool is_placed(const struct pm_pass_state *state, uint32_t at)
{
    const struct pm_operation *operation = &state->graph->operations[at];
    return operation->components && (state->waiting[at] || operation->result);
}

/* Numbers the outputs that values end in, as pm_plan_check does: whole ones, rests of three with a
 * single, pairs, and the singles that are left. */
static void place_outputs(struct pm_pass_state *state, const uint32_t *operations, uint32_t count)
{
    uint32_t whole = 0, threes = state->outputs.threes;
    for (uint32_t i = 0; i < count; i++)
        whole += is_placed(state, operations[i]) &&
                 state->graph->operations[operations[i]].components % 4 == 0;
    uint32_t next_whole = state->output_count, next_three = next_whole + whole;
    uint32_t next_single = next_three, filled_from = next_three + threes, filled = 0;
    for (int pairs = 1; pairs >= 0; pairs--) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = operations[i];
            if (!is_placed(state, at))
                continue;
            uint32_t rest = state->graph->operations[at].components % 4;
            uint32_t *output = &state->output_of[at];
            if (pairs && rest == 0)
                *output = next_whole++;
            else if (pairs && rest == 3)
                *output = next_three++;
            else if (pairs && rest == 2) {
                *output = filled_from + filled / 4;
                filled += 2;
            } else if (!pairs && rest == 1)
                *output = next_single < filled_from ? next_single++ : filled_from + filled++ / 4;
        }
    }
    state->output_count = filled_from + (filled + 3) / 4;
}

void pm_pass_state_end(struct pm_pass_state *state, const uint32_t *operations, uint32_t count)
{
    place_outputs(state, operations, count);
    state->pass++;
    state->alu = state->texture = state->live = 0;
    state->outputs = (struct pm_outputs){0};
    for (int kind = 0; kind < PM_INPUT_KINDS; kind++)
        state->inputs[kind] = 0;
}
