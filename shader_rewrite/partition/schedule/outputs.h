/*
 * How many outputs values of few components fill together (Mio, 4.1, "Outputs per Pass"): scalars
 * and pairs share an output of 4 components, a value of more takes several.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdint.h>

/* How many values there are of 1, 2 and 3 components, and how many whole outputs. */
struct pm_outputs {
    uint32_t whole, ones, twos, threes;
    uint64_t components;
};

static inline void pm_outputs_add(struct pm_outputs *outputs, uint32_t components)
{
    outputs->components += components;
    outputs->whole += components / 4;
    outputs->ones += components % 4 == 1;
    outputs->twos += components % 4 == 2;
    outputs->threes += components % 4 == 3;
}

static inline void pm_outputs_remove(struct pm_outputs *outputs, uint32_t components)
{
    outputs->components -= components;
    outputs->whole -= components / 4;
    outputs->ones -= components % 4 == 1;
    outputs->twos -= components % 4 == 2;
    outputs->threes -= components % 4 == 3;
}

/* How many outputs they take: each rest of three takes one single with it, pairs and the singles
 * that are left fill outputs. */
static inline uint32_t pm_outputs_count(const struct pm_outputs *outputs)
{
    uint32_t alone = outputs->ones > outputs->threes ? outputs->ones - outputs->threes : 0;
    return outputs->whole + outputs->threes + (2 * outputs->twos + alone + 3) / 4;
}
