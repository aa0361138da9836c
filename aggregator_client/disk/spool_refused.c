/* The spool's folder of what was refused. */
#include "aggregator_client/disk/spool_format.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_age(const void *a, const void *b)
{
    const struct pm_spool_refused *x = a, *y = b;
    if (x->modified.tv_sec != y->modified.tv_sec)
        return x->modified.tv_sec < y->modified.tv_sec ? -1 : 1;
    if (x->modified.tv_nsec != y->modified.tv_nsec)
        return x->modified.tv_nsec < y->modified.tv_nsec ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* What there is no memory for is not in it. */
static void add(struct pm_spool_all_refused *all, const char *path)
{
    struct stat status;
    struct pm_spool_refused *more = lstat(path, &status) == 0 && S_ISREG(status.st_mode)
                                        ? reallocarray(all->list, all->count + 1, sizeof(*more))
                                        : NULL;
    if (!more)
        return;
    all->list = more;
    more[all->count] =
        (struct pm_spool_refused){strdup(path), (uint64_t)status.st_size, status.st_mtim};
    if (!more[all->count].path)
        return;
    all->bytes += more[all->count].bytes;
    all->count++;
}

struct pm_spool_all_refused pm_spool_refused_find(const char *spool)
{
    struct pm_spool_all_refused all = {0};
    char *folder = NULL;
    if (asprintf(&folder, "%s/" PM_SPOOL_REFUSED, spool) < 0)
        return all;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        add(&all, path);
        free(path);
    }
    if (directory)
        closedir(directory);
    free(folder);
    if (all.count > 1)
        qsort(all.list, all.count, sizeof(*all.list), by_age);
    return all;
}

void pm_spool_refused_finish(struct pm_spool_all_refused *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->list[i].path);
    free(all->list);
    *all = (struct pm_spool_all_refused){0};
}

void pm_spool_refused_remove(const char *path)
{
    /* The upload goes first and for sure: what lies beside it alone is never sent. */
    static const char *const suffixes[] = {PM_SPOOL_RULES_SUFFIX, PM_SPOOL_REASON_SUFFIX};
    unlink(path);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char *beside = pm_spool_beside(path, suffixes[i]);
        if (beside)
            unlink(beside);
        free(beside);
    }
}
