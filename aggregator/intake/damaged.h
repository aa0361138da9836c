/*
 * Rows of waiting samples that are not what was written: a disk or another program changed them.
 * None of their samples can be trusted, so they are set aside whole, in the quarantine, and the
 * others of their game are folded.
 *
 * Thread safety: a struct belongs to one thread at a time.
 */
#pragma once

#include "aggregator/intake/samples.h"
#include "aggregator/trust/quarantine.h"

/* How the reason of such an entry of the quarantine begins. Its body is the row, compressed. */
#define PM_DAMAGED_REASON "uploads that waited are damaged"

/* Is the row what was written, and can all of it be? PM_ERROR_INPUT: what is wrong. */
bool pm_damaged_check(const struct pm_storage_samples *row, struct pm_error *error);

/* How a row is read. */
struct pm_row_reading {
    bool careful; /* it is looked at as a whole before: something of a row cannot be */
    bool marked;  /* each sample has a mark */
    /* Takes a sample; false: the error, which ends the reading. */
    bool (*take)(void *user, const struct pm_sample_reader *reader, struct pm_error *error);
    void *user;
};

/* Hands out a row's samples. *whole false: it is damaged, *why says how, and what was handed out of
 * it does not count. */
bool pm_damaged_read(const struct pm_storage_samples *row, const struct pm_row_reading *reading,
                     bool *whole, struct pm_error *why, struct pm_error *error);

struct pm_damaged_row {
    struct pm_storage_samples row; /* the data is the caller's */
    struct pm_error why;
};

/* Begins as {0}. */
struct pm_damaged {
    struct pm_damaged_row *rows;
    size_t count, allocated;
};

void pm_damaged_finish(struct pm_damaged *damaged);

/* row->game and row->data must live as long. */
bool pm_damaged_add(struct pm_damaged *damaged, const struct pm_storage_samples *row,
                    const struct pm_error *why, struct pm_error *error);

/* Puts them into the quarantine: in a transaction, under the write mutex. Deleting them is the
 * caller's. */
bool pm_damaged_set_aside(const struct pm_damaged *damaged, struct pm_quarantine *quarantine,
                          struct pm_error *error);

/* Says so in the log, once that is committed. */
void pm_damaged_log(const struct pm_damaged *damaged, struct pm_log *log);
