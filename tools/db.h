/*
 * The parts of `piecemeal db`, one a file. Each gets its arguments as main does, argv[0] being the
 * part's name, and returns the exit status.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "tools/estimates.h"
#include "tools/serve_options.h"
#include "tools/tool.h"

/* What `piecemeal serve --config CONFIG` goes by when it publishes, for the parts that publish too.
 * config NULL: the defaults; dev: as --dev says. The options' log, to standard error, is made; with
 * pm_db_settings_finish it ends, also after a failure. */
bool pm_db_settings(struct pm_serve_options *options, const char *config, bool dev,
                    struct pm_error *error);
void pm_db_settings_finish(struct pm_serve_options *options);

int pm_db_show(int argc, char **argv);
int pm_db_curate(int argc, char **argv);
int pm_db_export(int argc, char **argv);
int pm_db_import(int argc, char **argv);
int pm_db_drop(int argc, char **argv);
