/*
 * One upload on its way: sent until there is an answer that counts. Private to aggregator_client/.
 *
 * Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync.h"

/* What became of an upload. */
enum pm_fate { PM_FATE_ACKNOWLEDGED, PM_FATE_REFUSED, PM_FATE_WAITING };

/* What the aggregator says of itself where it refuses (struct pm_http_answer). */
struct pm_refusal {
    char rules[PM_HTTP_RULES];
    int64_t date;
    enum pm_trouble trouble; /* of what waits */
};

/* Tries until there is an answer that counts, or no time is left. *why: unless it is acknowledged.
 * kept: where the body lies on disk. What is refused and is of a day that cannot be gets another
 * one (redate.h), there too, and is sent once more. */
enum pm_fate pm_sync_send(struct pm_log *log, struct pm_retry *retry, struct pm_http *http,
                          struct pm_buffer *body, const char *kept, struct pm_refusal *refusal,
                          struct pm_error *why);
