#include "tools/bisect/session.h"

#include "base/config.h"
#include "base/file.h"
#include "profile/game_note.h"
#include "profile/trace_events.h"
#include "profile/variant_parts.h"
#include "profile/verdicts.h"
#include "tools/common/launch.h"
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NO_ANSWER = 125 /* of a check, as `git bisect run` has it */, MOST_OPEN = 16 };

/* Of a file to compare, and of what happened in a session. */
#define MOST_BYTES ((size_t)1 << 30)

/* ---- files ---- */

/* A path in the bisection's folder; NULL: *error. */
static char *path_of(struct pm_bisection *bisection, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", bisection->folder, name) >= 0)
        return path;
    pm_fail(&bisection->error, PM_ERROR_MEMORY, "no memory for a path");
    return NULL;
}

char *pm_bisection_variants(const struct pm_bisection *bisection)
{
    char *path = NULL;
    return asprintf(&path, "%s/variants", bisection->folder) < 0 ? NULL : path;
}

char *pm_bisection_verdicts(const struct pm_bisection *bisection)
{
    char *path = NULL;
    return asprintf(&path, "%s/known", bisection->folder) < 0 ? NULL : path;
}

static bool set(const char *variable, const char *value, struct pm_error *error)
{
    return setenv(variable, value, 1) == 0 || pm_fail_errno(error, errno, "setting %s", variable);
}

/* What trials have found before (variants that were faster or slower) is known to each session, in
 * a journal of its own. */
static bool give_verdicts(struct pm_bisection *bisection, const char *journal)
{
    char *known = pm_bisection_verdicts(bisection), *to = path_of(bisection, journal);
    const bool ok = known && to && pm_verdicts_copy(known, to, NULL, &bisection->error);
    free(to);
    free(known);
    return ok;
}

