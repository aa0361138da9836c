/*
 * Who the process is: the game's name (DESIGN, Identity of a game), whether to leave it alone
 * (HAZARDS 19).
 *
 * Thread safety: any thread; nothing is written to the environment.
 */
#pragma once

#include "base/config.h"

/* The executable's file name; for a Windows program under Wine, the program's. malloc'ed; NULL:
 * cannot be known. */
char *pm_identity_executable(void);

/* Why a process with this executable is left alone: a browser, a compositor, a launcher, setuid.
 * NULL: it is not. */
const char *pm_identity_denied(const char *executable);

/* The game's name before its config is read: application (VkApplicationInfo's), else executable,
 * else "unknown"; either may be NULL, and is passed over where it cannot be a game's name
 * (base/name.h). NULL: out of memory; malloc'ed. */
char *pm_identity_name(const char *application, const char *executable);
