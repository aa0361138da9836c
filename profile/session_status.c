#include "profile/session_status.h"

#include "base/file.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 10 };

enum type { TEXT, FLAG, SECONDS, COUNT, SMALL, NUMBER };

/* The members of the file. */
#define MEMBER(name, type, field)                                                                  \
    {                                                                                              \
        name, type, offsetof(struct pm_session_status, field)                                      \
    }
static const struct member {
    const char *name;
    enum type type;
    size_t offset;
} members[] = {
    MEMBER("game", TEXT, game),
    MEMBER("device", TEXT, device),
    MEMBER("run", TEXT, run),
    MEMBER("why_not", TEXT, why_not),
    MEMBER("process", SECONDS, process),
    MEMBER("began", NUMBER, began),
    MEMBER("written", SECONDS, written),
    MEMBER("ended", FLAG, ended),
    MEMBER("paused", FLAG, paused),
    MEMBER("bound_by_cpu", FLAG, bound_by_cpu),
    MEMBER("keeps_recordings", FLAG, keeps_recordings),
    MEMBER("synchronous", FLAG, synchronous),
    MEMBER("heartbeats", COUNT, heartbeats),
    MEMBER("windows", COUNT, windows),
    MEMBER("calls", COUNT, calls),
    MEMBER("sampled", COUNT, sampled),
    MEMBER("api_probability", NUMBER, api_probability),
    MEMBER("window_probability", NUMBER, window_probability),
    MEMBER("shaders", SMALL, shaders),
    MEMBER("shaders_sampled", SMALL, shaders_sampled),
    MEMBER("points", SMALL, points),
    MEMBER("points_sampled", SMALL, points_sampled),
    MEMBER("specialized", SMALL, specialized),
    MEMBER("specialized_by_blocks", SMALL, by_blocks),
    MEMBER("specialized_by_recipe", SMALL, by_recipe),
    MEMBER("to_time", SMALL, to_time),
    MEMBER("comparing", SMALL, comparing),
    MEMBER("trying", SMALL, trying),
    MEMBER("dropped", SMALL, dropped),
    MEMBER("fastest", NUMBER, fastest),
    MEMBER("slowest", NUMBER, slowest),
    MEMBER("of_passes", FLAG, of_passes),
    MEMBER("frames_more", COUNT, frames_more),
};
#undef MEMBER
enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

/* $PLACE_DATA/KIND/<safe name of game>; malloc'ed. */
static char *path_of(const char *kind, const char *game)
{
    char *safe = pm_file_safe_name(game), *name = NULL, *path = NULL;
    if (safe && asprintf(&name, "%s/%s", kind, safe) >= 0)
        path = pm_place_path(PM_PLACE_DATA, name);
    else
        name = NULL;
    free(name);
    free(safe);
    return path;
}

/* ---- the process ---- */

/* When it began, in seconds since the epoch by the clock as it is now; 0: that cannot be told. */
static double start_of(pid_t process)
{
    char path[64], text[1024] = "";
    unsigned long long ticks = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    const size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = '\0';
    /* proc(5): the 22nd field; the second is a name in parentheses, which may have any in it. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    struct timespec now, up;
    if (!at || sscanf(at, " %llu", &ticks) != 1 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return 0;
    return (double)(now.tv_sec - up.tv_sec) + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Is there the process that wrote it then, and not another one that got its number? */
static bool lives(int64_t process, int64_t written)
{
    enum { UNSURE_SECONDS = 2 }; /* of rounding */
    return process > 0 && process <= INT32_MAX &&
           (kill((pid_t)process, 0) == 0 || errno != ESRCH) &&
           start_of((pid_t)process) <= (double)(written + UNSURE_SECONDS);
}

bool pm_session_runs(const struct pm_session_status *status)
{
    return !status->ended && lives(status->process, status->written);
}

/* ---- writing ---- */

static cJSON *to_json(const struct pm_session_status *status)
{
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; json && i < MEMBERS; i++) {
        const struct member *member = &members[i];
        const void *at = (const char *)status + member->offset;
        switch (member->type) {
        case TEXT:
            cJSON_AddStringToObject(json, member->name, at);
            break;
        case FLAG:
            cJSON_AddBoolToObject(json, member->name, *(const bool *)at);
            break;
        case SECONDS:
            cJSON_AddNumberToObject(json, member->name, (double)*(const int64_t *)at);
            break;
        case COUNT:
            cJSON_AddNumberToObject(json, member->name, (double)*(const uint64_t *)at);
            break;
        case SMALL:
            cJSON_AddNumberToObject(json, member->name, *(const uint32_t *)at);
            break;
        case NUMBER:
            cJSON_AddNumberToObject(json, member->name, *(const double *)at);
            break;
        }
    }
    return json;
}

