#include "layer/trial/pair_list.h"

#include "base/clock.h"
#include "layer/core/build_name.h"
#include "layer/core/session.h"
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum { FIRST_ROOM = 8 };

struct pm_pairs_store *pm_pair_store_open(const struct pm_device *device)
{
    char build[PM_BUILD_NAME_BYTES];
    (void)pm_build_name(build);
    return pm_pairs_store_open(NULL, device->instance->game, build);
}

static bool make_room(struct pm_pair_list *list)
{
    if (list->count < list->room)
        return true;
    const uint32_t room = list->room ? 2 * list->room : FIRST_ROOM;
    double(*time)[2] = realloc(list->time, room * sizeof(*time));
    if (time == NULL)
        return false;
    list->time = time;
    list->room = room;
    return true;
}

bool pm_pair_list_add(struct pm_pair_list *list, const double time[static 2])
{
    if (!make_room(list))
        return false;
    list->time[list->count][0] = time[0];
    list->time[list->count][1] = time[1];
    list->count++;
    return true;
}

static void take(struct pm_pair_list *list, const struct pm_pair_owner *owner,
                 const struct pm_kept_pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->count; i++) {
        const double time[] = {(double)pairs->time[i][0], (double)pairs->time[i][1]};
        if (!pm_pair_list_add(list, time))
            break;
    }
    list->recalled = list->kept = list->count;
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(owner->key, key);
    pm_log_info(owner->device->instance->log,
                "the trial of a specialized shader %.12s goes on behind %" PRIu32
                " pairs of earlier sessions",
                key, list->count);
}

void pm_pair_list_recall(struct pm_pair_list *list, const struct pm_pair_owner *owner)
{
    if (list->asked)
        return;
    list->asked = true;
    list->kept_at = pm_now();
    const struct pm_environment environment =
        pm_session_environment(owner->device, owner->environment);
    struct pm_kept_pairs pairs;
    /* With the last one there would be nothing more to time. */
    if (pm_pairs_store_read(owner->store, owner->key, owner->original, &environment, time(NULL),
                            PM_MOST_PAIRS - 1, &pairs) &&
        pairs.kind == owner->kind)
        take(list, owner, &pairs);
    free(pairs.time);
}

static void write_pairs(struct pm_pair_list *list, const struct pm_pair_owner *owner)
{
    struct pm_kept_pairs pairs = {owner->kind, list->count,
                                  malloc(list->count * sizeof *pairs.time)};
    struct pm_error error = {PM_ERROR_MEMORY, "no memory"};
    for (uint32_t i = 0; pairs.time != NULL && i < list->count; i++) {
        pairs.time[i][0] = (float)list->time[i][0];
        pairs.time[i][1] = (float)list->time[i][1];
    }
    const struct pm_environment environment =
        pm_session_environment(owner->device, owner->environment);
    if (pairs.time == NULL || !pm_pairs_store_keep(owner->store, owner->key, owner->original,
                                                   &environment, time(NULL), &pairs, &error))
        pm_log_info(owner->device->instance->log, "what a trial has timed is not kept: %s",
                    error.message);
    free(pairs.time);
    list->kept = list->count;
}

void pm_pair_list_keep(struct pm_pair_list *list, const struct pm_pair_owner *owner, bool ends)
{
    const int64_t now = pm_now();
    if (list->count == list->kept || (!ends && now < list->kept_at + PM_KEEP_NANOSECONDS))
        return;
    list->kept_at = now;
    write_pairs(list, owner);
}

void pm_pair_list_clear(struct pm_pair_list *list, const struct pm_pair_owner *owner)
{
    const struct pm_environment environment =
        pm_session_environment(owner->device, owner->environment);
    pm_pairs_store_forget(owner->store, owner->key, owner->original, &environment);
    free(list->time);
    *list = (struct pm_pair_list){.asked = list->asked, .kept_at = list->kept_at};
}

void pm_pair_list_finish(struct pm_pair_list *list)
{
    free(list->time);
    *list = (struct pm_pair_list){0};
}
