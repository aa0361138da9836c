/*
 * `piecemeal serve` as a process of its own, for tests that kill it, starve it and stop it, and a
 * load of uploads on it that remembers what it was told of each.
 *
 * The truth that every such test holds: an upload that was acknowledged is counted once, whatever
 * happened since; one that was not is counted once or not at all, and once after it was sent again.
 */
#pragma once

#include "tests/aggregator/support.h"
#include <pthread.h>
#include <sys/types.h>

struct server {
    pid_t pid;
    uint16_t port;
};

/* Serves the file at path on any free port, publishing all, curating every second. Returns when it
 * listens. */
struct server server_start(const char *path);

/* As server_start, but as one that a balancer is before: with this file of tokens, also those of
 * operators, and without limits of an address, or of how often a token may come. */
struct server server_start_balanced(const char *path, const char *token_file);

/* As server_start, but kills it after so many microseconds, wherever it is then. */
void server_start_and_kill(const char *path, unsigned microseconds);

/* The status of its /healthz; 0: no answer. */
long server_health(const struct server *server);

/* Sends the signal and waits for the end; SIGTERM and SIGINT must end it with 0. */
void server_end(struct server *server, int signal_number);

/* Waits for the end of one that was told to stop: it must be with 0. */
void server_wait(struct server *server);

/* The most bytes that it may write of any file from now on; UINT64_MAX: no limit. */
void server_limit_files(const struct server *server, uint64_t bytes);

#define LOAD_THREADS 4
#define LOAD_MOST_UPLOADS 8192 /* a thread's */

/* One upload of those that a load is of; *lanes grows by its entry lanes. */
const struct pm_profile *load_profile(struct pm_arena *arena, struct pm_random *random,
                                      uint64_t *lanes);

struct load;

struct load_sum {
    uint64_t lanes;     /* entry lanes of all uploads that were made, acknowledged or not */
    unsigned uploads;   /* how many these are */
    unsigned kept;      /* were not acknowledged, and had been counted */
    unsigned lost;      /* were not, and had not been */
    unsigned confirmed; /* acknowledged, and counted */
    unsigned missing;   /* acknowledged, and not counted: in a copy only */
};

/* Threads that upload to the server, one after the other, until it is gone or load_stop is called.
 * seed: of what they upload. */
struct load *load_start(const struct server *server, uint64_t seed);

/* Waits until so many more uploads than now have had this status (0: no answer). */
void load_wait(struct load *load, long status, unsigned more);

/* Waits for the threads. gone: the server is, and they notice; else they are told. */
void load_stop(struct load *load, bool gone);

/* How many uploads have had this status, and how many were begun. */
unsigned load_answers(const struct load *load, long status);
unsigned load_begun(const struct load *load);
/* How many were told to come again (429) and not when. */
unsigned load_unadvised(const struct load *load);
/* How many had another status than 204 and 429; prints the first of them. */
unsigned load_others(const struct load *load);

/* Sends everything once more to a server on the same file and adds to *sum what came of it; what
 * was acknowledged must be known to it. Frees. */
void load_check(struct load *load, const struct server *server, struct load_sum *sum);

/* The same for a server on a copy that was made under this load, which may know less. */
void load_check_copy(struct load *load, const struct server *server, struct load_sum *sum);

/* After load_check of every load on the file: what is stored is exactly the sum. No server has the
 * file. */
void load_check_stored(const char *path, const struct load_sum *sum);
