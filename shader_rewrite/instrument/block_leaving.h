/*
 * Where lanes leave: what waits in registers is added.
 */
#pragma once

#include "shader_rewrite/instrument/block_state.h"

/* Of what waits, everything if the subgroup's first lane is among those that leave, and what waits
 * for just these lanes. Once all points are counted. */
void pm_block_leaving_add(const struct pm_block_counts *counts,
                          const struct pm_block_leaving *leaving);
