/*
 * Random shaders for differential tests: structured SPIR-V that computes much, in many ways, and
 * writes all of it out, without anything undefined in it. The same seed and options give the same
 * text on every machine.
 *
 * Clean shaders keep away from what may differ by permission (HAZARDS 7): no infinity and no NaN
 * can come up, and nothing looks at the sign of a zero. So any two correct translations of one,
 * with 0·x = 0 or without, write the same but for the sign of zeroes. Special ones let all of them
 * through.
 *
 * The interface is the harness's (tests/gpu): buffers of floats, of unsigned integers and of vec4s
 * to read at bindings 0 to 2, one to write at binding 3, the texture, push
 * constants; in fragment shaders the two inputs and one vec4 output.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

enum {
    /* Compute is dispatched in so many groups; each reads inputs of its own region only. */
    RANDOM_SHADER_GROUPS = 8,
    RANDOM_SHADER_REGION = 128, /* elements of each input buffer */
    RANDOM_SHADER_INPUTS = RANDOM_SHADER_GROUPS * RANDOM_SHADER_REGION,
    RANDOM_SHADER_LANES = 64, /* at most in a group */
    RANDOM_SHADER_SLOTS = 8,  /* integers that an invocation writes, and as many floats */
    /* Fragment shaders are drawn into a target of this size, and write one place a pixel. */
    RANDOM_SHADER_WIDTH = 38,
    RANDOM_SHADER_HEIGHT = 32,
    /* The output: so many integers, then as many floats. */
    RANDOM_SHADER_PLACES = RANDOM_SHADER_SLOTS * RANDOM_SHADER_WIDTH * RANDOM_SHADER_HEIGHT,
    RANDOM_SHADER_STATEMENTS = 16,
    RANDOM_SHADER_PUSH = 32, /* words: one half floats, the other integers */
};

struct random_shader_options {
    enum pm_stage stage;
    bool specials;       /* not clean */
    bool float64, int64; /* what the device has */
    bool demote;
    bool exits_inside; /* of loops, in a block of its own that does more than leave */
    bool walks;        /* floats of loops begin with literals: a compiler that knows the first turn
                          computes it itself, and whether it does hangs on what else is used */
    bool raw_copies;   /* integers that are moved, and multiplied, as floats */
    bool volatile_uints; /* they are read in a structure with a volatile member */
    bool ends_first;     /* fragments end first of all, and then quads are read in straight code */
    bool words;          /* most inputs, and conditions, are words of push constants */
    bool uniforms;       /* what else are push constants is in a uniform buffer, at binding 9 */
    bool many_turns;     /* of outermost loops, by a constant that has divisors */
    uint32_t statements; /* at most */
};

/* SPIR-V 1.3 assembly; malloc'ed. */
char *random_shader_text(uint64_t seed, const struct random_shader_options *options);

struct random_shader_inputs {
    float floats[RANDOM_SHADER_INPUTS];
    uint32_t uints[RANDOM_SHADER_INPUTS];
    float vectors[RANDOM_SHADER_INPUTS][4];
    uint32_t push[RANDOM_SHADER_PUSH];
};

/* Many zeroes: from regions that have nothing else to one without any. */
void random_shader_fill(uint64_t seed, bool specials, struct random_shader_inputs *inputs);
