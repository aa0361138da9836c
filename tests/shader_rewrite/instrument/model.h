/*
 * A CPU model of shaders: runs a canonical module (one function; 32-bit numbers, and 64-bit
 * counters) one invocation after the other and counts how its blocks are entered and what its
 * values are, with nothing of shader_rewrite/ in it. What it cannot know (textures, derivatives,
 * transcendental functions, the values of other invocations) is tainted, and the test fails where
 * that decides a branch. Instrumented modules it runs by subgroups (lockstep.h), and they count.
 *
 * Lanes are exact by construction. Entries of subgroups suppose that lanes reconverge where
 * SPIR-V's structure says: all lanes of a subgroup that enter a block in the same iterations of its
 * loops enter it together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_BUFFERS 4

struct model_counts {
    uint64_t lanes, uniform_lanes, subgroups;
};

struct model;

/* words stay the caller's, and must outlive the model. */
struct model *model_create(const uint32_t *words, size_t count);
/* The same with values of specialization constants; others have their defaults. */
struct model_constant {
    uint32_t spec_id, value;
};
struct model *model_create_specialized(const uint32_t *words, size_t count,
                                       const struct model_constant *constants,
                                       uint32_t constant_count);
void model_destroy(struct model *model);

/* Storage buffers of set 0, by binding; the model reads and writes data. Arrays of 32-bit words. */
void model_set_buffer(struct model *model, uint32_t binding, uint32_t *data, size_t words);
/* The one memory that has a device address: there are counters, so what atomics find there is not
 * tainted. */
void model_set_addressed(struct model *model, uint64_t address, uint32_t *data, size_t words);
/* Push constants, 32-bit words. */
void model_set_push(struct model *model, const uint32_t *data, size_t words);
/* The uniform buffer of set 0 with this binding, as its decorations lay it out; copied. There must
 * be one where a shader has it. */
void model_set_uniform(struct model *model, uint32_t binding, const uint32_t *data, size_t words);
/* Where output variables go: of each pixel so many words, by its number (model_dispatch.h), in the
 * order of the variables. Of helpers and who is killed nothing. */
void model_set_outputs(struct model *model, uint32_t *data, uint32_t words_of_pixel);

/* What it cannot know is a number that follows from the operands, instead of tainted: functions are
 * computed as the processor does, what is read from textures is made up, and both are the same
 * whenever the invocation runs. For tests that compare what the model finds of two modules that
 * compute the same. Each invocation has workgroup memory of its own. What it still does not know
 * fails the test. */
void model_use_stand_ins(struct model *model);

/* What an invocation's inputs are. */
struct model_invocation {
    uint32_t global_id[3], local_id[3], group_id[3], group_count[3], local_index;
    float frag_coord[4];
    uint32_t location1; /* the harness's flat input */
    uint32_t lane;      /* of its subgroup; read where quads are watched */
    uint32_t pixel;     /* its number; read where there are outputs */
    bool helper;
};

/* Runs one invocation. subgroup: invocations of one subgroup are run one right after the other and
 * share the number. */
void model_run(struct model *model, const struct model_invocation *invocation, uint64_t subgroup);

/* A value, the leading components of one, or several values, of which the last is written last
 * (zero.h). */
struct model_watched {
    uint32_t values[4]; /* ids */
    uint32_t count, components;
    bool as_float; /* an integer's bits are a float's: -0 is zero, too */
    bool plus;     /* -0 is no zero */
    bool quad;     /* zero is it where it is zero in all lanes of the quad, helpers too */
};
/* Counts how often these are written, and are zero in all lanes; before the first invocation. */
void model_watch(struct model *model, const struct model_watched *watched, uint32_t count);
struct model_writes {
    uint64_t writes, zero_writes; /* subgroups */
    uint64_t undecided; /* of the writes, those of quads that are not whole and zero as far as they
                           are there: they may be zero writes or not */
    uint64_t lanes;     /* that wrote it, without helpers */
    bool unknown;       /* zero_writes is: a value was tainted */
};
struct model_writes model_writes(struct model *model, uint32_t watched);

/* Whether each invocation that ends computes a value exactly once, whatever path it takes. */
bool model_is_computed_once(const struct model *model, uint32_t value);
/* Whether invocations may be demoted. */
bool model_may_demote(const struct model *model);

/* Counts the turns of loops, of each `each` numbers: that it is come to, that a first, a second, …
 * turn of it is made. Before the first invocation. */
struct model_loop {
    uint32_t header, latch; /* ids of labels */
};
void model_watch_turns(struct model *model, const struct model_loop *loops, uint32_t count,
                       uint32_t each);
struct model_counts model_turn(struct model *model, uint32_t loop, uint32_t number);

/* Counts of all invocations so far, by the id of the block's label. entry: of the whole shader. */
struct model_counts model_block(struct model *model, uint32_t label);
struct model_counts model_entry(struct model *model);
/* How often subgroups whose lanes run together (lockstep.h) voted: what OpGroupNonUniformAll and
 * OpGroupNonUniformAny gave. */
uint64_t model_votes(const struct model *model, bool outcome);
/* Invocations that ended in OpKill or were demoted. */
uint64_t model_killed(const struct model *model);
