/*
 * Places in a JSON text (RFC 8259): a strict check of its syntax that says where it stops being
 * JSON, and a walk over an object's members that gives the byte offset of each name and value.
 * cJSON builds the tree; this says where in the text a node stands, which cJSON forgets.
 *
 * Units: offsets are bytes. Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>

struct pm_json_text {
    const char *name; /* what errors call the text */
    const char *text;
    size_t size;
};

/* Fails with "name:line:column: message" for a byte offset (line and column count from 1; a column
 * is one character). Returns false. */
bool pm_json_fail(const struct pm_json_text *json, size_t at, struct pm_error *error,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Is the whole text one JSON value in UTF-8, nested at most 64 deep? A byte order mark is not JSON.
 * "\u0000" is refused too: what follows would be lost in a C string. */
bool pm_json_check(const struct pm_json_text *json, struct pm_error *error);

/* A walk over the members of an object, or the elements of an array. The text has passed
 * pm_json_check. */
struct pm_json_walk {
    const struct pm_json_text *json;
    size_t at;
    bool object;
    size_t name;             /* offset of the member's name (its quote); of the value in an array */
    size_t value, value_end; /* offsets of the value's first byte and of the byte after it */
};

/* value: the offset of a '{' or '['. */
void pm_json_walk_begin(struct pm_json_walk *walk, const struct pm_json_text *json, size_t value);

/* false: there is no further member. */
bool pm_json_walk_next(struct pm_json_walk *walk);

/* The offset of the text's value: its first byte that is not white space. */
size_t pm_json_root(const struct pm_json_text *json);
