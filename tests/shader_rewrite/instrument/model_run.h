/* Shared by the files of the model. */
#pragma once

#include "tests/shader_rewrite/instrument/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

#define MODEL_VALUE_WORDS 65536
#define MODEL_OWN_WORDS 4096
#define MODEL_VARIABLES 128
#define MODEL_INSTANCES 65536
#define MODEL_LOOPS 16
/* The first word of pointers: 0 to the invocation's own memory, 1 + binding to a buffer, and this
 * to what has a device address. */
#define MODEL_ADDRESSED (MODEL_BUFFERS + 1)

struct model_type {
    uint32_t opcode;
    uint32_t words;   /* 32-bit words that a value takes */
    uint32_t element; /* of a vector, array or pointer */
    uint32_t storage; /* of a pointer */
    const uint32_t *members;
    bool is_signed, is_wide; /* 64 bits; also of vectors of such */
};

struct model_variable {
    uint32_t id, storage;
    uint32_t at, words; /* in the invocation's own memory */
    uint32_t initializer;
    uint32_t *content; /* of a uniform buffer; malloc'ed */
};

/* One entry of a block by lanes of the subgroup together; or one write of what is watched. */
struct model_instance {
    uint32_t label; /* MODEL_WATCHED or MODEL_TURNS + number: of what is watched */
    uint32_t lanes, zero_lanes;
    uint64_t key;
    uint64_t there, zero, counted; /* of quads that are watched: lanes, helpers too, of which some
                                      are zero, and some are no helpers */
};
#define MODEL_WATCHED 0x80000000u
#define MODEL_TURNS 0x40000000u

struct model_watch_state {
    struct model_watched watched;
    struct model_writes writes;
    uint32_t next; /* of the same last value, + 1 */
};

struct model {
    const uint32_t *words;
    size_t count;
    /* by id */
    struct model_type *types;
    uint32_t *type_of, *value_at, *bindings, *builtins /* + 1 */, *locations;
    uint32_t *spec_ids; /* + 1 */
    bool *undefined;
    size_t *block_at;
    struct model_counts *counts;

    uint32_t entry; /* label */
    bool in_function;
    const struct model_constant *specialized; /* while it is created */
    uint32_t specialized_count;
    uint32_t value_words, own_words;
    struct model_variable variables[MODEL_VARIABLES];
    uint32_t variable_count;
    uint32_t *buffers[MODEL_BUFFERS];
    size_t buffer_words[MODEL_BUFFERS];
    uint32_t push[32];
    uint64_t address; /* where a buffer's device address leads to */
    uint32_t *addressed;
    uint32_t *outputs;
    uint32_t outputs_each;
    bool stand_ins; /* model_use_stand_ins */
    size_t addressed_words;

    /* the running invocation */
    uint32_t *values; /* constants are in it, too */
    bool *tainted;    /* by id */
    uint32_t *own;
    bool *own_tainted;
    bool helper;
    uint32_t lane; /* where quads are watched */
    bool returned; /* else it was killed; of one that is over */
    struct {
        uint32_t header, merge;
        uint64_t iteration;
    } loops[MODEL_LOOPS];
    size_t loop_depth;

    /* the running subgroup */
    uint64_t subgroup;
    uint32_t subgroup_lanes;
    struct model_instance instances[MODEL_INSTANCES];
    size_t instance_count;
    uint32_t instance_at[2 * MODEL_INSTANCES]; /* hashed by label and key; + 1 */

    struct model_watch_state *watches;
    uint32_t *watch_of; /* by id of a last value: the first of its watches, + 1 */

    struct model_loop *turn_loops;
    uint32_t turn_loop_count, turns_each;
    struct model_counts *turn_counts; /* turns_each a loop */
    struct model_counts entry_counts;
    uint64_t killed, votes[2];
};

bool model_has_result(uint32_t opcode);
bool model_ends_block(uint32_t opcode);
void model_enter(struct model *model, uint32_t label);
/* A value was written. */
void model_written(struct model *model, uint32_t id);
void model_execute(struct model *model, const struct model_invocation *invocation);
/* Fails where what decides what runs, or what is counted, is tainted. */
void model_check_known(const struct model *model, uint32_t id);

/* ---- of the running invocation ---- */

/* Its inputs and variables. */
void model_start(struct model *model, const struct model_invocation *invocation);
/* All phis from *at on, which then is behind them. from: the block that it comes from. */
void model_phis(struct model *model, size_t *at, uint32_t from);
/* Runs one instruction. true: it ended the block, and *next is the label to go to; 0: it is over.
 */
bool model_step(struct model *model, size_t at, uint32_t *next);
/* It has returned, and was started as this one. */
void model_output(struct model *model, const struct model_invocation *invocation);
/* What is computed of operands alone. */
void model_compute(struct model *model, uint32_t opcode, const uint32_t *operands, uint32_t count);
/* Of a composite of the type, the word that a part begins at, by literals; *type is the part's. */
uint32_t model_part(const struct model *model, uint32_t *type, const uint32_t *path,
                    uint32_t length);
/* As the processor computes it. false: it is none of these. */
bool model_function(const struct model *model, uint32_t opcode, const uint32_t *operands,
                    uint32_t count, uint32_t *result);
/* Stands in for a value that is not known, or for an input. false: nothing may (the caller
 * taints). */
bool model_stand_in(struct model *model, uint32_t opcode, const uint32_t *operands, uint32_t count);
bool model_stand_in_input(struct model *model, const struct model_variable *variable,
                          const struct model_invocation *invocation);
