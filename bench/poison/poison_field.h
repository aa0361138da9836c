/*
 * Where players upload and some of them lie: an aggregator on a fresh storage, whose clock the
 * program sets, and uploads of one shader with a zero candidate and one with two blocks.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/curation/breakdown.h"
#include "base/random.h"
#include "bench/common/work_folder.h"

#define POISON_DAY 86400
#define POISON_BLOCKS 2

struct poison_field {
    struct pm_work_folder folder;
    struct pm_aggregator *aggregator;
    struct pm_arena *arena; /* of what waits to be sent */
    struct pm_random random;
    int64_t now;
    const struct pm_profile **profiles; /* that wait, and whose they are */
    struct pm_ingest_source *tokens;
    size_t count, allocated;
};

/* What one upload says; begins as an honest one. */
struct poison_upload {
    const char *game;
    uint64_t token;
    double zero, block;   /* the share of zeros; of lanes that run the first block */
    double size;          /* lanes that enter */
    uint32_t points;      /* that it says the blocks' shader has */
    bool leaves_out_once; /* says of no block that it runs at most once */
};

/* What is known of a game. */
struct poison_found {
    bool zero_known, block_known, zero_published, block_published;
    struct pm_ratio zero, block;
    uint32_t points; /* of the blocks' shader */
};

/* What the API says of how many could be lying about each shader, with what is known of it. */
struct poison_bounds {
    struct pm_ratio zero, block;
    struct pm_breakdown zero_lying, block_lying;
};

/* half_width: absolute, of intervals; 0: the default. storage: a URL of a PostgreSQL, in which it
 * drops the schema "poison" with all that is in it, whosever it is, and makes it anew; NULL: a file
 * in a folder of its own. */
bool poison_field_open(struct poison_field *field, const char *storage, uint64_t seed,
                       uint32_t max_games, double half_width, struct pm_error *error);
void poison_field_close(struct poison_field *field);

/* Around 1, log-normal. */
double poison_effect(struct pm_random *random, double sigma);

bool poison_put(struct poison_field *field, const struct poison_upload *upload,
                struct pm_error *error);
/* Sends what waits, in this order. *refused: how many of them did not count as far as the client
 * can tell; outcomes of the first `first` are not looked at. */
bool poison_send(struct poison_field *field, size_t first, uint64_t *refused,
                 struct pm_error *error);
/* A day later: what is known of the game now. */
bool poison_look(struct poison_field *field, const char *game, struct poison_found *found,
                 struct pm_error *error);
bool poison_look_at_bounds(struct poison_field *field, const char *game,
                           struct poison_bounds *bounds, struct pm_error *error);
