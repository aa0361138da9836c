/* Configurations, and where what they say goes to. */
#pragma once

#include "tools/doctor/doctor.h"

/* What a game's session and `piecemeal sync` are going to use, and from which files: of one game
 * (NULL: of every game that has a file), or of one file (NULL: each game's own). */
void pm_doctor_config(struct pm_doctor *doctor, const char *game, const char *path);
