/*
 * Small text files of this machine's own (the journal, verdicts.h): a header, then lines of words
 * with single spaces between them. Whatever is damaged shows as a line that says nothing.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_LINE_BYTES = 512, PM_LINE_WORDS = 36 };

struct pm_line {
    char text[PM_LINE_BYTES];
    char *words[PM_LINE_WORDS]; /* in text */
    size_t count;
};

/* Moves *at behind the header. false: it is not there. */
bool pm_lines_begin(const char **at, const char *end, const char *header);

/* Takes the next whole line apart. false: there is none. A line that is too long or has too many
 * words has count 0. */
bool pm_lines_next(const char **at, const char *end, struct pm_line *line);

/* Whether the line has so many words, of which this is the first. */
bool pm_line_is(const struct pm_line *line, const char *word, size_t count);

/* A number in digits, of 9 of them at most. */
bool pm_line_number(const char *text, uint32_t *value);
/* To base 10 or 16 (lower case), as long as it fits. */
bool pm_line_long_number(const char *text, int base, uint64_t *value);
