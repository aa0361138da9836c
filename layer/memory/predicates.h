/*
 * Words that VK_EXT_conditional_rendering reads, in one buffer, limits.predicates of them: for each
 * call that a recording holds twice (frame/predicated.h) one that says which of the two runs, 0 the
 * game's own. They are handed out by the block. The host writes a block when it is taken, since
 * nothing on the device uses it then; from then on only command buffers do
 * (frame/predicate_update.h).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

enum { PM_PREDICATE_BLOCK = 4 /* words */ };

/* Of a device that was made with the extension by us; the buffer is made when it is needed first.
 * NULL: there is no memory, or the limit is 0. */
struct pm_predicates *pm_predicates_create(struct pm_device *device);
/* NULL is allowed. */
void pm_predicates_destroy(struct pm_predicates *predicates);

/* There was a block. */
VkBuffer pm_predicates_buffer(const struct pm_predicates *predicates);
/* Bytes in it, of a word that nothing reads, for whoever needs something to write. */
enum { PM_PREDICATE_SCRATCH = 0 };

/* How much of it is taken, from 0 to 1. */
double pm_predicates_used(const struct pm_predicates *predicates);

/* A block of zeros: its bytes in the buffer. false: all are taken, or there is no buffer. */
bool pm_predicates_allocate(struct pm_predicates *predicates, uint32_t *offset);
/* When no recording reads it any more and the device is through with those that did. */
void pm_predicates_free(struct pm_predicates *predicates, uint32_t offset);
