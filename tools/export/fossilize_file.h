/*
 * A Fossilize database (".foz"), as fossilize_db.cpp and README.md of Fossilize describe version 6
 * of its stream archives: a head, then entries, each with a tag, a hash, lengths, a CRC-32 of what
 * is stored, and a payload. We write shader modules: JSON, a zero, and the words as variable-length
 * integers, deflated.
 *
 * What goes wrong with writing is kept (ferror). Thread safety: one thread for a file.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pm_fossilize_file {
    FILE *out;
    uint64_t *hashes; /* of the modules that are there */
    size_t count, capacity;
};

/* Writes the head. */
void pm_fossilize_begin(struct pm_fossilize_file *file, FILE *out);
/* Frees what it knows of; out stays open. */
void pm_fossilize_finish(struct pm_fossilize_file *file);

/* Writes a module, unless it is there. *hash: what Fossilize's tools call it. */
bool pm_fossilize_module(struct pm_fossilize_file *file, const uint32_t *words, size_t count,
                         uint64_t *hash, struct pm_error *error);
