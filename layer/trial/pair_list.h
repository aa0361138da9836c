/*
 * What a trial has timed (trial.h), and how it outlives the session (profile/pairs_store.h).
 *
 * Thread safety: one thread at a time; the poller's, or nobody else is there any more.
 */
#pragma once

#include "layer/core/layer.h"
#include "profile/pairs_store.h"

enum { PM_MOST_PAIRS = 4096 };

struct pm_pair_list {
    uint32_t count, room;    /* whole pairs */
    double (*time)[2];       /* nanoseconds of the original and of the variant; owned */
    uint32_t recalled, kept; /* pairs of earlier sessions, and that a later one would have */
    int64_t kept_at;         /* pm_now() */
    bool asked;              /* earlier sessions, for theirs */
};

/* Whose they are. */
struct pm_pair_owner {
    const struct pm_device *device;
    struct pm_pairs_store *store;               /* NULL: nothing is kept */
    const struct pm_shader_key *key, *original; /* of the variant, and of what it was made of */
    const struct pm_environment *environment;
    enum pm_timed_kind kind;
};

/* Nanoseconds between two writes of one thing: what a session loses at most that is killed. */
#define PM_KEEP_NANOSECONDS INT64_C(10000000000)

/* The device's store of them; NULL: none are kept. */
struct pm_pairs_store *pm_pair_store_open(const struct pm_device *device);

/* Adds a pair. false: out of memory. */
bool pm_pair_list_add(struct pm_pair_list *list, const double time[static 2]);
/* Before the first pair: takes what earlier sessions had. Reads a small file, once. */
void pm_pair_list_recall(struct pm_pair_list *list, const struct pm_pair_owner *owner);
/* Keeps the pairs for later sessions, now and then, or since this one ends. Waits for the disk. */
void pm_pair_list_keep(struct pm_pair_list *list, const struct pm_pair_owner *owner, bool ends);
/* The trial is over: nothing is left of them here or there. */
void pm_pair_list_clear(struct pm_pair_list *list, const struct pm_pair_owner *owner);
/* Frees them; what is kept stays. */
void pm_pair_list_finish(struct pm_pair_list *list);
