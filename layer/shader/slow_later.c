#include "layer/shader/slow_later.h"

#include "layer/shader/specialized.h"
#include <inttypes.h>
#include <stdlib.h>

struct pm_slow_twin {
    const struct pm_candidate *of; /* whose it is */
    struct pm_built built;         /* does its work twice */
    bool told;                     /* that it was dropped */
    struct pm_slow_twin *next;
};

struct pm_slow_later *pm_slow_later_create(struct pm_device *device)
{
    const uint32_t from = device->instance->config.debug.slow_from;
    struct pm_slow_later *later = from > 0 ? calloc(1, sizeof *later) : NULL;
    if (!later)
        return NULL;
    later->device = device;
    later->bind = device->dispatch.CmdBindPipeline;
    later->from = from;
    pthread_mutex_init(&later->lock, NULL);
    return later;
}

void pm_slow_later_destroy(struct pm_slow_later *later)
{
    if (!later)
        return;
    if (atomic_load(&later->turned))
        pm_log_info(later->device->instance->log,
                    "heartbeat %" PRIu64 ": variants did their work twice until then",
                    atomic_load(&later->latest));
    pthread_mutex_destroy(&later->lock);
    free(later);
}

/* One that is not bound in the game's place any more and was not told yet; of a contest's most
 * lose, and are not to be. false: there is none. */
static bool next_dropped(struct pm_slow_later *later, struct pm_shader_key *shader)
{
    pthread_mutex_lock(&later->lock);
    struct pm_slow_twin *twin = later->twins;
    for (; twin; twin = twin->next) {
        if (twin->told || !atomic_load(&twin->of->dropped))
            continue;
        twin->told = true;
        if (!twin->of->measured)
            break;
    }
    if (twin)
        *shader = twin->of->shader->original;
    pthread_mutex_unlock(&later->lock);
    return twin != NULL;
}

/* Says of them without the lock, which binds take: a log takes as long as a file does. */
static void look(struct pm_slow_later *later, bool says, uint64_t number)
{
    struct pm_shader_key shader;
    while (next_dropped(later, &shader)) {
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&shader, key);
        if (says)
            pm_log_info(later->device->instance->log,
                        "heartbeat %" PRIu64
                        ": the variant of shader %.12s that turned slow is dropped",
                        number, key);
    }
}

void pm_slow_later_heartbeat(struct pm_slow_later *later, uint64_t number)
{
    if (number < later->from)
        return;
    atomic_store(&later->latest, number);
    const bool turns = !atomic_exchange(&later->turned, true);
    look(later, !turns, number);
    if (turns)
        pm_log_info(later->device->instance->log,
                    "heartbeat %" PRIu64 ": variants do their work twice from now on", number);
}

uint64_t pm_slow_later_bound(struct pm_slow_later *later, uint64_t handle)
{
    if (!atomic_load_explicit(&later->turned, memory_order_relaxed))
        return handle;
    uint64_t bound = handle;
    pthread_mutex_lock(&later->lock);
    for (const struct pm_slow_twin *twin = later->twins; twin; twin = twin->next)
        if (twin->of->handle == handle)
            bound = twin->built.handle;
    pthread_mutex_unlock(&later->lock);
    return bound;
}

/* ---- a variant's ---- */

struct pm_slow_twin *pm_slow_later_add(struct pm_slow_later *later,
                                       const struct pm_candidate *variant, struct pm_built *built)
{
    struct pm_slow_twin *twin = calloc(1, sizeof *twin);
    if (!twin)
        return NULL;
    *twin = (struct pm_slow_twin){.of = variant, .built = *built};
    *built = (struct pm_built){0};
    pthread_mutex_lock(&later->lock);
    twin->next = later->twins;
    later->twins = twin;
    pthread_mutex_unlock(&later->lock);
    return twin;
}

void pm_slow_twin_destroy(struct pm_slow_later *later, struct pm_slow_twin *twin)
{
    if (!twin)
        return;
    pthread_mutex_lock(&later->lock);
    struct pm_slow_twin **link = &later->twins;
    while (*link != twin)
        link = &(*link)->next;
    *link = twin->next;
    pthread_mutex_unlock(&later->lock);
    pm_built_destroy(later->device, &twin->built);
    free(twin);
}
