/*
 * What can be seen of the process that we are in: its executable, its arguments, what it has
 * mapped. Read from /proc/self.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pm_process {
    char *executable; /* file name; of a Windows program under Wine its file's, else what it was
                         started as; NULL: not known */
    char *folder;     /* that it is in, with its path; NULL: not known */
    char *arguments;  /* as in /proc/self/cmdline: each with its zero; NULL: not known */
    size_t arguments_size;
    bool has_cef; /* the Chromium Embedded Framework is mapped */
};

/* What could not be found out is NULL or false. */
void pm_process_read(struct pm_process *process);
void pm_process_finish(struct pm_process *process);

/* The argument after `before` (NULL: the first, which is the program's name); NULL: none. */
const char *pm_process_argument(const struct pm_process *process, const char *before);
