/*
 * The parts of `piecemeal db`, one a file. Each gets its arguments as main does, argv[0] being the
 * part's name, and returns the exit status.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "tools/common/estimates.h"
#include "tools/common/tool.h"
#include "tools/serve/serve_options.h"

/* Which storage, and by which rules it publishes, for the parts that publish. */
struct pm_db_where {
    const char *storage; /* NULL: that of the config, else the local one */
    const char *config;  /* the file of `piecemeal serve --config`; NULL: none */
    bool dev;
};

/* The options have a log to standard error; pm_db_settings_finish ends them, also after a failure.
 */
bool pm_db_settings(struct pm_serve_options *options, const struct pm_db_where *where,
                    struct pm_error *error);
void pm_db_settings_finish(struct pm_serve_options *options);

int pm_db_show(int argc, char **argv);
int pm_db_backup(int argc, char **argv);
int pm_db_curate(int argc, char **argv);
int pm_db_export(int argc, char **argv);
int pm_db_import(int argc, char **argv);
int pm_db_import_shaders(int argc, char **argv);
int pm_db_drop(int argc, char **argv);
int pm_db_sign(int argc, char **argv);
