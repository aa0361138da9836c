/*
 * Statistics of several days as one weighted sample: what was counted a half-life ago weighs half
 * as much as what is counted today, so that estimates follow the game as it is played now. The
 * storage keeps exact sums per day (statistics.h); they are weighted here, when
 * they are read, so that neither half-life nor retention is ever baked into what is stored.
 *
 * A cluster of a day that is `age` days older than the newest one weighs w = 2^(-age / half-life).
 * Ages are counted from the newest day that has data, not from today: only the weights' ratios
 * matter to an estimate, and so an estimate changes only when its data do. One day alone, and no
 * half-life, give exactly the integers' sums.
 *
 * Thread safety: a struct belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include "aggregator/statistics/statistics.h"

/* A cell (statistics.h): sums for the means weighted by w, those for their variances by w². */
struct pm_aged_cell {
    uint64_t key;          /* as in struct pm_cell */
    long double w, ww;     /* Σw, Σw² */
    long double x, y, r;   /* Σwx, Σwy, Σwr */
    long double xx;        /* Σw²x², as near as eight bits of x are */
    long double wwr, wwrr; /* Σw²r, Σw²r² */
};

struct pm_aged_measure {
    uint64_t n;        /* clusters with x > 0, each counted once */
    bool above_one;    /* some r was above 1 */
    long double w;     /* Σ over days of w n_d, where n_d are the day's */
    long double roots; /* Σ over days of w √n_d */
    long double days;  /* Σ over days of w */
    uint32_t last;     /* the day that was added last; its clusters then */
    uint64_t last_n;
};

struct pm_aged_point {
    uint32_t point;
    uint64_t calls, sessions; /* not weighted */
    struct pm_aged_measure measures[PM_MEASURES];
};

struct pm_aged {
    enum pm_kind kind;
    uint32_t space;        /* 0: nothing was added yet */
    uint32_t newest;       /* day */
    bool strangers;        /* the caller's: uploads come from whoever has a token (estimate.h) */
    uint8_t *at_most_once; /* as in struct pm_statistics, of all that was added */
    struct pm_wide entry_lanes;   /* not weighted */
    struct pm_aged_point *points; /* ascending by index; only those that were ever in a batch */
    size_t count;
    struct pm_aged_cell *cells; /* of all points, ascending by key */
    size_t cell_count;
};

void pm_aged_init(struct pm_aged *aged);
void pm_aged_finish(struct pm_aged *aged);

/* Adds what was counted on a day. half_life: days; 0: all days weigh the same. Fails, leaving
 * *aged as it was, when kinds or spaces differ. */
bool pm_aged_add(struct pm_aged *aged, const struct pm_statistics *statistics, uint32_t day,
                 uint32_t half_life, struct pm_error *error);

/* A cell in which every cluster weighs 1. */
struct pm_aged_cell pm_aged_cell_of(const struct pm_cell *cell);

/* Was some r above 1? */
bool pm_counts_above_one(const struct pm_measure_counts *counts);

bool pm_aged_is_at_most_once(const struct pm_aged *aged, uint32_t point);

/* The first day within a retention of so many days (0: all days) on the day `today`. */
uint32_t pm_ageing_first_day(uint32_t today, uint32_t retention);
