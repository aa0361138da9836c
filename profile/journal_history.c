#include "profile/journal_history.h"

#include "profile/lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIKES = 2 /* held back for good */ };

void pm_history_finish(struct pm_history *history)
{
    free(history->variants);
    *history = (struct pm_history){0};
}

void pm_session_record_finish(struct pm_session_record *session)
{
    free(session->keys);
    free(session->used);
    *session = (struct pm_session_record){0};
}

/* ---- history ---- */

static struct pm_history_variant *find(const struct pm_history *history,
                                       const struct pm_shader_key *key)
{
    for (size_t i = 0; i < history->count; i++) {
        if (pm_shader_key_equal(&history->variants[i].key, key))
            return &history->variants[i];
    }
    return NULL;
}

static bool is_held(const struct pm_history_variant *variant)
{
    return variant->strikes >= STRIKES || variant->wait > 0;
}

/* Room for one more: the oldest that is not held back goes, else the oldest. */
static void forget_one(struct pm_history *history)
{
    size_t oldest = 0;
    while (oldest < history->count && is_held(&history->variants[oldest]))
        oldest++;
    if (oldest == history->count)
        oldest = 0;
    history->count--;
    memmove(&history->variants[oldest], &history->variants[oldest + 1],
            (history->count - oldest) * sizeof *history->variants);
}

/* The variant of a key, added when there is none; NULL: no memory. */
static struct pm_history_variant *get(struct pm_history *history, const struct pm_shader_key *key)
{
    struct pm_history_variant *variant = find(history, key);
    if (variant)
        return variant;
    if (history->count == PM_JOURNAL_MOST)
        forget_one(history);
    if (history->count == history->allocated) {
        const size_t more = history->allocated ? history->allocated * 2 : 16;
        variant = reallocarray(history->variants, more, sizeof *variant);
        if (!variant)
            return NULL;
        history->variants = variant;
        history->allocated = more;
    }
    variant = &history->variants[history->count++];
    *variant = (struct pm_history_variant){.key = *key};
    return variant;
}

static bool parse_history_line(struct pm_history *history, const struct pm_line *line)
{
    struct pm_shader_key key;
    uint32_t strikes, wait;
    if (pm_line_is(line, "bad", 2))
        return pm_line_number(line->words[1], &history->bad_in_a_row);
    if (pm_line_is(line, "safe", 2))
        return pm_line_number(line->words[1], &history->safe_for);
    if (pm_line_is(line, "proven", 2) && pm_shader_key_parse(line->words[1], &key)) {
        struct pm_history_variant *variant = get(history, &key);
        if (variant)
            variant->proven = true;
        return variant != NULL;
    }
    if (pm_line_is(line, "struck", 4) && pm_shader_key_parse(line->words[1], &key) &&
        pm_line_number(line->words[2], &strikes) && pm_line_number(line->words[3], &wait)) {
        struct pm_history_variant *variant = get(history, &key);
        if (variant) {
            variant->strikes = strikes;
            variant->wait = wait;
        }
        return variant != NULL;
    }
    return false;
}

bool pm_history_parse(struct pm_history *history, const char *text, size_t size,
                      struct pm_error *error)
{
    *history = (struct pm_history){0};
    const char *at = text, *end = text + size;
    bool good = pm_lines_begin(&at, end, PM_JOURNAL_HEADER);
    size_t number_of_line = 1;
    struct pm_line line;
    while (good && pm_lines_next(&at, end, &line)) {
        number_of_line++;
        good = parse_history_line(history, &line);
    }
    if (good && at == end)
        return true;
    pm_history_finish(history);
    return pm_fail(error, PM_ERROR_INPUT, "line %zu of the history is damaged", number_of_line);
}

bool pm_history_format(const struct pm_history *history, struct pm_buffer *out)
{
    bool ok = pm_buffer_append_string(out, PM_JOURNAL_HEADER) &&
              pm_buffer_printf(out, "bad %u\nsafe %u\n", history->bad_in_a_row, history->safe_for);
    for (size_t i = 0; ok && i < history->count; i++) {
        const struct pm_history_variant *variant = &history->variants[i];
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&variant->key, key);
        if (variant->proven)
            ok = pm_buffer_printf(out, "proven %s\n", key);
        if (ok && variant->strikes > 0)
            ok = pm_buffer_printf(out, "struck %s %u %u\n", key, variant->strikes, variant->wait);
    }
    return ok;
}

bool pm_history_holds(const struct pm_history *history, const struct pm_shader_key *key)
{
    if (history->safe_for > 0)
        return true;
    const struct pm_history_variant *variant = find(history, key);
    return variant && is_held(variant);
}

void pm_history_count(const struct pm_history *history, struct pm_journal_state *state)
{
    state->bad_in_a_row = history->bad_in_a_row;
    state->safe_for = history->safe_for;
    state->judged_safe_for = history->noted ? history->safe_for : 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct pm_history_variant *variant = &history->variants[i];
        state->held_for_good += variant->strikes >= STRIKES;
        state->held += variant->strikes < STRIKES && variant->wait > 0;
        state->proven += variant->proven;
        state->judged_held_for_good += variant->noted && variant->strikes >= STRIKES;
        state->judged_held += variant->noted && variant->strikes < STRIKES && variant->wait > 0;
    }
}

/* ---- sessions ---- */

