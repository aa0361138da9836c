/*
 * A file system of a test's own that is really full: a small tmpfs, in a mount namespace that goes
 * with the process, so that nothing has to be undone. Takes root, or a system that lets users have
 * namespaces; else the test is to be skipped.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static inline bool full_disk_write(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

/* Before the process has a second thread. false: not here, errno says why. */
static inline bool full_disk_namespace(void)
{
    char uid[40], gid[40];
    snprintf(uid, sizeof(uid), "0 %u 1", (unsigned)geteuid());
    snprintf(gid, sizeof(gid), "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWNS) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
         !full_disk_write("/proc/self/setgroups", "deny") ||
         !full_disk_write("/proc/self/uid_map", uid) || !full_disk_write("/proc/self/gid_map", gid)))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static inline bool full_disk_mount(const char *folder, unsigned kib)
{
    char options[40];
    snprintf(options, sizeof(options), "size=%uk", kib);
    return mount("tmpfs", folder, "tmpfs", 0, options) == 0;
}

/* Into the file goes all that is left, but for so many bytes. false: it is full before. */
static inline bool full_disk_fill(const char *path, size_t left)
{
    static const char block[4096];
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    off_t size = 0;
    ssize_t written = 0;
    if (fd < 0)
        return false;
    while ((written = write(fd, block, sizeof(block))) > 0)
        size += written;
    const bool full = written < 0 && errno == ENOSPC;
    const bool cut = full && ftruncate(fd, size > (off_t)left ? size - (off_t)left : 0) == 0;
    close(fd);
    return cut;
}