/* Removes what is of a process that is over. */
static void tidy(void *user, const char *path)
{
    (void)user;
    struct stat file;
    const long process = strtol(strrchr(path, '/') + 1, NULL, 10);
    if (process > 0 && stat(path, &file) == 0 && !lives(process, file.st_mtime))
        unlink(path);
}

char *pm_session_status_folder(const char *game)
{
    return path_of("status", game);
}

bool pm_session_status_write(const char *known, const struct pm_session_status *status,
                             unsigned device, bool first, struct pm_error *error)
{
    char *folder = known ? strdup(known) : pm_session_status_folder(status->game), *path = NULL;
    cJSON *json = to_json(status);
    char *text = json ? cJSON_Print(json) : NULL;
    bool ok = folder && text &&
              asprintf(&path, "%s/%lld-%u.json", folder, (long long)status->process, device) >= 0;
    if (!ok) {
        path = NULL;
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    if (ok && first)
        pm_folder_each(folder, "", tidy, NULL);
    ok = ok && pm_make_folder(folder, error) && pm_file_put(path, text, strlen(text), error);
    cJSON_free(text);
    cJSON_Delete(json);
    free(path);
    free(folder);
    return ok;
}

/* ---- reading ---- */

/* A number that is none, or that does not fit, is 0. */
static double number_of(const cJSON *item, double most)
{
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= most
               ? item->valuedouble
               : 0;
}

static void from_json(const cJSON *json, struct pm_session_status *status)
{
    memset(status, 0, sizeof(*status));
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct member *member = &members[i];
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, member->name);
        void *at = (char *)status + member->offset;
        switch (member->type) {
        case TEXT:
            snprintf(at, PM_STATUS_TEXT, "%s", cJSON_IsString(item) ? item->valuestring : "");
            break;
        case FLAG:
            *(bool *)at = cJSON_IsTrue(item);
            break;
        case SECONDS:
            *(int64_t *)at = (int64_t)number_of(item, 1e15);
            break;
        case COUNT:
            *(uint64_t *)at = (uint64_t)number_of(item, 1e15);
            break;
        case SMALL:
            *(uint32_t *)at = (uint32_t)number_of(item, UINT32_MAX);
            break;
        case NUMBER:
            *(double *)at = number_of(item, 1e15);
            break;
        }
    }
}

struct visiting {
    void (*visit)(void *user, const struct pm_session_status *status);
    void *user;
};

static void visit_file(void *user, const char *path)
{
    const struct visiting *visiting = user;
    struct pm_buffer text;
    struct pm_session_status status;
    pm_buffer_init(&text, MOST_BYTES);
    cJSON *json = pm_file_read(path, &text, NULL) && text.size > 0
                      ? cJSON_ParseWithLength((const char *)text.data, text.size)
                      : NULL;
    if (cJSON_IsObject(json)) {
        from_json(json, &status);
        visiting->visit(visiting->user, &status);
    }
    cJSON_Delete(json);
    pm_buffer_finish(&text);
}

static void visit_folder(void *user, const char *folder)
{
    pm_folder_each(folder, ".json", visit_file, user);
}

void pm_session_status_each(const char *game,
                            void (*visit)(void *user, const struct pm_session_status *status),
                            void *user)
{
    struct visiting visiting = {visit, user};
    char *folder = game ? pm_session_status_folder(game) : pm_place_path(PM_PLACE_DATA, "status");
    if (game)
        visit_folder(&visiting, folder);
    else
        pm_folder_each(folder, "", visit_folder, &visiting);
    free(folder);
}

/* ---- what it is to do ---- */

char *pm_session_control_path(const char *game)
{
    return path_of("control", game);
}

bool pm_session_is_paused_by(const char *path)
{
    struct pm_buffer text;
    pm_buffer_init(&text, 64);
    const bool paused = path && access(path, F_OK) == 0 && pm_file_read(path, &text, NULL) &&
                        text.size >= 5 && memcmp(text.data, "pause", 5) == 0;
    pm_buffer_finish(&text);
    return paused;
}

bool pm_session_is_paused(const char *game)
{
    char *path = pm_session_control_path(game);
    const bool paused = pm_session_is_paused_by(path);
    free(path);
    return paused;
}

bool pm_session_pause(const char *game, bool paused, struct pm_error *error)
{
    char *path = pm_session_control_path(game), *folder = pm_place_path(PM_PLACE_DATA, "control");
    bool ok = (path && folder) || pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    if (ok && paused)
        ok = pm_make_folder(folder, error) && pm_file_put(path, "pause\n", 6, error);
    else if (ok && unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        ok = pm_fail_errno(error, errno, "%s", path);
    free(folder);
    free(path);
    return ok;
}
