#define _XOPEN_SOURCE 700 /* nftw */
#define _DEFAULT_SOURCE   /* mkdtemp */
#include "bench/common/work_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pm_work_folder_create(struct pm_work_folder *folder, struct pm_error *error)
{
    static const char *const names[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
                                        "XDG_CONFIG_HOME"};
    strcpy(folder->path, "/tmp/piecemeal-bench-XXXXXX");
    if (!mkdtemp(folder->path))
        return pm_fail_errno(error, errno, "a temporary folder");
    for (int i = 0; i < 4; i++) {
        snprintf(folder->texts[i], sizeof(folder->texts[i]), "%s=%s", names[i], folder->path);
        folder->environment[i] = folder->texts[i];
    }
    folder->environment[4] = NULL;
    return true;
}

void pm_work_folder_enter(const struct pm_work_folder *folder)
{
    for (size_t i = 0; folder->environment[i]; i++)
        putenv((char *)folder->environment[i]);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

void pm_work_folder_remove(struct pm_work_folder *folder)
{
    if (folder->path[0])
        nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    folder->path[0] = 0;
}
