/*
 * UTF-8 (RFC 3629), as far as it is needed to refuse what is not.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stddef.h>

/* The offset of the first byte that is not part of a well-formed character; size when all are. */
size_t pm_utf8_check(const char *text, size_t size);

/* The offset of the first byte that is not part of a well-formed character, or is a control
 * character; size when there is none. What people read in logs and pages passes this. */
size_t pm_utf8_check_line(const char *text, size_t size);

/* Bytes of the character at text, at least 1 (also for a byte that is none); size > 0. */
size_t pm_utf8_length(const char *text, size_t size);
