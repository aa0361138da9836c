/*
 * Numbers as people read them: with a comma between thousands.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdint.h>

enum { PM_GROUPED_TEXT = 32 };

/* out, with the number in it. */
const char *pm_grouped(uint64_t number, char out[static PM_GROUPED_TEXT]);
