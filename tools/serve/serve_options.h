/*
 * The options of `piecemeal serve`, in one table: the command line (--token-file FILE), the file
 * that --config names ({"token_file": "FILE"}: the same names with underscores), --help and the
 * schema's test all go by it. A new option is one row of pm_serve_option_table.
 *
 * Thread safety: the table is read-only; a struct pm_serve_options belongs to one thread.
 */
#pragma once

#include "aggregator/service/service.h"
#include "base/arena.h"
#include <stddef.h>
#include <stdio.h>

struct pm_serve_options {
    struct pm_service_info service; /* but for its aggregator and log, which are no options */
    struct pm_aggregator_info aggregator;
    const char *storage; /* the SQLite file; NULL until given */
    bool dev_tls;
    enum pm_log_level level;
    struct pm_arena *strings; /* what the texts above point into */
};

enum pm_serve_type {
    PM_SERVE_TEXT,  /* const char *; not empty, without control characters */
    PM_SERVE_FLAG,  /* bool; `--dev`, or true or false in a file */
    PM_SERVE_WHOLE, /* an unsigned integer of 2, 4 or 8 bytes */
    PM_SERVE_REAL,  /* double */
    PM_SERVE_LEVEL, /* enum pm_log_level */
};

struct pm_serve_option {
    const char *name; /* as on the command line, without the dashes */
    enum pm_serve_type type;
    size_t offset, size;     /* bytes in struct pm_serve_options */
    double minimum, maximum; /* of a number, both allowed, in the unit that the user gives */
    uint64_t unit;           /* a whole number is stored times this; 1, or 1 << 20 for MiB */
    const char *argument;    /* what --help calls it; NULL for a flag */
    const char *help;        /* ends with the default in parentheses where there is one */
};

#define PM_SERVE_KEY_BYTES 64

/* What the option is called in a file. */
const char *pm_serve_option_key(const struct pm_serve_option *option,
                                char key[static PM_SERVE_KEY_BYTES]);

/* Ends with a NULL name. */
extern const struct pm_serve_option pm_serve_option_table[];

/* The defaults. false: out of memory. */
bool pm_serve_options_init(struct pm_serve_options *options, struct pm_error *error);
void pm_serve_options_finish(struct pm_serve_options *options);

/* One option from text as on the command line; text is not read for a flag. The error is only what
 * is wrong with the value ("must be …"). */
bool pm_serve_option_set(struct pm_serve_options *options, const struct pm_serve_option *option,
                         const char *text, struct pm_error *error);

/* A JSON text over *options; name is what errors call it: "name:line:column: what is wrong".
 * Unknown keys are errors, with the nearest known one suggested; "$schema" is left for editors. On
 * failure *options may be changed in part. */
bool pm_serve_options_parse(struct pm_serve_options *options, const char *name, const char *text,
                            size_t size, struct pm_error *error);
bool pm_serve_options_load(struct pm_serve_options *options, const char *path,
                           struct pm_error *error);

/* What no single option can tell: is one missing, do two contradict each other? */
bool pm_serve_options_agree(const struct pm_serve_options *options, struct pm_error *error);

/* Fills in what was not given and follows from the rest; after pm_serve_options_agree. */
bool pm_serve_options_settle(struct pm_serve_options *options, struct pm_error *error);

/* The rows of --help, one line an option. */
void pm_serve_options_help(FILE *out);