static bool set_path(struct pm_bisection *bisection, const char *variable, const char *name)
{
    char *path = path_of(bisection, name);
    const bool ok = path && set(variable, path, &bisection->error);
    free(path);
    return ok;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

/* ---- what is the same in each session ---- */

static bool set_all(struct pm_error *error)
{
    static const char *const keys[][2] = {
        {"PIECEMEAL_DEBUG_SYNCHRONOUS", "true"},       {"PIECEMEAL_DEBUG_TRUST_VARIANTS", "true"},
        {"PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0"}, {"PIECEMEAL_OPTIMIZE_RETRY_SHARE", "0"},
        {"PIECEMEAL_CONSENT_UPLOAD", "false"},
    };
    bool ok = pm_launch_environment(error);
    for (size_t i = 0; ok && i < sizeof keys / sizeof *keys; i++)
        ok = set(keys[i][0], keys[i][1], error);
    return ok;
}

bool pm_bisection_begin(struct pm_bisection *bisection, struct pm_error *error)
{
    const char *place = getenv("TMPDIR");
    bisection->status = -1;
    snprintf(bisection->folder, sizeof bisection->folder, "%s/piecemeal-bisect-XXXXXX",
             place && place[0] == '/' ? place : "/tmp");
    if (!mkdtemp(bisection->folder)) {
        pm_fail_errno(error, errno, "%s", bisection->folder);
        bisection->folder[0] = '\0';
        return false;
    }
    char *variants = pm_bisection_variants(bisection);
    char *databases = bisection->local ? pm_place_path(PM_PLACE_DATA, "local/databases") : NULL;
    char *known = pm_bisection_verdicts(bisection);
    bool ok = (variants && known) || pm_fail(error, PM_ERROR_MEMORY, "no memory for a path");
    ok = ok && pm_make_folder(variants, error) && pm_verdicts_copy(NULL, known, NULL, error) &&
         set_all(error) && (!databases || set("PIECEMEAL_DATABASES", databases, error));
    free(databases);
    free(known);
    free(variants);
    return ok;
}

void pm_bisection_end(struct pm_bisection *bisection)
{
    if (bisection->folder[0])
        nftw(bisection->folder, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
    pm_names_finish(&bisection->games);
}

/* ---- one session ---- */

static bool empty_variants(struct pm_bisection *bisection)
{
    char *folder = pm_bisection_variants(bisection);
    const bool ok = folder || pm_fail(&bisection->error, PM_ERROR_MEMORY, "no memory for a path");
    if (ok)
        nftw(folder, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
    const bool made = ok && pm_make_folder(folder, &bisection->error);
    free(folder);
    return made;
}

static bool prepare(struct pm_bisection *bisection, const char *withhold, bool keeps)
{
    char name[64];
    char *list = path_of(bisection, "withhold");
    bool ok = list && pm_file_put(list, withhold, strlen(withhold), &bisection->error) &&
              set("PIECEMEAL_OPTIMIZE_WITHHOLD", list, &bisection->error);
    free(list);
    snprintf(name, sizeof name, "journal-%u", bisection->sessions);
    ok = ok && give_verdicts(bisection, name) && set_path(bisection, "PIECEMEAL_JOURNAL", name);
    snprintf(name, sizeof name, "trace-%u", bisection->sessions);
    ok = ok && set_path(bisection, "PIECEMEAL_TRACE_FILE", name);
    if (ok && keeps)
        ok = empty_variants(bisection);
    char *notes = ok ? path_of(bisection, "games") : NULL;
    ok = notes && pm_file_put(notes, "", 0, &bisection->error) &&
         set(PM_GAME_NOTE_VARIABLE, notes, &bisection->error);
    free(notes);
    if (!keeps)
        unsetenv("PIECEMEAL_DEBUG_VARIANTS_FOLDER");
    return ok && (!keeps || set_path(bisection, "PIECEMEAL_DEBUG_VARIANTS_FOLDER", "variants"));
}

/* Adds what a pipeline was made with, "KEY PART" of each part. */
static bool add_used(struct pm_names *used, const struct pm_trace_event *event)
{
    uint32_t parts;
    if (event->type != PM_TRACE_BEGIN ||
        strncmp(event->name, PM_TRACE_BUILDS, strlen(PM_TRACE_BUILDS)) != 0 ||
        !pm_parts_parse(event->name + strlen(PM_TRACE_BUILDS), &parts))
        return true;
    bool ok = true;
    for (unsigned i = 0; ok && i < PM_PART_COUNT; i++) {
        char name[2 * PM_TRACE_TEXT];
        snprintf(name, sizeof name, "%s %s", event->shader, pm_part_name(i));
        ok = !(parts >> i & 1) || pm_names_add(used, name);
    }
    return ok;
}

/* Adds what the driver was given pipelines with, whatever it made of them. */
static bool read_used(struct pm_bisection *bisection, struct pm_names *used)
{
    char name[64];
    snprintf(name, sizeof name, "trace-%u", bisection->sessions);
    char *path = path_of(bisection, name);
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    /* Without a device there is none. */
    bool ok = path && (access(path, F_OK) != 0 || pm_file_read(path, &text, &bisection->error));
    char *rest = ok ? (char *)text.data : NULL;
    for (char *line; ok && (line = strsep(&rest, "\n")) != NULL;) {
        struct pm_trace_event event;
        if (pm_trace_events_parse(line, &event, NULL) && !add_used(used, &event))
            ok = pm_fail(&bisection->error, PM_ERROR_MEMORY, "no memory for shaders' keys");
    }
    pm_buffer_finish(&text);
    free(path);
    return ok;
}

static bool read_games(struct pm_bisection *bisection)
{
    char *notes = path_of(bisection, "games");
    const bool ok = notes && pm_game_note_read(notes, &bisection->games, &bisection->error);
    free(notes);
    return ok;
}

static bool is_same(const struct pm_buffer *a, const struct pm_buffer *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* The file as it is; with what it was where everything is good, kept at the first time. */
static enum pm_answer compare(struct pm_bisection *bisection, const struct timespec *since)
{
    struct pm_error *error = &bisection->error;
    struct pm_buffer now, good;
    struct stat status;
    char *kept = path_of(bisection, "good");
    enum pm_answer answer = PM_NO_ANSWER;
    pm_buffer_init(&now, MOST_BYTES);
    pm_buffer_init(&good, MOST_BYTES);
    if (stat(bisection->compare, &status) != 0)
        pm_fail_errno(error, errno, "%s", bisection->compare);
    else if (status.st_mtim.tv_sec < since->tv_sec ||
             (status.st_mtim.tv_sec == since->tv_sec && status.st_mtim.tv_nsec < since->tv_nsec))
        pm_fail(error, PM_ERROR_INPUT, "%s: the program has not written it", bisection->compare);
    else if (!kept || !pm_file_read(bisection->compare, &now, error))
        answer = PM_NO_ANSWER;
    else if (access(kept, F_OK) != 0)
        answer = pm_file_put(kept, now.data, now.size, error) ? PM_GOOD : PM_NO_ANSWER;
    else if (pm_file_read(kept, &good, error))
        answer = is_same(&now, &good) ? PM_GOOD : PM_BAD;
    pm_buffer_finish(&good);
    pm_buffer_finish(&now);
    free(kept);
    return answer;
}

static enum pm_answer run_check(struct pm_bisection *bisection)
{
    char *const command[] = {"sh", "-c", (char *)(uintptr_t)bisection->check, NULL};
    int status;
    if (!pm_launch_wait(command, &status, &bisection->error))
        return PM_NO_ANSWER;
    if (status == NO_ANSWER) {
        pm_fail(&bisection->error, PM_ERROR_STATE, "the check ended with %d: it cannot tell",
                status);
        return PM_NO_ANSWER;
    }
    return status == 0 ? PM_GOOD : PM_BAD;
}

/* Of a program that has ended as it does where it is good. */
static enum pm_answer look(struct pm_bisection *bisection, const struct timespec *since)
{
    const enum pm_answer answer = bisection->compare ? compare(bisection, since) : PM_GOOD;
    return answer == PM_GOOD && bisection->check ? run_check(bisection) : answer;
}

enum pm_answer pm_bisection_play(struct pm_bisection *bisection, const char *withhold, bool keeps,
                                 struct pm_names *used)
{
    struct timespec since;
    int status;
    bisection->sessions++;
    /* The coarse clock is the one that files' times are of. */
    clock_gettime(CLOCK_REALTIME_COARSE, &since);
    if (!prepare(bisection, withhold, keeps) ||
        !pm_launch_wait(bisection->program, &status, &bisection->error) || !read_games(bisection) ||
        (used && !read_used(bisection, used)))
        return PM_NO_ANSWER;
    if (pm_launch_asked() != 0) {
        pm_fail(&bisection->error, PM_ERROR_STATE, "it was asked to end");
        return PM_NO_ANSWER;
    }
    if (bisection->status < 0)
        bisection->status = status;
    return status != bisection->status ? PM_BAD : look(bisection, &since);
}
