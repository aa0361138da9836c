/* One server a file. */
#include "aggregator/storage/sqlite/storage_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int pm_storage_sqlite_hold(const char *path, struct pm_error *error)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        pm_fail_errno(error, errno, "%s: cannot open the database", path);
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    const int why = errno;
    if (why == EWOULDBLOCK)
        pm_fail(error, PM_ERROR_STATE,
                "%s: another `piecemeal serve` has this file: end that one first, or give this one "
                "a file of its own",
                path);
    else
        pm_fail_errno(error, why, "%s: cannot lock the database", path);
    close(fd);
    return -1;
}
