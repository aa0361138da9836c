/*
 * Lots that a machine draws once: which shaders it looks at for itself although others have
 * published what they are worth (HAZARDS 24). One machine of twenty that does so is enough for a
 * lie to die, and costs the others nothing.
 *
 * On the disk: `$PLACE_DATA/lot`, a random number that never leaves the machine. What cannot be
 * read is drawn anew; where nothing can be written, each session has lots of its own.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "profile/shader_key.h"

#include <stdbool.h>
#include <stdint.h>

/* The machine's number. path NULL: the default. Reads a small file, or writes it. */
uint64_t pm_machine_lot(const char *path);

/* Whether a lot falls on a shader, of which it does on such a share. */
bool pm_lot_falls(uint64_t lot, const struct pm_shader_key *key, double share);
