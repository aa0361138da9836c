#include "aggregator_client/sync_send.h"

#include "aggregator_client/redate.h"
#include "base/file.h"
#include <cjson/cJSON.h>
#include <string.h>
#include <time.h>

enum { ANSWER_BYTES = 1 << 16 };

/* 204 is the acknowledgement, 200 that it was seen before. A 200 with a page in it is not the
 * aggregator's: somebody between answers in its place, and counts nothing. */
static bool is_acknowledgement(const struct pm_http_answer *answer)
{
    if (answer->status == 204)
        return true;
    if (answer->status != 200 || answer->too_large)
        return false;
    if (answer->body.size == 0)
        return true;
    cJSON *json = cJSON_ParseWithLength((char *)answer->body.data, answer->body.size);
    bool object = cJSON_IsObject(json);
    cJSON_Delete(json);
    return object;
}

static enum pm_fate try_to_send(struct pm_log *log, struct pm_retry *retry, struct pm_http *http,
                                const struct pm_buffer *body, struct pm_refusal *refusal,
                                struct pm_error *why)
{
    static const char path[] = "/v1/uploads";
    pm_retry_restart(retry);
    for (;;) {
        struct pm_http_answer answer;
        uint32_t left = pm_retry_left(retry), wait = 0;
        refusal->trouble = PM_TROUBLE_SERVER;
        if (left == 0) {
            pm_fail(why, PM_ERROR_NETWORK, "%s: no time is left", path);
            break;
        }
        bool answered = pm_http_request(http, path, body, "", ANSWER_BYTES, left, &answer, why);
        enum pm_fate fate = PM_FATE_WAITING;
        bool again = !answered && why->code == PM_ERROR_NETWORK;
        if (answered && is_acknowledgement(&answer)) {
            fate = PM_FATE_ACKNOWLEDGED;
        } else if (answered) {
            pm_answer_fail(&answer, path, why);
            fate = answer.status == 400 || answer.status == 413 ? PM_FATE_REFUSED : PM_FATE_WAITING;
            /* 2xx that is no acknowledgement, too: what stands between may go away. */
            again = fate == PM_FATE_WAITING &&
                    (pm_answer_is_temporary(&answer) || answer.status / 100 == 2);
            wait = answer.retry_after;
        }
        memcpy(refusal->rules, answer.rules, PM_HTTP_RULES);
        refusal->date = answer.date;
        if (answered)
            refusal->trouble = pm_answer_trouble(&answer);
        pm_buffer_finish(&answer.body);
        if (!again)
            return fate;
        pm_log_info(log, "%s", why->message);
        if (!pm_retry_sleep(retry, wait))
            break;
    }
    return PM_FATE_WAITING;
}

enum pm_fate pm_sync_send(struct pm_log *log, struct pm_retry *retry, struct pm_http *http,
                          struct pm_buffer *body, const char *kept, struct pm_refusal *refusal,
                          struct pm_error *why)
{
    struct pm_error unwritten;
    const enum pm_fate fate = try_to_send(log, retry, http, body, refusal, why);
    if (fate != PM_FATE_REFUSED || !pm_upload_redate(body, (int64_t)time(NULL), refusal->date))
        return fate;
    /* On disk first: it must be the same upload whenever it is sent again. */
    if (!pm_file_write(kept, body->data, body->size, &unwritten)) {
        pm_log_error(log, "%s", unwritten.message);
        return fate;
    }
    pm_log_info(log, "%s; the clock was off where it was recorded, so that it is dated anew",
                why->message);
    return try_to_send(log, retry, http, body, refusal, why);
}
