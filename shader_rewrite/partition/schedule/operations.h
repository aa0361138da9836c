/*
 * What a shader is to whoever cuts it into passes: operations, what each takes of a pass's
 * resources, and which values each uses (the directed acyclic graph of Riffel et al., "Mio: Fast
 * Multipass Partitioning via Priority-Based Instruction Scheduling", 2004, section 3.1). Nothing
 * here knows SPIR-V.
 *
 * Units: components are 32 bits. Operations are numbered from 0 in an order in which each stands
 * behind those that it needs.
 * Ownership: a graph owns its arrays; pm_operations_finish frees them.
 * Thread safety: none of its own; who only reads may share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an operation reads that no operation computes. Each different one takes a place of its pass.
 */
enum pm_input_kind {
    PM_INPUT_VARYING,
    PM_INPUT_CONSTANT, /* a uniform */
    PM_INPUT_TEXTURE,
    PM_INPUT_KINDS,
};

struct pm_operation {
    uint32_t alu, texture; /* how many operations it counts as, of each kind */
    uint32_t components;   /* of its value; 0: none */
    uint32_t held;         /* components that live only while it runs: those inside a construct */
    bool result;           /* its value is what the shader gives: an output of its pass */
    bool once;             /* may not run again, as what writes memory */

    /* filled by pm_operations_add, places in the graph's arrays */
    uint32_t first_operand, operand_count;
    uint32_t first_input, input_count;
    uint32_t first_user, user_count; /* pm_operations_link */
};

/* One thing that an operation needs. */
struct pm_operand {
    uint32_t operation;
    bool value; /* its value; false: only that it has run before, as for memory */
};

struct pm_operations {
    struct pm_operation *operations;
    uint32_t count, capacity;
    struct pm_operand *operands;
    uint32_t operand_count, operand_capacity;
    uint32_t *inputs; /* numbers below input_count of input_kinds */
    uint32_t read_count, read_capacity;
    enum pm_input_kind *input_kinds;
    uint32_t input_count, input_capacity;
    uint32_t *users; /* operations that need it, each once; pm_operations_link */
    bool failed;     /* out of memory: what is missing is not in it */
};

/* A graph that is all zero is empty. */
void pm_operations_finish(struct pm_operations *graph);

/* The number of a new input. */
uint32_t pm_operations_add_input(struct pm_operations *graph, enum pm_input_kind kind);

/* The number of a new operation. operands: of lower numbers; one that is there twice counts once.
 * inputs: numbers of inputs, each once. */
uint32_t pm_operations_add(struct pm_operations *graph, const struct pm_operation *operation,
                           const struct pm_operand *operands, uint32_t operand_count,
                           const uint32_t *inputs, uint32_t input_count);

/* Finds each operation's users; when all are added. false: memory ran out, now or before. */
bool pm_operations_link(struct pm_operations *graph);

/* Whether an operation's value is used by another one. */
bool pm_operations_is_used(const struct pm_operations *graph, uint32_t operation);
