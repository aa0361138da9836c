/*
 * A program that is newer than the headers: its commands put a structure from the far future in
 * front of every pNext chain that they are given, in what their parameters point to, however deep.
 *
 * Thread safety: as the commands; pm_newer_wrap before any other use.
 */
#pragma once

#include "dispatch.h"

/* A type that no headers have. Nobody, the null driver neither, knows the size. */
#define PM_NEWER_TYPE ((VkStructureType)1999999001)

/* From now on the table's commands do so. One table of a process at a time. */
void pm_newer_wrap(struct pm_device_dispatch *table);

/* How many such structures there were so far. */
uint64_t pm_newer_count(void);
