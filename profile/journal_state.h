/*
 * What the ended sessions of a game say of its variants as a whole; see journal.h.
 *
 * Thread safety: plain data.
 */
#pragma once

#include "base/error.h"
#include <stdint.h>

enum {
    PM_JOURNAL_WAIT = 5, /* properly ended sessions */
    PM_JOURNAL_MOST =
        4096 /* variants that a history or a session knows; the oldest are forgotten */
};

/* What the ended sessions say. */
struct pm_journal_state {
    uint32_t judged_bad;    /* sessions that had not ended properly and were judged just now */
    uint32_t bad_in_a_row;  /* up to now, that used variants */
    uint32_t safe_for;      /* all variants are held back until so many sessions ended properly */
    uint32_t held;          /* variants held back for now */
    uint32_t held_for_good; /* and until someone removes the history */
    uint32_t proven;        /* used in a session that ended properly */
    /* What the bad ones of judged_bad are why of, of what is held back. */
    uint32_t judged_safe_for, judged_held, judged_held_for_good;
    struct pm_error damaged; /* code PM_OK: nothing was; else what was ignored */
};
