/*
 * Mio's ready list: a binary heap of operations by their place in an order.
 *
 * Thread safety: a list belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pm_ready_list {
    const uint32_t *place; /* by operation; the caller's */
    uint32_t *heap;
    bool *in; /* by operation */
    uint32_t count;
};

/* Room for operations numbered below `operations`. false: out of memory. To be finished in any
 * case. */
bool pm_ready_list_init(struct pm_ready_list *list, const uint32_t *place, uint32_t operations);
void pm_ready_list_finish(struct pm_ready_list *list);

/* Nothing for one that is in it. */
void pm_ready_list_add(struct pm_ready_list *list, uint32_t operation);

/* Takes out the first one; there must be one. */
uint32_t pm_ready_list_take(struct pm_ready_list *list);
