/*
 * A Fossilize database (".foz"), as fossilize_db.cpp and README.md of Fossilize describe version 6
 * of its stream archives: a head, then entries, each with a tag, a hash, lengths, a CRC-32 of what
 * is stored, and a payload, which we deflate: JSON, and of a shader module a zero and the words as
 * variable-length integers.
 *
 * What goes wrong with writing is kept (ferror). Thread safety: one thread for a file.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Kinds of entries. */
enum pm_fossilize_tag {
    PM_FOSSILIZE_SAMPLER = 1,
    PM_FOSSILIZE_SET_LAYOUT = 2,
    PM_FOSSILIZE_PIPELINE_LAYOUT = 3,
    PM_FOSSILIZE_MODULE = 4,
    PM_FOSSILIZE_RENDER_PASS = 5,
    PM_FOSSILIZE_GRAPHICS_PIPELINE = 6,
    PM_FOSSILIZE_COMPUTE_PIPELINE = 7,
};

struct pm_fossilize_name;

struct pm_fossilize_file {
    FILE *out;
    struct pm_fossilize_name *names; /* of the entries that are there */
    size_t count, capacity;
};

/* Writes the head. */
void pm_fossilize_begin(struct pm_fossilize_file *file, FILE *out);
/* Frees what it knows of; out stays open. */
void pm_fossilize_finish(struct pm_fossilize_file *file);

/* Writes a module, unless it is there. *hash: what Fossilize's tools call it. */
bool pm_fossilize_module(struct pm_fossilize_file *file, const uint32_t *words, size_t count,
                         uint64_t *hash, struct pm_error *error);

/* Writes another object, unless it is there: its JSON, in the section that its kind has. */
bool pm_fossilize_object(struct pm_fossilize_file *file, enum pm_fossilize_tag tag,
                         const char *section, uint64_t hash, const char *text,
                         struct pm_error *error);
