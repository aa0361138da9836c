/*
 * What changed between two texts, line by line: a longest common subsequence.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Marks in `kept`, one for each line of `to`, which of them are also in `from`, and in `left`, one
 * for each line of `from`, which of them are also in `to`, in order; leading blanks do not count.
 * Texts whose changed parts are thousands of lines count as changed in between. false: out of
 * memory. */
bool pm_report_diff(const char *const *from, size_t from_count, const char *const *to,
                    size_t to_count, bool *left, bool *kept);
