#include "tools/common/sentence.h"
#include "profile/journal_asked.h"
#include "profile/left_alone.h"
#include "tools/common/grouped.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    const size_t used = size < 0 ? 0 : (size_t)size < text->left ? (size_t)size : text->left - 1;
    text->at += used;
    text->left -= used;
}

static const char *plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* Calls of which some would be sampled almost surely, if copies of their shaders were there. */
enum { SURELY = 10 };

static bool is_sure(const struct pm_session_status *status)
{
    return (double)status->calls * status->api_probability >= SURELY;
}

bool pm_sentence_is_late(const struct pm_session_status *status)
{
    return status->sampled == 0 && status->shaders > 0 && status->windows > 0 &&
           !status->why_not[0] && !status->bound_by_cpu && !status->synchronous &&
           (status->keeps_recordings || is_sure(status));
}

bool pm_sentence_is_chance(const struct pm_session_status *status)
{
    return status->keeps_recordings && status->api_probability < 1;
}

/* Why nothing was sampled of a device that could be. */
static void say_why(const struct pm_session_status *status, struct text *text)
{
    char number[PM_GROUPED_TEXT], rate[PM_GROUPED_TEXT];
    if (status->heartbeats == 0)
        say(text, "the program neither presented nor submitted anything");
    else if (status->bound_by_cpu)
        say(text, "the program is bound by its processor, so it is left alone");
    else if (status->windows == 0)
        say(text,
            "no window opened in %s frames: one frame in %s opens one "
            "(--set sampler.window_probability=1 keeps one open)",
            pm_grouped(status->heartbeats, number),
            pm_grouped((uint64_t)(1 / status->window_probability + 0.5), rate));
    else if (status->keeps_recordings && status->synchronous)
        say(text,
            pm_sentence_is_chance(status)
                ? "nothing was chosen of what the program submits again, or nothing of it can be "
                  "sampled (--set sampler.api_probability=1 takes all)"
                : "nothing of what the program submits again can be sampled");
    else if (status->keeps_recordings && !pm_sentence_is_chance(status))
        say(text,
            "the program submits again what it recorded before copies of its shaders were compiled "
            "(--set debug.synchronous=true waits for them)");
    else if (status->keeps_recordings)
        say(text, "the program submits again what it recorded before copies of its shaders were "
                  "compiled, or nothing of it was chosen (--set debug.synchronous=true --set "
                  "sampler.api_probability=1 takes all)");
    else if (status->calls == 0 && (status->trying > 0 || status->comparing > 0))
        say(text, "what it drew was timed for the trials of its shaders: let it run longer");
    else if (status->calls == 0)
        say(text, "nothing was drawn with a shader that can be sampled");
    else if (pm_sentence_is_late(status))
        say(text,
            "no copy of a shader was compiled in time: let it run longer, on a machine that is not "
            "busy (or --set debug.synchronous=true waits for them)");
    else if (status->synchronous && is_sure(status))
        say(text, "none of %s draws was counted, though copies of their shaders were waited for",
            pm_grouped(status->calls, number));
    else
        say(text,
            "none of %s draws: one in %.0f is, once its shader's copy is compiled "
            "(--set sampler.api_probability=1 takes all)",
            pm_grouped(status->calls, number),
            status->api_probability > 0 ? 1 / status->api_probability : 0);
}

static void say_sampled(const struct pm_session_status *status, struct text *text)
{
    char sampled[PM_GROUPED_TEXT], calls[PM_GROUPED_TEXT];
    /* Somebody wants it so: no reason to look for one. */
    if (!status->why_not[0] && status->heartbeats > 0 && status->windows == 0 &&
        status->window_probability <= 0) {
        say(text, "sampling was off (sampler.window_probability is 0)");
        return;
    }
    if (status->why_not[0] || status->sampled == 0) {
        say(text, "sampled nothing: ");
        if (status->why_not[0])
            say(text, "%s%s%s", status->why_not, status->device[0] ? " on " : "", status->device);
        else
            say_why(status, text);
        return;
    }
    say(text, "sampled %s of %s draws in %u of %u shader%s, %.0f %% of their points",
        pm_grouped(status->sampled, sampled), pm_grouped(status->calls, calls),
        status->shaders_sampled, status->shaders, plural(status->shaders),
        status->points > 0 ? 100.0 * status->points_sampled / status->points : 100.0);
}

/* What of them is not by zeros or known words alone. */
static void say_by(const struct pm_session_status *status, struct text *text)
{
    if (status->by_blocks > 0)
        say(text, " (%u by blocks", status->by_blocks);
    if (status->by_recipe > 0)
        say(text, "%s%u by A-Z testing", status->by_blocks > 0 ? ", " : " (", status->by_recipe);
    if (status->by_blocks > 0 || status->by_recipe > 0)
        say(text, ")");
}

