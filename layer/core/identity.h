/*
 * Who the process is: the game's name (DESIGN, Identity of a game), whether to leave it alone
 * (HAZARDS 19).
 *
 * Thread safety: any thread; nothing is written to the environment.
 */
#pragma once

#include "base/config.h"
#include "layer/core/process.h"

/* Why the process is left alone: setuid, a browser, a compositor, a launcher, a part of Wine, by
 * its executable, its arguments, what it has mapped, or the engine that it names in
 * VkApplicationInfo (NULL: none). NULL: it is not. */
const char *pm_identity_denied(const struct pm_process *process, const char *engine);

/* The game's name before its config is read: the launcher's id from the environment; else the
 * application's (VkApplicationInfo's), unless many games have it (base/shared_name.h): then the
 * executable and the name of its folder, or of an engine's folder with the game's data, are added;
 * else the executable's; else "unknown".
 * application may be NULL. What cannot be a game's name (base/name.h) is passed over. NULL: out of
 * memory; malloc'ed. */
char *pm_identity_name(const struct pm_process *process, const char *application);
