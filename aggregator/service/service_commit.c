/*
 * Group commit: while one transaction is being written, uploads gather in the queue, and all of
 * them are the next one. A connection is suspended from the time its upload is queued until the
 * commit that holds it is durable.
 *
 * After a group that could not be stored and while no other comes, something that comes to nothing
 * is committed now and then: who asks whether this service is well (/healthz) before it sends
 * anything would else never hear that it is again.
 */
#include "aggregator/service/service_state.h"

#include "base/clock.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_A_DAY 86400
/* When to come again with a game for which there is no room: an operator or the retention has to
 * make some. A client has other games to speak of meanwhile. */
#define NO_ROOM_SECONDS 3600
#define AWAY_SECONDS 10                 /* of a storage on another machine */
#define WAITS 3                         /* in one group, for what others hold */
#define SAY_SECONDS 60                  /* from one line about that to the next */
#define AGE_NS (INT64_C(5) * PM_SECOND) /* beyond which the queue takes no more */
#define REHEARSE_SECONDS 1
#define REHEARSE_FULL_SECONDS 5 /* a full disk may have room for less than an upload */

bool pm_commit_enqueue(struct pm_request *request)
{
    struct pm_service *service = request->service;
    pthread_mutex_lock(&service->mutex);
    const bool accepted = !service->stopping && service->queued < service->queue_limit;
    if (accepted) {
        /* Before the committer can see it, which resumes it. */
        MHD_suspend_connection(request->connection);
        request->state = PM_REQUEST_SUSPENDED;
        request->next = NULL;
        request->queued_at = pm_now();
        if (service->last)
            service->last->next = request;
        else
            service->first = request;
        service->last = request;
        service->queued++;
        service->unanswered++;
        pthread_cond_signal(&service->queue_changed);
    }
    pthread_mutex_unlock(&service->mutex);
    return accepted;
}

uint32_t pm_commit_queued(struct pm_service *service)
{
    pthread_mutex_lock(&service->mutex);
    const uint32_t queued = service->queued;
    pthread_mutex_unlock(&service->mutex);
    return queued;
}

bool pm_commit_is_overloaded(struct pm_service *service)
{
    pthread_mutex_lock(&service->mutex);
    const bool overloaded = service->queued >= service->queue_limit ||
                            (service->first && pm_now() - service->first->queued_at > AGE_NS);
    pthread_mutex_unlock(&service->mutex);
    return overloaded;
}

/* When to rehearse, monotonic; under the mutex. */
static struct timespec rehearsal_after(const struct pm_service *service)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec +=
        service->commit_error.code == PM_ERROR_LIMIT ? REHEARSE_FULL_SECONDS : REHEARSE_SECONDS;
    return time;
}

/* Waits for work. *taken is 0 when the service stops and nothing is left, or with *idle: the last
 * group could not be stored, and none has come since for a while. */
static void take_group(struct pm_service *service, struct pm_request *group[static PM_COMMIT_GROUP],
                       size_t *taken, bool *idle)
{
    size_t count = 0, shaders = 0;
    pthread_mutex_lock(&service->mutex);
    const struct timespec until = rehearsal_after(service);
    *idle = false;
    while (!service->first && !service->stopping && !*idle) {
        if (service->commit_failed)
            *idle = pthread_cond_timedwait(&service->queue_changed, &service->mutex, &until) ==
                    ETIMEDOUT;
        else
            pthread_cond_wait(&service->queue_changed, &service->mutex);
    }
    while (service->first && count < PM_COMMIT_GROUP && shaders < PM_COMMIT_SHADERS) {
        shaders += service->first->profile.shader_count;
        group[count++] = service->first;
        service->first = service->first->next;
        service->queued--;
    }
    if (!service->first)
        service->last = NULL;
    *idle = *idle && count == 0 && !service->stopping;
    *taken = count;
    pthread_mutex_unlock(&service->mutex);
}

/* What an operator can do about it. */
static const char *remedy(const struct pm_error *error)
{
    switch (error->code) {
    case PM_ERROR_LIMIT:
        return "make space; it goes on by itself then";
    case PM_ERROR_NETWORK:
        return "it goes on by itself when the engine can be reached again";
    case PM_ERROR_UNSURE:
        return "it goes on by itself when the standby confirms commits, or "
               "synchronous_standby_names asks for none";
    case PM_ERROR_STATE:
        return "a `piecemeal db` command or a second server has it; it goes on by itself when that "
               "has ended";
    default:
        return "`piecemeal serve --check` says more of the storage";
    }
}

/* The storage is well, but for what another holds of it or while it is slow. */
static bool is_wait(const struct pm_error *error)
{
    return error->code == PM_ERROR_CONFLICT || error->code == PM_ERROR_TIMEOUT;
}

