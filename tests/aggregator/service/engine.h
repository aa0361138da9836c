/* A PostgreSQL that with_postgres.sh started, for tests that end it and start it again. */
#pragma once

#include "base/buffer.h"
#include <stdbool.h>
#include <sys/types.h>

/* As it was started by whoever did. */
struct engine {
    const char *folder;
    pid_t pid;
    char program[400], log[400];
    struct pm_buffer command; /* its arguments, each with a terminator */
    uid_t user;
    gid_t group;
};

/* folder: PM_TEST_ENGINE or PM_TEST_STANDBY, which outlives it. */
void engine_find(struct engine *engine, const char *folder);
bool engine_is_there(const struct engine *engine);

/* All of its processes at once, and nothing is written any more but its log: it has to recover. */
void engine_end(struct engine *engine);

/* Again and again, until what is left of the one before is gone. */
void engine_start(struct engine *engine);

/* NAME=VALUE of its configuration, from the next start on. */
void engine_add_option(struct engine *engine, const char *option);

/* Ends one that engine_start started. */
void engine_finish(struct engine *engine);
