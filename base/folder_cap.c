#include "base/folder_cap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    char *path;
    struct timespec used;
    uint64_t bytes;
};

struct files {
    struct file *data;
    size_t count, allocated;
    uint64_t bytes;
};

static bool add_file(struct files *files, const char *folder, const char *name)
{
    struct file file;
    if (asprintf(&file.path, "%s/%s", folder, name) < 0)
        return false;
    struct stat status;
    if (lstat(file.path, &status) != 0 || !S_ISREG(status.st_mode)) {
        free(file.path);
        return true;
    }
    file.used = status.st_mtim;
    file.bytes = (uint64_t)status.st_blocks * 512;
    if (files->count == files->allocated) {
        const size_t allocated = files->allocated ? 2 * files->allocated : 256;
        struct file *data = realloc(files->data, allocated * sizeof *data);
        if (!data) {
            free(file.path);
            return false;
        }
        files->data = data;
        files->allocated = allocated;
    }
    files->data[files->count++] = file;
    files->bytes += file.bytes;
    return true;
}

static void add_folder(struct files *files, const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        /* What a killed process was writing counts, and goes, like everything else. */
        if (!add_file(files, folder, entry->d_name))
            break;
    }
    closedir(directory);
}

static int oldest_first(const void *a, const void *b)
{
    const struct timespec *left = &((const struct file *)a)->used;
    const struct timespec *right = &((const struct file *)b)->used;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? -1 : 1;
    return left->tv_nsec < right->tv_nsec ? -1 : left->tv_nsec > right->tv_nsec;
}

uint64_t pm_folders_shrink(const char *const *folders, size_t count, uint64_t cap, uint64_t more)
{
    struct files files = {0};
    for (size_t i = 0; i < count; i++)
        add_folder(&files, folders[i]);
    if (files.bytes + more > cap) {
        /* Well below the cap, so that not every further file has the folders read again. */
        const uint64_t room = cap - cap / 8;
        qsort(files.data, files.count, sizeof *files.data, oldest_first);
        for (size_t i = 0; i < files.count && files.bytes + more > room; i++) {
            if (unlink(files.data[i].path) == 0)
                files.bytes -= files.data[i].bytes;
        }
    }
    for (size_t i = 0; i < files.count; i++)
        free(files.data[i].path);
    free(files.data);
    return files.bytes;
}

void pm_file_used(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0);
}
