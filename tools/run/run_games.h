/*
 * The games of a run: which they are, where they were not named, and what each one's own config
 * says of an aggregator.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "aggregator_client/client.h"
#include "base/names.h"
#include <limits.h>

struct pm_run_games {
    char notes[PATH_MAX]; /* the file the layer notes them in; "": none */
    char *program;        /* malloc'ed; NULL: not known */
    struct pm_names games;
    struct pm_error away; /* the aggregator did not answer before the program; PM_OK: none was asked
                             in vain */
    struct pm_error unkept; /* why nothing could be kept of the run; PM_OK: it could */
};

/* Makes the file and names it in the environment. program: as it is to be started. Without the
 * file the run goes on, and nothing is known. */
bool pm_run_games_begin(struct pm_run_games *run, const char *program, struct pm_error *error);

/* Before the program: pulls the databases of the games that it was last time, each from its own
 * config's aggregator. One that is away is told in `away`. */
void pm_run_games_pull(struct pm_run_games *run, struct pm_log *log);

/* A pull failed: one from an aggregator that is away is kept, to be said once after the program;
 * what else went wrong is said. */
void pm_run_games_not_pulled(struct pm_run_games *run, const struct pm_error *error);

/* One sentence of what it came to, or what stood in the way. began: pm_wall_seconds. next:
 * what to do then. */
void pm_run_games_say(const struct pm_run_games *run, double began, const char *next);

/* After it: reads which games it was, says each one's config, and remembers them. */
void pm_run_games_ended(struct pm_run_games *run);

/* The game of the run that drew most; NULL: none made a device. began: as above. */
const char *pm_run_games_busiest(const struct pm_run_games *run, double began);

/* Whether a game's own config names an aggregator that it may send to; *config is that game's then,
 * to be finished. */
bool pm_run_games_upload_config(const struct pm_run_games *run, struct pm_config *config);

/* Whether a game's own config names an aggregator, also one that withholds uploads. */
bool pm_run_games_name_aggregator(const struct pm_run_games *run);

void pm_run_games_finish(struct pm_run_games *run);
