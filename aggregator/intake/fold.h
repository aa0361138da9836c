/*
 * How much waits to be folded, and when it is: part by part of a game (fold_slice.h), by whoever
 * keeps what waits within its limit, and before a game's statistics are shown. A part that cannot
 * be folded holds no other up. What waits under marks (fold_day.h) is folded once its day has
 * ended, and does not count for the limit.
 *
 * Thread safety: any thread, once the struct is filled; one folds at a time.
 */
#pragma once

#include "aggregator/trust/quarantine.h"

struct pm_folding {
    struct pm_world *world;
    struct pm_quarantine *quarantine; /* takes damaged rows */
    uint64_t limit_bytes; /* that may wait; 0: by what the storage takes. The caller's to fill… */
    size_t sum_bytes; /* …and of memory for sums before they are written; one row may need more */
    pthread_mutex_t mutex; /* held while samples are folded; taken before the write mutex */
    atomic_uint_fast64_t waiting_bytes; /* as far as this process knows */
    atomic_uint_fast64_t stuck_bytes;   /* of these: in parts that could not be folded last time */
    uint32_t stuck_parts;               /* under the mutex */
    atomic_uint_fast32_t closed_on;     /* the day on which all days before it were folded */
};

/* World and quarantine stay the caller's and live longer. */
void pm_folding_init(struct pm_folding *folding, struct pm_world *world,
                     struct pm_quarantine *quarantine);
void pm_folding_finish(struct pm_folding *folding);
/* Counts what waits from before. */
bool pm_folding_count(struct pm_folding *folding, struct pm_error *error);
/* So many bytes wait besides. */
void pm_folding_add(struct pm_folding *folding, uint64_t bytes);

/* Brings what waits of a game (NULL: of all) into the statistics. */
bool pm_fold(struct pm_folding *folding, const char *game, struct pm_error *error);
/* Before the statistics are shown: a part that cannot be folded is said in the log and stays, and
 * the others are shown all the same. */
bool pm_fold_what_can_be(struct pm_folding *folding, const char *game, struct pm_error *error);
/* Also what waits of a day that has not ended: whoever comes again on it is another cluster then.
 */
bool pm_fold_early(struct pm_folding *folding, const char *game, struct pm_error *error);
/* Only as much as it takes to keep within the limit, nothing most times; and once a day, what the
 * day before has left. */
bool pm_fold_some(struct pm_folding *folding, struct pm_error *error);
/* Before more is added: waits while twice as much waits as may, and folds where nobody else does. A
 * part that cannot be folded holds nobody up; false: the storage failed. */
bool pm_fold_make_room(struct pm_folding *folding, struct pm_error *error);
