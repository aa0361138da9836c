/*
 * Small shaders for the tests of the passes over blocks, and what a pass makes of one by a profile.
 * For tests: a failure ends the test.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/*
 * A body is put into a compute shader in which %at is the lane's number, %d a float that each lane
 * reads for itself and %u one that all read, %d_yes and %u_yes booleans of them, and %to a pointer
 * to a float that the lane may write, and %counter one to an integer. Types are %float, %uint,
 * %bool; constants %u0 to %u5, %f0 to %f2, and %u72, what orders buffers both ways. %texture, of
 * %sampled, is for reads of textures. Blocks of the body are counted from 1 on; block 0 begins
 * before the body.
 */
struct block_subject {
    struct pm_words words; /* valid, and canonical as far as blocks go */
    uint32_t blocks;
};
struct block_subject block_subject(const char *body);
/* The same as SPIR-V 1.4. */
struct block_subject block_subject_newer(const char *body);
/* The same in a fragment shader, of quads of which %d is another number in each lane. */
struct block_subject block_subject_fragment(const char *body);
void block_subject_finish(struct block_subject *subject);

/* What is known, by block; lists may be shorter than the blocks are, what follows is not known. */
struct block_known {
    double subgroups[24], uniform[24], frequency[24];
    const struct pm_driver *driver; /* NULL: any */
    /* Of the one loop's points of turns; NULL: nothing is. */
    const double *reached, *reached_uniform, *reached_low, *reached_high;
};

/* Runs a pass by its name. The output is another subject, to be finished; where nothing was changed
 * a copy of the input. *report: NULL, or gets the report, to be freed. */
struct block_subject block_optimized(const struct block_subject *subject, const char *pass,
                                     const struct block_known *known, char **report);

/* Asserts that the report says so of the block and the pass: what it did, if it did anything. */
void block_decided(const char *report, uint32_t block, bool done, const char *reason);

/* Asserts that the pass leaves the block alone for any driver, and not for one without quirks, for
 * which what it makes has `text` once more; and what it says of it. */
void block_guarded(const struct block_subject *subject, const char *pass,
                   const struct block_known *known, uint32_t block, const char *alone,
                   const char *done, const char *text);
