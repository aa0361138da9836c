/* What the files of the random shaders share: the text being made and the values in it. */
#pragma once

#include "base/buffer.h"
#include "base/random.h"
#include "tests/shader_rewrite/differential/random_shader.h"

enum random_kind { RANDOM_FLOAT, RANDOM_INT, RANDOM_UINT, RANDOM_BOOL };

/* Named %f32_3, %i32_1, %u64_1, %b1_2 in the text. */
struct random_type {
    uint8_t kind;  /* enum random_kind */
    uint8_t width; /* bits; of a boolean 1 */
    uint8_t n;     /* components */
};

/* Named %v and its number. bound: no float component is larger in magnitude; no meaning where
 * specials are let through, nor for other kinds. */
struct random_value {
    uint32_t id;
    struct random_type type;
    double bound;
};

struct random_variable {
    uint32_t id;
    struct random_type type;
    uint32_t elements; /* of an array; 0: none */
};

enum {
    RANDOM_VALUES = 1024,
    RANDOM_VARIABLES = 6,
    RANDOM_INDICES = 5,        /* places in the input buffers that an invocation reads */
    RANDOM_VARIABLE_BOUND = 8, /* of the floats in variables, inputs and what is tamed */
};

/* Control flow around the place being written. */
struct random_place {
    uint32_t depth, loops;
    uint32_t break_label, continue_label; /* of the innermost loop; 0: none */
    bool uniform; /* all invocations of a group, or of a quad, are here together */
};

struct random_generator {
    struct random_shader_options options;
    struct pm_random random;
    struct pm_buffer globals, variables_text, body;
    uint32_t next;                             /* number of the next value, label or variable */
    struct random_value values[RANDOM_VALUES]; /* that dominate the place being written */
    uint32_t value_count;
    struct random_variable variables[RANDOM_VARIABLES];
    uint32_t variable_count;
    uint32_t stored_count; /* of them: that have a value by now, the first ones */
    uint32_t block;        /* label of the block being written */
    bool ended;            /* it has its terminator */
    bool diverged;         /* an invocation may have ended: from here on nothing is uniform */
    bool meet_again;       /* at a barrier in a loop that goes on: none may end before */
    bool straight;         /* no more branches */
    struct random_place place;
    uint32_t budget; /* statements left */
};

#define RANDOM_TYPE "%%%c%u_%u"
#define RANDOM_TYPE_ARGS(t) "fiub"[(t).kind], (t).width, (t).n

uint32_t random_below(struct random_generator *g, uint32_t bound);
/* true once in so many. */
bool random_once_in(struct random_generator *g, uint32_t many);

struct random_type random_type(enum random_kind kind, uint8_t width, uint8_t n);

/* ---- random_shader_values.c ---- */

/* A word of the push constants. */
struct random_value random_word(struct random_generator *g, enum random_kind kind);

/* A line of the body: "%vN = OP TYPE arguments", put among the values. */
struct random_value random_emit(struct random_generator *g, struct random_type type, double bound,
                                const char *op, const char *arguments, ...)
    __attribute__((format(printf, 5, 6)));
/* As above for an instruction of GLSL.std.450. */
struct random_value random_emit_glsl(struct random_generator *g, struct random_type type,
                                     double bound, const char *op, const char *arguments, ...)
    __attribute__((format(printf, 5, 6)));

struct random_value random_constant_float(struct random_generator *g, struct random_type type,
                                          double x);
struct random_value random_constant_int(struct random_generator *g, struct random_type type,
                                        uint32_t x);

/* A value of the type from somewhere: one there is, an input, a constant, a variable. */
struct random_value random_any(struct random_generator *g, struct random_type type);
/* Always loaded anew. */
struct random_value random_input(struct random_generator *g, struct random_type type);
/* The same in all invocations. */
struct random_value random_uniform_uint(struct random_generator *g);
struct random_value random_uniform_bool(struct random_generator *g);

/* The float, or another one, such that its magnitude is at most the limit and it is no NaN. */
struct random_value random_tame(struct random_generator *g, struct random_value value,
                                double limit);
/* As above where only magnitudes that come from growing are meant: specials are let through. */
struct random_value random_bounded(struct random_generator *g, struct random_value value,
                                   double limit);
/* The float, of 32 bits, as something that looks at its bits may have it: with its sign away, or
 * where specials are let through, all NaN made one. */
struct random_value random_washed(struct random_generator *g, struct random_value value);
/* Between the two, both above 0, and not a NaN. */
struct random_value random_positive(struct random_generator *g, struct random_type type);

/* A component of an integer or boolean, as 32 bits; of a float, as a float of 32 bits. */
struct random_value random_bits(struct random_generator *g, struct random_value value);
struct random_value random_single(struct random_generator *g, struct random_value value);

struct random_type random_any_type(struct random_generator *g);
struct random_type random_int_type(struct random_generator *g);

/* ---- random_shader_memory.c ---- */

/* Writes a value, or mixes it in, in a way that depends on the order. */
void random_write_out(struct random_generator *g, struct random_value value);
/* Stores to a variable, and loads again of an array. */
void random_use_variable(struct random_generator *g);
/* What an array's element, or another variable, is stored to and loaded from. */
uint32_t random_element_pointer(struct random_generator *g, const struct random_variable *v);
/* Every invocation gives one value to the others of its group and takes one. */
void random_exchange(struct random_generator *g);
/* Integers of a buffer as floats, zeroes of both signs and denormals among them, moved to the
 * places of integers, where no bit may be another; they are also factors. */
void random_copy_raw(struct random_generator *g);

/* ---- random_shader_frame.c ---- */

/* Everything before the constants that the body made and the function. */
void random_frame(struct pm_buffer *text, struct random_generator *g);

/* ---- random_shader_operations.c ---- */

/* One or a few instructions, whose result is of a random type. */
void random_operation(struct random_generator *g);
