/*
 * Files and the places they live in (XDG Base Directory Specification 0.8).
 *
 * Thread safety: all functions may be called from any thread. Returned strings are malloc'ed; the caller frees.
 */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

enum pm_place {
    PM_PLACE_CONFIG, /* $XDG_CONFIG_HOME/piecemeal: configs, consent */
    PM_PLACE_DATA,   /* $XDG_DATA_HOME/piecemeal: spool, local aggregator database, shader store */
    PM_PLACE_CACHE,  /* $XDG_CACHE_HOME/piecemeal: pulled PGO databases, pipeline cache */
};

/* The place's folder joined with name (which may be NULL or have slashes); nothing is created. */
char *pm_place_path(enum pm_place place, const char *name);

/* Makes the folder and its parents, 0700. An existing one is fine. */
bool pm_make_folder(const char *path, struct pm_error *error);

/* Do both paths lead to one file? NULL, and what is not there, is none. */
bool pm_file_is_same(const char *a, const char *b);

/* Appends the whole file to *out, whose cap bounds it. */
bool pm_file_read(const char *path, struct pm_buffer *out, struct pm_error *error);

/* Writes beside, fsyncs and renames over path: a reader sees the old file or the new one, whole. Mode 0600. */
bool pm_file_write(const char *path, const void *data, size_t size, struct pm_error *error);

/* As pm_file_write, but left to the system to bring to the disk: after a power failure it may be
 * empty, or not there. */
bool pm_file_put(const char *path, const void *data, size_t size, struct pm_error *error);

/* Makes an empty file of a name of its own beside path, 0600, to be filled and then put in its place; one that a kill
 * leaves is PATH.new-XXXXXX. Its name; NULL with *error filled on failure. */
char *pm_file_make_beside(const char *path, struct pm_error *error);

/* Puts a file that stands beside path in its place, durably: fsync, rename, fsync of the folder. */
bool pm_file_replace(const char *beside, const char *path, struct pm_error *error);

/* Removes what a process that was killed within pm_file_write left in the folder, when it is at least so many seconds
 * old; 0 only where the caller knows that nobody writes there now. */
void pm_file_remove_leftovers(const char *folder, int seconds);

/* A name that is safe as one file name: every byte but [A-Za-z0-9._-] becomes %XX, a leading dot too. */
char *pm_file_safe_name(const char *name);

/* Writes all of it, however often write(2) is interrupted or takes only a part; neither a closed pipe nor a file
 * size limit raises a signal in the process, which is not ours. 0, or the errno. */
int pm_write_all(int fd, const void *data, size_t size);

/* Calls visit with the path of each thing in a folder whose name begins with no dot and ends so; "": with any. NULL,
 * and what is not there, is empty. */
void pm_folder_each(const char *folder, const char *suffix, void (*visit)(void *user, const char *path), void *user);

/* fsync of a folder: its new names are on disk. */
bool pm_folder_sync(const char *path, struct pm_error *error);
