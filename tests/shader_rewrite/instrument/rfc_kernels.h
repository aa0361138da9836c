/*
 * The offload RFC's microbenchmarks (exact/rfc_branch.comp, rfc_sink.comp): a cold path that all
 * lanes take together, one that each takes by itself, and one that each takes often; and what their
 * blocks count by how they were made.
 */
#pragma once

#include "tests/shader_rewrite/instrument/exact.h"
#include "tests/shader_rewrite/instrument/model_dispatch.h"

enum {
    RFC_TURNS = 416,
    RFC_WORDS = 1024, /* of the input, and of the output */
    RFC_MOST_BLOCKS = 32,
    RFC_UNIFORM_BINDING = 9,
};

struct rfc_kernel {
    const char *name;
    uint32_t push[2]; /* period, divergent */
};
extern const struct rfc_kernel rfc_uniform, rfc_divergent, rfc_hot;

/* A kernel's file, to be finished with exact_finish. uniform: what it is pushed it reads from a
 * uniform buffer instead. */
void rfc_load(const char *name, bool uniform, struct exact_shader *shader);

void rfc_fill(uint32_t *input);

/* Of the two paths of rfc_branch.comp, in so many workgroups of so many lanes, in subgroups of a
 * size. */
struct rfc_made {
    struct model_counts cold, hot;
};
struct rfc_made rfc_make(const struct rfc_kernel *kernel, uint32_t groups, uint32_t lanes,
                         uint32_t subgroup);

/* The two paths as points: first the cold one. */
void rfc_find_paths(const struct exact_shader *shader, uint32_t paths[2]);

/* A dispatch of such. */
struct model_dispatch rfc_dispatch(uint32_t groups, uint32_t lanes, uint32_t subgroup);

/* Gives a model what the kernel reads and writes, and fills the input. Both have RFC_WORDS words.
 */
void rfc_set_buffers(struct model *model, const struct rfc_kernel *kernel, uint32_t *input,
                     uint32_t *output);

/* Whether lanes that enter a block do so with their subgroups, by the product's own rule: of what
 * an aggregator would make of the counts. */
bool rfc_is_uniform(const struct model_counts *counts);

void rfc_expect(const struct model_counts *found, const struct model_counts *expected);
