#include "layer/core/left_out.h"

#include "layer/core/layer.h"

/* FNV-1a, never 0. */
static uint64_t hash(const char *text)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return sum != 0 ? sum : 1;
}

/* Whether the text has not been said yet; from now on it has. */
static bool is_new(struct pm_said *said, const char *text)
{
    const uint64_t sum = hash(text);
    for (uint32_t i = 0; i < PM_SAID; i++) {
        uint64_t known = 0;
        if (atomic_compare_exchange_strong(&said->texts[i], &known, sum))
            return true;
        if (known == sum)
            return false;
    }
    return false;
}

void pm_left_out(struct pm_instance *instance, const char *what, const struct pm_error *error)
{
    if (error->code == PM_ERROR_NEWER) {
        if (is_new(&instance->said, error->message))
            pm_log_warning(instance->log, "%s: %s (said once)", what, error->message);
        return;
    }
    pm_logf(instance->log, error->code == PM_ERROR_STATE ? PM_LOG_DEBUG : PM_LOG_INFO, "%s: %s",
            what, error->message);
}
