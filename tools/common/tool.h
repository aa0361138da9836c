/*
 * What the commands of `piecemeal` share. One command a file; each gets its arguments as main does,
 * argv[0] being the command's name, and returns the exit status: 0, 1 (it failed, and why is on
 * stderr), 2 (usage).
 */
#pragma once

#include "base/buffer.h"
#include "base/config.h"
#include "base/error.h"
#include "profile/database.h"

enum { PM_EXIT_OK = 0, PM_EXIT_FAILED = 1, PM_EXIT_USAGE = 2 };

/* Prints "piecemeal COMMAND: MESSAGE" on stderr and returns PM_EXIT_FAILED. */
int pm_tool_failed(const char *command, const struct pm_error *error);

/* Prints "piecemeal COMMAND: …" and how to get help on stderr and returns PM_EXIT_USAGE. */
int pm_tool_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The game's config file or the one named, then the environment: what the tools themselves go by.
 * game and path may be NULL. */
bool pm_tool_config(struct pm_config *config, const char *game, const char *path,
                    struct pm_error *error);

/* The local aggregator's SQLite file (`run --local` writes it); malloc'ed. */
char *pm_tool_local_storage(void);

/* Where the game's report goes when nobody says; malloc'ed. Makes the folder. NULL: it failed. */
char *pm_tool_report_path(const char *game, struct pm_error *error);

/* An unsigned number, all of text, up to most. */
bool pm_tool_number(const char *text, uint64_t most, uint64_t *number);

/* Makes an empty file of this process's own, in $TMPDIR or /tmp, which the caller removes; its path
 * goes to path (size bytes). name: what it begins with. false: path is "". */
bool pm_tool_temporary(char *path, size_t size, const char *name, struct pm_error *error);
