#include "layer/core/process.h"

#include "base/shared_name.h"
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

/* ---- what is mapped ---- */

/* The path of the first file that is mapped and wanted, malloc'ed; NULL: there is none. */
static char *find_mapped(bool (*wanted)(const char *file, const char *name), const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL, *found = NULL;
    size_t size = 0;
    while (maps != NULL && found == NULL && getline(&line, &size, maps) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *path = strchr(line, '/');
        if (path != NULL && wanted(strrchr(path, '/') + 1, name))
            found = strdup(path);
    }
    free(line);
    if (maps != NULL)
        fclose(maps);
    return found;
}

static bool begins_so(const char *file, const char *name)
{
    return strncmp(file, name, strlen(name)) == 0;
}

/* Windows knows no case, and needs no .exe. */
static bool is_program(const char *file, const char *name)
{
    const size_t size = strlen(file), stem = pm_name_stem(file, size);
    return strcasecmp(file, name) == 0 ||
           (stem < size && strlen(name) == stem && strncasecmp(file, name, stem) == 0);
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

/* Wine gives the program as the first argument, as whoever started it wrote it: often without its
 * folder, without .exe, or in another case (seen). Its file, which is mapped, has one name. */
static void take_windows_program(struct pm_process *process, const char *program)
{
    char *folder = NULL, *name = NULL;
    split(program, &folder, &name);
    char *path = name != NULL ? find_mapped(is_program, name) : NULL;
    if (path != NULL) {
        free(folder);
        free(name);
        split(path, &folder, &name);
        free(path);
    }
    if (name == NULL) {
        free(folder);
        return;
    }
    free(process->folder);
    free(process->executable);
    process->folder = folder;
    process->executable = name;
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
    const char *program = pm_process_argument(process, NULL);
    if (program != NULL)
        take_windows_program(process, program);
}

void pm_process_read(struct pm_process *process)
{
    *process = (struct pm_process){0};
    read_arguments(process);
    read_executable(process);
    char *cef = find_mapped(begins_so, "libcef.");
    process->has_cef = cef != NULL;
    free(cef);
}

void pm_process_finish(struct pm_process *process)
{
    free(process->executable);
    free(process->folder);
    free(process->arguments);
    *process = (struct pm_process){0};
}
