/*
 * Puts the steps (steps.h) of a pass where it is being written (emission.h).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/emission.h"

/* Puts a step, by its number, where the builder is, under its guard. */
void pm_emission_put_step(struct pm_emission *e, uint32_t number);
