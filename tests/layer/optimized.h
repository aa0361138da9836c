/*
 * For tests of specialized variants: shaders that are worth specializing, and the PGO database that
 * says so.
 */
#pragma once

#include "tests/layer/layered.h"

#include "profile/database.h"
#include "profile/shader_store.h"

/* Whatever the harness opens from now on samples nothing and has the test's database; with `trust`
 * what is built is used at once (debug.trust_variants), and it is built when a pipeline is
 * created. */
void optimized_enable(bool trust);

/* A session without the layer's optimizer that leaves the canonical shaders in the store, and the
 * database that takes all their candidates for zeros. */
void optimized_learn(void);

/* 4,500 shaders that nobody has are in the database, too, until it is written anew. */
void optimized_make_large(void);

/* The same as optimized_learn of a test's own shader, which a session has stored. */
void optimized_learn_of(const uint32_t *words, size_t size);

/* Likewise, but it has blocks and no zeros: no subgroup enters the second. */
void optimized_learn_blocks_of(const uint32_t *words, size_t size);

/* Likewise, but one subgroup in a thousand enters the second, with this share of its lanes whole.
 */
void optimized_learn_rare_block_of(const uint32_t *words, size_t size, double uniform);

/* Likewise, always whole; and a loop, whose test is the fourth block and whose turn the fifth,
 * always makes so many turns. */
void optimized_learn_rare_block_and_loop_of(const uint32_t *words, size_t size, double turns);

/* Of these zeros the database has nothing then but this level. */
void optimized_make_provisional(enum pm_provisional level);

/* Each shader that the layer has stored. */
void optimized_each_stored(void (*visit)(struct pm_shader_store *store,
                                         const struct pm_shader_key *key));

/* Adds a published timing profile of a specialized module to the database: time with it over time
 * without. */
void optimized_add_timing(const struct pm_shader_key *key, double low, double high);

/* Leaves an operator's verdict on each of these beside the database, as if it had been pulled; the
 * layer goes by it where a key is configured. */
void optimized_sign(bool faster, bool has_key);

/* The key of a shader of which the database knows something. */
const struct pm_shader_key *optimized_first_key(void);

/* Whether the database has a zero profile of the shader. */
bool optimized_has_zeros(const struct pm_shader_key *key);

/* The modules that the journal has of the test's game; returns how many, at most `most`. */
size_t optimized_journal(struct pm_shader_key *keys, size_t most);
/* The packed database, by its inode; 0: there is none. */
uint64_t optimized_packed(void);

/* The words of the shader of a stage, and their size in bytes. */
const uint32_t *optimized_words(VkShaderStageFlagBits stage, size_t *size);

/* Pipelines of the shaders. */
VkPipeline optimized_compute(struct pm_harness *harness);
/* The same shader as the first but for casts that keep some compilers from folding. */
VkPipeline optimized_compute_with_casts(struct pm_harness *harness);
VkPipeline optimized_graphics(struct pm_harness *harness);

/* Learns, and opens a session in which what is built is used at once. */
void optimized_open(struct pm_harness *harness);

/* What reached the driver on a command buffer since a position, as pm_calls_on has it. */
void optimized_assert_calls(const struct pm_harness *harness, uint64_t since,
                            VkCommandBuffer buffer, const char *expected);

/* The n-th pipeline that was bound since a position. */
VkPipeline optimized_bound(const struct pm_harness *harness, uint64_t since, uint32_t n);

/* What reaches the driver when the game binds a pipeline and uses it once. */
VkPipeline optimized_effective(struct pm_harness *harness, VkPipeline pipeline,
                               VkPipelineBindPoint point);

/* How many lines of the layer's log have a text. */
uint32_t optimized_logged(const char *text);
void optimized_assert_logged(const char *text, uint32_t times);
