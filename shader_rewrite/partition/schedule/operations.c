#include "shader_rewrite/partition/schedule/operations.h"

#include <stdlib.h>
#include <string.h>

void pm_operations_finish(struct pm_operations *graph)
{
    free(graph->operations);
    free(graph->operands);
    free(graph->inputs);
    free(graph->input_kinds);
    free(graph->users);
    *graph = (struct pm_operations){0};
}

/* Room for `more` elements behind `count`. false: none, and the graph has failed. */
static bool grow(struct pm_operations *graph, void *array, uint32_t count, uint32_t *capacity,
                 uint32_t more, size_t size)
{
    if (graph->failed)
        return false;
    if (*capacity - count >= more)
        return true;
    uint64_t wanted = *capacity ? *capacity : 64;
    while (wanted < (uint64_t)count + more)
        wanted *= 2;
    void *moved = NULL;
    if (wanted <= UINT32_MAX / 2) {
        void *old;
        memcpy(&old, array, sizeof(old));
        moved = realloc(old, (size_t)wanted * size);
    }
    if (!moved) {
        graph->failed = true;
        return false;
    }
    memcpy(array, &moved, sizeof(moved));
    *capacity = (uint32_t)wanted;
    return true;
}

uint32_t pm_operations_add_input(struct pm_operations *graph, enum pm_input_kind kind)
{
    if (!grow(graph, &graph->input_kinds, graph->input_count, &graph->input_capacity, 1,
              sizeof(*graph->input_kinds)))
        return 0;
    graph->input_kinds[graph->input_count] = kind;
    return graph->input_count++;
}

/* Adds an operand of the last operation; one that is there already may only become a value. */
static void add_operand(struct pm_operations *graph, struct pm_operation *operation,
                        struct pm_operand operand)
{
    struct pm_operand *known = graph->operands + operation->first_operand;
    for (uint32_t i = 0; i < operation->operand_count; i++)
        if (known[i].operation == operand.operation) {
            known[i].value |= operand.value;
            return;
        }
    known[operation->operand_count++] = operand;
    graph->operand_count++;
}

uint32_t pm_operations_add(struct pm_operations *graph, const struct pm_operation *operation,
                           const struct pm_operand *operands, uint32_t operand_count,
                           const uint32_t *inputs, uint32_t input_count)
{
    if (!grow(graph, &graph->operations, graph->count, &graph->capacity, 1,
              sizeof(*graph->operations)) ||
        !grow(graph, &graph->operands, graph->operand_count, &graph->operand_capacity,
              operand_count, sizeof(*graph->operands)) ||
        !grow(graph, &graph->inputs, graph->read_count, &graph->read_capacity, input_count,
              sizeof(*graph->inputs)))
        return 0;
    struct pm_operation *added = &graph->operations[graph->count];
    *added = *operation;
    added->first_operand = graph->operand_count;
    added->operand_count = 0;
    for (uint32_t i = 0; i < operand_count; i++)
        add_operand(graph, added, operands[i]);
    added->first_input = graph->read_count;
    added->input_count = input_count;
    for (uint32_t i = 0; i < input_count; i++)
        graph->inputs[graph->read_count++] = inputs[i];
    return graph->count++;
}

bool pm_operations_link(struct pm_operations *graph)
{
    free(graph->users);
    graph->users = calloc(graph->operand_count + (size_t)1, sizeof(*graph->users));
    graph->failed |= !graph->users;
    if (graph->failed)
        return false;
    for (uint32_t i = 0; i < graph->count; i++)
        graph->operations[i].user_count = 0;
    for (uint32_t i = 0; i < graph->operand_count; i++)
        graph->operations[graph->operands[i].operation].user_count++;
    uint32_t next = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        graph->operations[i].first_user = next;
        next += graph->operations[i].user_count;
        graph->operations[i].user_count = 0;
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pm_operation *user = &graph->operations[i];
        for (uint32_t o = 0; o < user->operand_count; o++) {
            struct pm_operation *of =
                &graph->operations[graph->operands[user->first_operand + o].operation];
            graph->users[of->first_user + of->user_count++] = i;
        }
    }
    return true;
}

bool pm_operations_is_used(const struct pm_operations *graph, uint32_t operation)
{
    const struct pm_operation *of = &graph->operations[operation];
    if (!of->components)
        return false;
    for (uint32_t u = 0; u < of->user_count; u++) {
        const struct pm_operation *user = &graph->operations[graph->users[of->first_user + u]];
        for (uint32_t o = 0; o < user->operand_count; o++) {
            const struct pm_operand *operand = &graph->operands[user->first_operand + o];
            if (operand->operation == operation && operand->value)
                return true;
        }
    }
    return false;
}