static void tell_wait(struct pm_service *service, const struct pm_error *error)
{
    const int64_t now = pm_service_now();
    atomic_fetch_add(&service->metrics.commit_conflicts, 1);
    if (service->said_apart != 0 && now - service->said_apart < SAY_SECONDS)
        return;
    service->said_apart = now;
    pm_log_warning(
        service->log,
        "uploads wait in vain %s: %s. Clients are told to come again (docs/operating.md, prepared "
        "transactions)",
        error->code == PM_ERROR_TIMEOUT ? "for the engine, or for what another holds on another "
                                          "of its machines"
                                        : "for what another holds",
        error->message);
}

/* And says it where that was not said yet; an engine may be away for one reason after another. */
static void note(struct pm_service *service, bool failed, const struct pm_error *error,
                 bool *before)
{
    pthread_mutex_lock(&service->mutex);
    *before = service->commit_failed;
    const bool other = failed && (!*before || service->commit_error.code != error->code ||
                                  (error->code == PM_ERROR_NETWORK &&
                                   strcmp(service->commit_error.message, error->message) != 0));
    service->commit_failed = failed;
    if (failed)
        service->commit_error = *error;
    pthread_mutex_unlock(&service->mutex);
    if (other)
        pm_log_error(service->log,
                     "cannot store uploads: %s. Clients are told so and keep what they have (%s)",
                     error->message, remedy(error));
}

static void remember(struct pm_service *service, bool failed, const struct pm_error *error)
{
    bool before;
    if (failed && is_wait(error))
        return;
    note(service, failed, error, &before);
    atomic_fetch_add(&service->metrics.commit_failures, failed);
    if (!failed && before)
        pm_log_info(service->log, "uploads are stored again");
}

static void rehearse(struct pm_service *service)
{
    struct pm_error error = {0};
    bool before;
    const bool done = pm_aggregator_rehearse(service->aggregator, &error);
    note(service, !done, &error, &before);
    if (done)
        pm_log_info(service->log, "uploads can be stored again");
}

static unsigned status_of(const struct pm_ingest_outcome *outcome)
{
    switch (outcome->result) {
    case PM_INGEST_STORED:
        return MHD_HTTP_NO_CONTENT;
    case PM_INGEST_DUPLICATE:
        return MHD_HTTP_OK;
    case PM_INGEST_NO_ROOM:
        return MHD_HTTP_INSUFFICIENT_STORAGE;
    case PM_INGEST_REFUSED:
        break;
    }
    return MHD_HTTP_BAD_REQUEST;
}

static bool ingest(struct pm_service *service, struct pm_request *const *group, size_t count,
                   struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_prepared *prepared[PM_COMMIT_GROUP];
    const struct pm_ingest_source *sources[PM_COMMIT_GROUP];
    const int64_t before = pm_now();
    for (size_t i = 0; i < count; i++) {
        prepared[i] = group[i]->prepared;
        sources[i] = group[i]->has_source ? &group[i]->source : NULL;
    }
    const bool done = pm_aggregator_ingest_prepared(service->aggregator, prepared, sources, count,
                                                    outcomes, error);
    pm_metrics_time(&service->metrics.commits, pm_now() - before);
    if (!done && is_wait(error))
        tell_wait(service, error);
    return done;
}

/* Why nothing of it was stored. */
static void answer_failure(const struct pm_service *service, struct pm_request *request,
                           enum pm_code code)
{
    const char *text = "the upload could not be stored; the log says why";
    request->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (code == PM_ERROR_LIMIT) {
        request->status = MHD_HTTP_INSUFFICIENT_STORAGE;
        request->field = "storage";
        text = "the storage is full";
    } else if (code == PM_ERROR_NETWORK || code == PM_ERROR_UNSURE) {
        request->status = MHD_HTTP_TOO_MANY_REQUESTS;
        request->retry = AWAY_SECONDS;
        request->field = "storage";
        text = code == PM_ERROR_NETWORK ? "the storage cannot be reached"
                                        : "the storage's standby did not confirm the upload";
    } else if (pm_aggregator_is_interrupted(service->aggregator)) {
        request->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        request->field = "service";
        text = "the service is stopping and could not store the upload any more";
    } else if (code == PM_ERROR_CONFLICT || code == PM_ERROR_TIMEOUT) {
        request->status = MHD_HTTP_TOO_MANY_REQUESTS;
        request->retry = AWAY_SECONDS;
        request->field = "storage";
        text = code == PM_ERROR_CONFLICT ? "the storage is held by another just now"
                                         : "the storage takes too long just now";
    }
    pm_fail(&request->error, code, "%s", text);
}

/* Answers each request, which is its connection's from then on. outcomes NULL: nothing was stored,
 * for this reason. */
