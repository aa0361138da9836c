/*
 * The parts of what the layer does to a shader, each of which can be withheld by itself: for
 * optimize.withhold (layer/shader/withheld.h), for the names of what is built, and for
 * `piecemeal bisect`, which finds the one that is wrong.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits. Of one variant there may be several, one behind the other, in this order. */
enum pm_part {
    PM_PART_PUSHED = 1 << 0, /* the variant for known words of push constants */
    PM_PART_WORDS = 1 << 1,  /* known words of uniform buffers */
    PM_PART_ZEROS = 1 << 2,  /* values that are often zero */
    PM_PART_BLOCKS = 1 << 3, /* how often blocks run */
    PM_PART_RECIPE = 1 << 4, /* the variant that A-Z testing found */
    PM_PART_PASSES = 1 << 5, /* several passes (optimize.partition) */
};
enum { PM_PART_COUNT = 6, PM_PARTS_ALL = (1 << PM_PART_COUNT) - 1 };

/* Room for all names, with commas and the end. */
enum { PM_PARTS_TEXT = 48 };

/* The name of the part of a bit's place, below PM_PART_COUNT. */
const char *pm_part_name(unsigned place);

/* The names with commas between them; "" where there is none. */
void pm_parts_format(uint32_t parts, char text[static PM_PARTS_TEXT]);

/* false: the text is not names with commas between them. */
bool pm_parts_parse(const char *text, uint32_t *parts);
