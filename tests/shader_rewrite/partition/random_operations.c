#include "random_operations.h"

/* An operation before `count`, most often one of the last. */
static uint32_t earlier(struct pm_random *random, uint32_t count)
{
    uint32_t reach = pm_random_below(random, 4) ? 8 : count;
    return count - 1 - pm_random_below(random, reach < count ? reach : count);
}

static uint32_t add(struct pm_random *random, const struct pm_random_operations *options,
                    struct pm_operations *graph, bool result)
{
    struct pm_operation operation = {
        .components = options->components ? options->components : 1 + pm_random_below(random, 4),
        .result = result,
    };
    struct pm_operand operands[3];
    uint32_t operand_count = 0, inputs[2], input_count = 0;
    uint32_t wanted = graph->count < 2 ? 0 : pm_random_below(random, 8) ? 2 : result;
    bool texture = options->textures && pm_random_below(random, 8) == 0;
    operation.alu = !texture;
    operation.texture = texture;
    for (uint32_t i = 0; i < wanted; i++)
        operands[operand_count++] =
            (struct pm_operand){.operation = earlier(random, graph->count), .value = true};
    if (options->ordered && graph->count && pm_random_below(random, 16) == 0) {
        operands[operand_count++] = (struct pm_operand){.operation = earlier(random, graph->count)};
        operation.once = true;
    }
    if (options->inputs && wanted < 2)
        inputs[input_count++] = pm_random_below(random, graph->input_count);
    return pm_operations_add(graph, &operation, operands, operand_count, inputs, input_count);
}

void pm_random_operations(struct pm_random *random, const struct pm_random_operations *options,
                          struct pm_operations *graph)
{
    *graph = (struct pm_operations){0};
    for (uint32_t i = 0; i < options->inputs * PM_INPUT_KINDS; i++)
        pm_operations_add_input(graph, (enum pm_input_kind)(i % PM_INPUT_KINDS));
    for (uint32_t i = 0; i < options->count; i++)
        add(random, options, graph, i + 1 == options->count);
    pm_operations_link(graph);
    for (uint32_t i = 0; i < graph->count; i++)
        if (!pm_operations_is_used(graph, i)) /* what nobody needs is what the shader gives */
            graph->operations[i].result = true;
}
