#include "layer/trial/glance.h"

enum {
    EVERY = 256,           /* heartbeats between two, at first */
    LEAST_OFTEN = 1 << 14, /* the same where they were followed by trials in vain */
    UNDRAWN = 1 << 11,     /* the same at most of what is not drawn with */
    SLOWER = 4,            /* pairs in a row that say so */
    TRACKED = 64,          /* heartbeats within which a pair begins, if any does */
    RESULTS = 512,         /* and within which its times are there */
};

void pm_glance_init(struct pm_glance *glance)
{
    *glance = (struct pm_glance){.every = EVERY, .wait = EVERY};
}

bool pm_glance_begin(struct pm_glance *glance)
{
    const bool told = glance->told;
    glance->told = true;
    glance->slower = 0;
    atomic_store(&glance->under_way, false);
    atomic_store(&glance->denied, false);
    atomic_store(&glance->on, true);
    return told;
}

bool pm_glance_finds_nothing(struct pm_glance *glance, uint64_t idle)
{
    if (idle < (atomic_load(&glance->under_way) ? RESULTS : TRACKED))
        return false;
    if (!atomic_load(&glance->denied) && glance->wait < UNDRAWN)
        glance->wait *= 2;
    return true;
}

enum pm_glance_says pm_glance_take(struct pm_glance *glance, bool slower)
{
    atomic_store(&glance->under_way, false);
    glance->wait = glance->every;
    if (!slower)
        return PM_GLANCE_FAST;
    glance->slower++;
    glance->alarmed = glance->slower == SLOWER;
    return glance->alarmed ? PM_GLANCE_ALARM : PM_GLANCE_GOES_ON;
}

void pm_glance_was_tried(struct pm_glance *glance)
{
    if (glance->alarmed && glance->every < LEAST_OFTEN)
        glance->every *= 2;
    glance->alarmed = false;
    glance->wait = glance->every;
}
