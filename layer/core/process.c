#include "layer/core/process.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the arguments what is behind so many bytes is not looked at. */
enum { MOST_ARGUMENTS = 1 << 16 };

/* ---- the arguments ---- */

static void read_arguments(struct pm_process *process)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    char *line = file != NULL ? malloc(MOST_ARGUMENTS) : NULL;
    if (line != NULL) {
        const size_t size = fread(line, 1, MOST_ARGUMENTS - 1, file);
        line[size] = '\0';
        process->arguments = line;
        process->arguments_size = size;
    }
    if (file != NULL)
        fclose(file);
}

const char *pm_process_argument(const struct pm_process *process, const char *before)
{
    const char *end = process->arguments + process->arguments_size;
    const char *next = before != NULL ? before + strlen(before) + 1 : process->arguments;
    return next != NULL && next < end ? next : NULL;
}

/* ---- the executable ---- */

/* Splits a path, with either kind of slash, into a folder and a file name; both malloc'ed. */
static void split(const char *path, char **folder, char **name)
{
    const char *last = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            last = at + 1;
    }
    *folder = last > path ? strndup(path, (size_t)(last - path - (last > path + 1))) : NULL;
    *name = *last != '\0' ? strdup(last) : NULL;
}

static void read_executable(struct pm_process *process)
{
    char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return;
    path[size] = '\0';
    /* So the kernel marks a file that is gone: a browser that was upgraded while it runs is still
     * one. */
    static const char gone[] = " (deleted)";
    const size_t mark = sizeof gone - 1;
    if ((size_t)size > mark && strcmp(path + size - mark, gone) == 0)
        path[(size_t)size - mark] = '\0';
    split(path, &process->folder, &process->executable);
    if (process->executable == NULL || strncmp(process->executable, "wine", 4) != 0)
        return;
    /* Wine gives the program's own path as the first argument. */
    char *folder = NULL, *name = NULL;
    const char *program = pm_process_argument(process, NULL);
    if (program != NULL)
        split(program, &folder, &name);
    if (name != NULL) {
        free(process->folder);
        free(process->executable);
        process->folder = folder;
        process->executable = name;
    } else {
        free(folder);
    }
}

/* ---- what is mapped ---- */

static bool is_mapped(const char *library)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (file != NULL && !found && getline(&line, &size, file) > 0) {
        const char *slash = strrchr(line, '/');
        found = slash != NULL && strncmp(slash + 1, library, strlen(library)) == 0;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return found;
}

void pm_process_read(struct pm_process *process)
{
    *process = (struct pm_process){0};
    read_arguments(process);
    read_executable(process);
    process->has_cef = is_mapped("libcef.");
}

void pm_process_finish(struct pm_process *process)
{
    free(process->executable);
    free(process->folder);
    free(process->arguments);
    *process = (struct pm_process){0};
}
