/*
 * The options of a command, in one table.
 *
 * Thread safety: one thread, as main.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an option goes: exactly one of text, flag and number is not NULL. */
struct pm_option {
    const char *name; /* without the dashes; NULL: only the letter */
    char letter;      /* 0: none */
    const char **text;
    size_t *texts; /* not NULL: it may be given up to `most` times; text is the first of as many */
    bool *flag;    /* takes no argument */
    uint64_t *number;
    uint64_t most; /* of a number, or of texts */
};

#define PM_OPTION_TEXT(word, to)                                                                   \
    {                                                                                              \
        .name = (word), .text = (to)                                                               \
    }
#define PM_OPTION_TEXTS(word, to, count, largest)                                                  \
    {                                                                                              \
        .name = (word), .text = (to), .texts = (count), .most = (largest)                          \
    }
#define PM_OPTION_FLAG(word, to)                                                                   \
    {                                                                                              \
        .name = (word), .flag = (to)                                                               \
    }
#define PM_OPTION_NUMBER(word, to, largest)                                                        \
    {                                                                                              \
        .name = (word), .number = (to), .most = (largest)                                          \
    }

/* Reads the options, wherever they stand; --help and -h print help. -1: go on, the operands are
 * argv[*operands] and after (operands NULL: there may be none); else the exit status. command: how
 * errors call it. Texts point into argv. */
int pm_tool_options(const char *command, const char *help, const struct pm_option *options,
                    int count, int argc, char **argv, int *operands);

/* The same of a command that ends in another's command line: its own options come first. *rest:
 * what is behind them, NULL-terminated. */
int pm_tool_leading_options(const char *command, const char *help, const struct pm_option *options,
                            int count, int argc, char **argv, char ***rest);

/* For who calls getopt_long himself, with opterr 0 and a ':' before the letters: says what is wrong
 * with the option that it has just refused, and what may have been meant. missing: it returned ':',
 * for want of a value. PM_EXIT_USAGE. */
int pm_tool_bad_option(const char *command, char **argv, const struct option *known, bool missing);
