/*
 * A PGO database in the formats of other tools. Each exporter writes to an open file, whose write
 * errors the caller looks for when it closes it (ferror); false, with *error filled, is what else
 * went wrong.
 *
 * JSON and CSV have every kind and measure. The others know only counts of blocks: a block's count
 * is its frequency (ratio of sums) times the shader's entry lanes, to the nearest integer: how
 * often it ran in the sampled calls, had each of them measured all of the shader. Counts of
 * different shaders of one game therefore compare, as far as sampling is uniform. Blocks without a
 * sample have no count.
 *
 * A game's name may hold any character; where a format has no way to write one, the name has the
 * %XX of its bytes (RFC 3986), also for %.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include "profile/database.h"
#include "profile/left_alone.h"
#include "profile/races.h"
#include <stdio.h>

struct pm_export {
    const struct pm_database *database;
    const char *shader;                     /* only those whose key's text starts so; NULL: all */
    const struct pm_left_alone *left_alone; /* of the game, for JSON; NULL: not asked for */
    const struct pm_races *races;           /* likewise */
    const char
        *store;  /* folder of the shader store, for Fossilize and LLVM; NULL: the default one */
    FILE *index; /* Fossilize: a line for each; NULL: nothing is said */
    double uniform_share; /* optimize.uniform_share of the game, for LLVM */
};

typedef bool (*pm_exporter)(const struct pm_export *export, FILE *out, struct pm_error *error);

/* One object; "shaders" has what `db show --json` has, "left_alone" how many shaders this machine's
 * layer could make nothing of, and why; "races" the races of variants. */
bool pm_export_json(const struct pm_export *export, FILE *out, struct pm_error *error);

/* RFC 4180: a head, and one row per point and measure. Fields are empty where there is no sample.
 */
bool pm_export_csv(const struct pm_export *export, FILE *out, struct pm_error *error);

/* Collapsed stacks as flame graph tools read them: "game;shader KEY subgroup 32;block 3 COUNT". */
bool pm_export_collapsed(const struct pm_export *export, FILE *out, struct pm_error *error);

/* LLVM's text profile format (llvm-profdata merge, show). A function is a shader, named
 * KEY.block; its counters are its blocks' counts, its hash is the first 6 bytes of the key, the
 * subgroup size and the flags, without bit 60, which LLVM takes for that of a context-sensitive
 * profile. A shader some of whose blocks have no sample is left out, since LLVM would take them for
 * never run; a comment says how many. A comment above a function says which blocks are uniform,
 * since the text format has no field for it, in the forms of the offload RFC: the function's
 * attribute, U or D a block, or ? where all lanes were counted alone, and the profile's
 * UniformityBits, a bit a block from the least significant on, in hex, set for U alone. Of a
 * compute shader that is in the store another comment says which blocks whole workgroups enter by
 * the code: W or - a block. */
bool pm_export_llvm(const struct pm_export *export, FILE *out, struct pm_error *error);

/* pprof's profile.proto, gzip-compressed. A function is a shader, a line number is a block; the
 * game is the caller of all. */
bool pm_export_pprof(const struct pm_export *export, FILE *out, struct pm_error *error);

/* A Fossilize database (fossilize_file.h) of the shaders that this machine's store has: each as the
 * game gave it, canonical, and specialized by the database's zero profile where that makes anything
 * of it; and a pipeline with the game's own, and with the specialized one, where the layer kept one
 * (profile/stored_pipeline.h). The index says which is which: HASH
 * original|canonical|specialized|pipeline|specialized-pipeline KEY, the hash as Fossilize's tools
 * write it. PM_ERROR_STATE: the store has none of them. */
bool pm_export_foz(const struct pm_export *export, FILE *out, struct pm_error *error);

/* ---- what the exporters share (export.c) ---- */

/* prefix NULL: true. */
bool pm_export_selected(const struct pm_shader_estimates *shader, const char *prefix);
bool pm_export_selected_race(const struct pm_race *race, const char *prefix);
/* "races", and a comma behind. */
bool pm_export_races(const struct pm_export *export, FILE *out, struct pm_error *error);
/* Whether any is. */
bool pm_export_selects_any(const struct pm_database *database, const char *prefix);

/* Is it a shader with block counts, and selected? */
bool pm_export_has_blocks(const struct pm_export *export, const struct pm_shader_estimates *shader);

/* false: no sample. At most INT64_MAX, which all readers can hold. */
bool pm_export_count(const struct pm_shader_estimates *shader, uint32_t block, uint64_t *count);

/* Writes text, with %XX for control characters, % and what is in special. */
void pm_export_escaped(const char *text, const char *special, FILE *out);
