/*
 * One upload on its way: sent until there is an answer that counts. Private to aggregator_client/.
 *
 * Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync.h"

/* What became of an upload. */
enum pm_fate { PM_FATE_ACKNOWLEDGED, PM_FATE_REFUSED, PM_FATE_WAITING };

/* Tries until there is an answer that counts, or no time is left. *why: unless it is acknowledged.
 * rules: what refused it, as the aggregator says (struct pm_http_answer); "" where it says
 * nothing. */
enum pm_fate pm_sync_send(struct pm_log *log, struct pm_retry *retry, struct pm_http *http,
                          const struct pm_buffer *body, char rules[static PM_HTTP_RULES],
                          struct pm_error *why);