static void answer(struct pm_service *service, struct pm_request *const *group, size_t count,
                   const struct pm_ingest_outcome *outcomes, const struct pm_error *reason)
{
    remember(service, !outcomes, reason);
    for (size_t i = 0; i < count; i++) {
        if (outcomes) {
            group[i]->status = status_of(&outcomes[i]);
            group[i]->error = outcomes[i].reason;
            group[i]->disagrees =
                outcomes[i].result == PM_INGEST_REFUSED && outcomes[i].left_out > 0;
            if (outcomes[i].result == PM_INGEST_NO_ROOM)
                group[i]->retry = NO_ROOM_SECONDS;
            if (outcomes[i].result == PM_INGEST_STORED && group[i]->has_source)
                pm_tally_add(&service->tally, group[i]->source.digest,
                             sizeof(group[i]->source.digest), (int64_t)time(NULL) / SECONDS_A_DAY);
            if (outcomes[i].result == PM_INGEST_STORED)
                pm_metrics_count_stored(&service->metrics, &group[i]->profile);
        } else {
            answer_failure(service, group[i], reason->code);
        }
        group[i]->state = PM_REQUEST_COMMITTED;
        MHD_resume_connection(group[i]->connection);
    }
}

/* May it be one upload's doing? A storage that is full, locked or broken is nobody's, and each
 * attempt at a locked one takes its time. */
static bool is_of_one(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_MEMORY;
}

static bool ingest_one(struct pm_service *service, struct pm_request *const *request,
                       struct pm_ingest_outcome *outcome, struct pm_error *error)
{
    const bool done = ingest(service, request, 1, outcome, error);
    if (done || is_wait(error))
        pm_apart_note(&service->apart, &request[0]->profile, done ? NULL : error);
    return done;
}

/* Each by itself, so that the others do not suffer from one. Whose game waits in vain comes behind
 * the others. After so many that wait in vain, the rest is to come again; so are those that are
 * known to wait by then, unless they are `known` from the beginning. */
static void commit_apart(struct pm_service *service, struct pm_request **group, size_t count,
                         bool known, struct pm_ingest_outcome *outcomes)
{
    struct pm_error error = {0};
    unsigned waits = known ? 1 : WAITS;
    bool more = true;
    for (; more && count > 0; group++, count--) {
        if (!known && pm_apart_knows(&service->apart, &group[0]->profile)) {
            answer(service, group, 1, NULL, &service->apart.reason);
            continue;
        }
        const bool done = ingest_one(service, group, outcomes, &error);
        const bool waited = !done && is_wait(&error);
        if (waited)
            pm_apart_game_last(group[0]->profile.game, group + 1, count - 1);
        waits -= waited;
        more = done || is_of_one(&error) || (waited && waits > 0);
        answer(service, group, 1, done ? outcomes : NULL, &error);
    }
    /* It may be that nobody holds anything of these. */
    if (!known && is_wait(&error))
        error.code = PM_ERROR_TIMEOUT;
    if (count > 0)
        answer(service, group, count, NULL, &error);
}

static void commit_together(struct pm_service *service, struct pm_request **group, size_t count,
                            struct pm_ingest_outcome *outcomes)
{
    struct pm_error error = {0};
    const bool done = ingest(service, group, count, outcomes, &error);
    const bool waited = !done && is_wait(&error);
    if (!done && count > 1 && (waited || is_of_one(&error))) {
        commit_apart(service, group, count, false, outcomes);
        return;
    }
    if (waited)
        pm_apart_note(&service->apart, &group[0]->profile, &error);
    answer(service, group, count, done ? outcomes : NULL, &error);
}

static void commit(struct pm_service *service, struct pm_request **group, size_t count)
{
    struct pm_ingest_outcome *outcomes = calloc(count, sizeof(*outcomes));
    struct pm_error error = {0};
    if (!outcomes) {
        pm_fail(&error, PM_ERROR_MEMORY, "out of memory for a group");
        answer(service, group, count, NULL, &error);
        return;
    }
    const size_t waiting = pm_apart_sort(&service->apart, group, count);
    count -= waiting;
    if (count > 0)
        commit_together(service, group, count, outcomes);
    if (waiting > 0 && pm_apart_is_due(&service->apart))
        commit_apart(service, group + count, waiting, true, outcomes);
    else if (waiting > 0)
        answer(service, group + count, waiting, NULL, &service->apart.reason);
    free(outcomes);
}

void *pm_commit_run(void *user)
{
    struct pm_service *service = user;
    struct pm_request *group[PM_COMMIT_GROUP];
    size_t count;
    bool idle;
    for (;;) {
        take_group(service, group, &count, &idle);
        if (idle) {
            rehearse(service);
            continue;
        }
        if (count == 0)
            return NULL;
        commit(service, group, count);
    }
}