static bool add_key(struct pm_session_record *session, const struct pm_shader_key *key, bool ran)
{
    if (session->count == session->allocated) {
        const size_t more = session->allocated ? session->allocated * 2 : 16;
        struct pm_shader_key *keys = reallocarray(session->keys, more, sizeof *keys);
        if (keys)
            session->keys = keys;
        bool *used = reallocarray(session->used, more, sizeof *used);
        if (used)
            session->used = used;
        if (!keys || !used)
            return false;
        session->allocated = more;
    }
    session->keys[session->count] = *key;
    session->used[session->count++] = ran;
    return true;
}

static bool mark_used(struct pm_session_record *session, const struct pm_shader_key *key)
{
    for (size_t i = 0; i < session->count; i++) {
        if (pm_shader_key_equal(&session->keys[i], key))
            return session->used[i] = true;
    }
    return false;
}

static bool parse_session_line(struct pm_session_record *session, const struct pm_line *line)
{
    struct pm_shader_key key;
    const bool ran = pm_line_is(line, PM_JOURNAL_RAN, 2);
    if (ran || pm_line_is(line, PM_JOURNAL_NEW, 2))
        return session->count < PM_JOURNAL_MOST && pm_shader_key_parse(line->words[1], &key) &&
               add_key(session, &key, ran);
    if (pm_line_is(line, PM_JOURNAL_OFF, 2))
        return pm_shader_key_parse(line->words[1], &key);
    if (pm_line_is(line, PM_JOURNAL_USED, 2))
        return pm_shader_key_parse(line->words[1], &key) && mark_used(session, &key);
    if (pm_line_is(line, PM_JOURNAL_LOST, 1))
        return session->lost = true;
    if (pm_line_is(line, PM_JOURNAL_END, 1))
        return session->ended = true;
    if (pm_line_is(line, PM_JOURNAL_AGAIN, 1)) {
        session->ended = false;
        return true;
    }
    if (pm_line_is(line, PM_JOURNAL_ASKED, 1))
        return session->asked = true;
    return false;
}

bool pm_session_record_parse(struct pm_session_record *session, const char *text, size_t size,
                             struct pm_error *error)
{
    *session = (struct pm_session_record){0};
    const char *at = text, *end = text + size;
    /* Killed before it had written anything. */
    if (size == 0)
        return true;
    bool good = pm_lines_begin(&at, end, PM_JOURNAL_HEADER);
    size_t number_of_line = 1;
    struct pm_line line;
    while (good && pm_lines_next(&at, end, &line)) {
        number_of_line++;
        good = parse_session_line(session, &line);
    }
    if (at < end)
        session->ended = false;
    if (good)
        return true;
    session->ended = false;
    return pm_fail(error, PM_ERROR_INPUT, "line %zu of a session is damaged", number_of_line);
}

/* ---- judging ---- */

static void one_good_session(struct pm_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        if (history->variants[i].wait > 0)
            history->variants[i].wait--;
    }
    if (history->safe_for > 0)
        history->safe_for--;
    if (history->safe_for == 0)
        history->bad_in_a_row = 0;
}

static bool judge_good(struct pm_history *history, const struct pm_session_record *session)
{
    one_good_session(history);
    for (size_t i = 0; i < session->count; i++) {
        if (!session->used[i])
            continue;
        struct pm_history_variant *variant = get(history, &session->keys[i]);
        if (!variant)
            return false;
        /* Two sessions may have run at once, of which the other struck it. */
        if (!is_held(variant))
            variant->proven = true;
    }
    return true;
}

/* Holds a variant back that is not proven, because of a session. */
static bool strike(struct pm_history_variant *variant, const struct pm_session_record *session)
{
    if (variant->proven)
        return false;
    variant->strikes++;
    variant->wait = PM_JOURNAL_WAIT;
    variant->noted = variant->noted || session->noted;
    return true;
}

static bool judge_bad(struct pm_history *history, const struct pm_session_record *session)
{
    history->bad_in_a_row++;
    const bool all = history->bad_in_a_row >= 2;
    if (all) {
        history->safe_for = PM_JOURNAL_WAIT;
        history->noted = history->noted || session->noted;
    }
    for (size_t i = 0; i < session->count; i++) {
        struct pm_history_variant *variant = get(history, &session->keys[i]);
        if (!variant)
            return false;
        if (!strike(variant, session) && all)
            variant->proven = false;
    }
    return true;
}

/* It went on for long with some, as well as one that ended: only what was new yet may have ended
 * it. */
static bool judge_settled(struct pm_history *history, const struct pm_session_record *session,
                          bool *bad)
{
    if (!judge_good(history, session))
        return false;
    for (size_t i = 0; i < session->count; i++) {
        struct pm_history_variant *variant =
            session->used[i] ? NULL : get(history, &session->keys[i]);
        if (!session->used[i] && !variant)
            return false;
        *bad = (variant && !session->asked && strike(variant, session)) || *bad;
    }
    return true;
}

bool pm_history_judge(struct pm_history *history, const struct pm_session_record *session,
                      bool *bad)
{
    bool settled = false;
    for (size_t i = 0; i < session->count; i++)
        settled = settled || session->used[i];
    *bad = false;
    if (session->ended && !session->lost)
        return judge_good(history, session);
    if (settled && !session->lost)
        return judge_settled(history, session, bad);
    *bad = session->count > 0 && (!session->asked || session->lost);
    return !*bad || judge_bad(history, session);
}
