#include "aggregator/service/service_apart.h"

#include "aggregator/service/service_state.h"
#include "base/clock.h"
#include <string.h>

/* Less than clients are told to wait. */
#define REST_NS (INT64_C(5) * PM_SECOND)

/* The place of an id; count: it has none. */
static size_t find(const struct pm_apart *apart, const uint8_t *id)
{
    size_t i = 0;
    while (i < apart->count && memcmp(apart->ids[i], id, PM_UPLOAD_ID_BYTES) != 0)
        i++;
    return i;
}

size_t pm_apart_sort(const struct pm_apart *apart, struct pm_request **group, size_t count)
{
    size_t waiting = 0;
    for (size_t i = count; apart->count > 0 && i-- > 0;) {
        struct pm_request *request = group[i];
        if (find(apart, request->profile.upload_id) == apart->count)
            continue;
        waiting++;
        group[i] = group[count - waiting];
        group[count - waiting] = request;
    }
    return waiting;
}

void pm_apart_note(struct pm_apart *apart, const uint8_t *id, bool waits)
{
    const size_t at = find(apart, id);
    if (waits)
        apart->until = pm_now() + REST_NS;
    if (waits == (at < apart->count))
        return;
    if (!waits) {
        memmove(apart->ids[at], apart->ids[--apart->count], PM_UPLOAD_ID_BYTES);
        apart->oldest = 0;
    } else if (apart->count < PM_APART_UPLOADS) {
        memcpy(apart->ids[apart->count++], id, PM_UPLOAD_ID_BYTES);
    } else {
        memcpy(apart->ids[apart->oldest], id, PM_UPLOAD_ID_BYTES);
        apart->oldest = (apart->oldest + 1) % PM_APART_UPLOADS;
    }
}

bool pm_apart_is_due(const struct pm_apart *apart)
{
    return pm_now() >= apart->until;
}