/* Hours that trials may need, beyond which frames say nothing to whoever waits for them. */
enum { FEW_HOURS = 1, MOST_HOURS = 24 };

static void say_frames_more(const struct pm_session_status *status, struct text *text)
{
    char number[PM_GROUPED_TEXT];
    const double seconds = (double)status->written - status->began;
    const double hours = status->heartbeats > 0 ? (double)status->frames_more /
                                                      (double)status->heartbeats * seconds / 3600
                                                : 0;
    if (hours > MOST_HOURS)
        say(text, ", and will not be decided within a day at this rate");
    else
        say(text, ", about %s more frames", pm_grouped(status->frames_more, number));
    if (hours >= FEW_HOURS && hours <= MOST_HOURS)
        say(text, ", %.0f hour%s at this rate", hours, hours < 1.5 ? "" : "s");
}

static void say_specialized(const struct pm_session_status *status, struct text *text)
{
    if (status->paused)
        say(text, "; paused: the game's own shaders are used");
    else if (status->specialized > 0) {
        say(text, "; %u shader%s specialized", status->specialized, plural(status->specialized));
        say_by(status, text);
    }
    if (!status->paused && status->specialized > 0 && status->fastest > 0) {
        const char *what = status->of_passes ? "pass" : "draws";
        if (status->fastest - status->slowest < 0.05)
            say(text, ", its %s %.1f times as fast", what, status->fastest);
        else
            say(text, ", their %s %.1f to %.1f times as fast", what, status->slowest,
                status->fastest);
    }
    if (status->to_time > 0 && !status->paused)
        say(text, "; %u untried variant%s drawn with in this session, to be timed", status->to_time,
            status->to_time == 1 ? " is" : "s are");
    if (status->comparing > 0 && !status->paused)
        say(text, "; variants of %u shader%s are compared", status->comparing,
            plural(status->comparing));
    if (status->trying > 0 && !status->paused) {
        say(text, "; %u specialized shader%s %s still tried", status->trying,
            plural(status->trying), status->trying == 1 ? "is" : "are");
        if (status->frames_more > 0)
            say_frames_more(status, text);
        else
            say(text, ": nothing of %s was timed yet", status->trying == 1 ? "it" : "them");
    }
    if (status->dropped > 0)
        say(text, "; %u %s no faster and dropped", status->dropped,
            status->dropped == 1 ? "was" : "were");
}

void pm_sentence(const struct pm_session_status *status, size_t left_alone, const char *next,
                 char text[static PM_SENTENCE_TEXT])
{
    struct text all = {text, PM_SENTENCE_TEXT};
    say_sampled(status, &all);
    say_specialized(status, &all);
    if (left_alone > 0)
        say(&all, "; %zu shader%s left alone", left_alone, left_alone == 1 ? " is" : "s are");
    if (next)
        say(&all, "; next: %s", next);
}

void pm_sentence_short(const struct pm_session_status *status, char text[static PM_SENTENCE_TEXT])
{
    struct text all = {text, PM_SENTENCE_TEXT};
    if (status->paused)
        say(&all, "piecemeal: paused");
    else if (status->why_not[0])
        say(&all, "piecemeal: off");
    else
        say(&all, "piecemeal: %u of %u shaders sampled, %u faster, %u tried",
            status->shaders_sampled, status->shaders, status->specialized, status->trying);
}

size_t pm_sentence_left_alone(const char *game, double since)
{
    struct pm_left_alone left;
    struct pm_error error = {0};
    struct pm_arena *arena = pm_arena_create(0);
    const bool read = arena && pm_left_alone_read(NULL, game, (int64_t)since, arena, &left, &error);
    const size_t shaders = read ? left.shaders : 0;
    pm_arena_destroy(arena);
    return shaders;
}

/* ---- which session ---- */

struct search {
    double since;
    const char *run; /* NULL: any */
    struct pm_session_status *best;
    bool found;
};

static bool is_better(const struct pm_session_status *a, const struct pm_session_status *b,
                      bool of_one_run)
{
    if (!of_one_run && a->began != b->began)
        return a->began > b->began;
    if (a->sampled != b->sampled)
        return a->sampled > b->sampled;
    if (a->heartbeats != b->heartbeats)
        return a->heartbeats > b->heartbeats;
    return a->began > b->began;
}

static void compare(void *user, const struct pm_session_status *status)
{
    struct search *search = user;
    if (status->began < search->since || (search->run && strcmp(status->run, search->run) != 0) ||
        (search->found && !is_better(status, search->best, search->since > 0)))
        return;
    *search->best = *status;
    search->found = true;
}

bool pm_sentence_of(const char *game, double since, struct pm_session_status *status)
{
    struct search search = {
        .since = since, .run = since > 0 ? pm_run_name() : NULL, .best = status};
    pm_session_status_each(game, compare, &search);
    return search.found;
}
