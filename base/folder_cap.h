/*
 * Folders of files that are bounded together: beyond the cap those go that were used longest ago.
 * A file says when it was used by the time of its last change, which pm_file_used renews.
 *
 * Thread safety: any thread; other processes may do the same in the same folders.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Where what is in the folders and `more` bytes are above the cap, removes files until they are
 * well below it. Bytes on the disk that are left. Folders that are not there are empty. */
uint64_t pm_folders_shrink(const char *const *folders, size_t count, uint64_t cap, uint64_t more);

/* The file is used now. Errors are ignored. */
void pm_file_used(const char *path);
