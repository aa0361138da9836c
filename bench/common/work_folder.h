/*
 * A temporary folder that stands for the player's own, so that a benchmark starts without spool,
 * databases, shader store and caches, and leaves none.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/error.h"

struct pm_work_folder {
    char path[64];
    /* What to put in a program's environment to make it the player's: "NAME=value", NULL last. */
    char texts[4][96];
    const char *environment[5];
};

bool pm_work_folder_create(struct pm_work_folder *folder, struct pm_error *error);
/* Makes it this process's, until another one is entered; the struct stays where it is until then.
 */
void pm_work_folder_enter(const struct pm_work_folder *folder);
/* Removes it with all that is in it. */
void pm_work_folder_remove(struct pm_work_folder *folder);
