/*
 * The memory in which passes leave values for later ones: words, each of them once for every
 * invocation of the dispatch, so that neighbouring invocations are neighbours. In compute shaders.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/device_address.h"
#include "shader_rewrite/partition/region.h"

struct pm_scratch {
    struct pm_ir_module *module;
    struct pm_device_address address;
    bool regions; /* the memory has several, of which a dispatch has one */
    struct pm_region region;
    struct pm_ir_def *first;       /* the region's first word */
    struct pm_ir_def *base;        /* pointer to the words */
    struct pm_ir_def *invocation;  /* the number of this invocation in the dispatch */
    struct pm_ir_def *invocations; /* how many there are */
};

/* Readies the module. PM_ERROR_UNSUPPORTED: its workgroups' size is not in it. */
bool pm_scratch_init(struct pm_scratch *scratch, struct pm_ir_module *module, bool regions,
                     struct pm_error *error);

/* Finds out where this invocation's words are; once, where the function begins. */
void pm_scratch_begin(struct pm_scratch *scratch, struct pm_ir_builder *builder);

/* Words of 32 bits, unsigned. more: so many words behind `word`; NULL: that one. */
struct pm_ir_def *pm_scratch_load(const struct pm_scratch *scratch, struct pm_ir_builder *builder,
                                  uint32_t word, struct pm_ir_def *more);
void pm_scratch_store(const struct pm_scratch *scratch, struct pm_ir_builder *builder,
                      uint32_t word, struct pm_ir_def *more, struct pm_ir_def *value);
