/*
 * What the ended sessions of a game say about its variants, and how another one is judged; see
 * journal.h. Knows texts, no files.
 *
 * Thread safety: a history belongs to one thread at a time.
 */
#pragma once

#include "base/buffer.h"
#include "profile/journal_state.h"
#include "profile/shader_key.h"

struct pm_history_variant {
    struct pm_shader_key key;
    bool proven;      /* used in a session that ended properly */
    uint32_t strikes; /* sessions that it was new in and that did not end properly */
    uint32_t wait;    /* properly ended sessions until it may be tried again */
    bool noted;       /* one of those that are noted struck it; not on the disk */
};

struct pm_history {
    struct pm_history_variant *variants; /* oldest first */
    size_t count, allocated;
    uint32_t bad_in_a_row, safe_for;
    bool noted; /* one of those that are noted is why safe_for is not 0; not on the disk */
};

/* A session's file. */
struct pm_session_record {
    struct pm_shader_key *keys; /* written down, in order */
    bool *used;                 /* one for each: it was bound, and no harm came of it */
    size_t count, allocated;
    bool ended, lost;
    bool asked; /* and it ended because of that (journal_asked.h) */
    bool noted; /* by who judges it: what it holds back is counted apart, too */
};

void pm_history_finish(struct pm_history *history);
void pm_session_record_finish(struct pm_session_record *session);

/* Reads a history's text. false: damaged, and where, or no memory; *history is empty then. */
bool pm_history_parse(struct pm_history *history, const char *text, size_t size,
                      struct pm_error *error);
bool pm_history_format(const struct pm_history *history, struct pm_buffer *out);

/* Reads a session's text up to its end, a torn last line, or the first damaged one; there *error is
 * filled and false returned, and what was read counts as a session that did not end properly. */
bool pm_session_record_parse(struct pm_session_record *session, const char *text, size_t size,
                             struct pm_error *error);

/* Adds what the session says. *bad: it did not end properly though nobody asked for its end, and
 * used variants that are held back by that, or may be. false: no memory. */
bool pm_history_judge(struct pm_history *history, const struct pm_session_record *session,
                      bool *bad);

bool pm_history_holds(const struct pm_history *history, const struct pm_shader_key *key);
void pm_history_count(const struct pm_history *history, struct pm_journal_state *state);

/* The lines that a session's file is made of. The first three are written over one another. */
#define PM_JOURNAL_HEADER "piecemeal journal 1\n"
#define PM_JOURNAL_NEW "new"   /* KEY: about to be made, or to be bound */
#define PM_JOURNAL_RAN "ran"   /* KEY: was bound, and no harm came of it */
#define PM_JOURNAL_OFF "off"   /* KEY: no harm came of it; as if the line were not there */
#define PM_JOURNAL_USED "used" /* KEY: of a line before, as "ran" (an earlier version's) */
#define PM_JOURNAL_LOST "lost"
#define PM_JOURNAL_END "end"
#define PM_JOURNAL_AGAIN "again" /* a device begins after an end */
#define PM_JOURNAL_ASKED "asked" /* by who started it, after it died: somebody asked for that */
