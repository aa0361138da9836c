#include "aggregator_client/redate.h"

#include <stdlib.h>

#define DAY_SECONDS INT64_C(86400)
#define AHEAD_DAYS 1    /* that an aggregator takes */
#define SURE_DAYS 2     /* of which none does: theirs may be some hours apart */
#define OLDEST_DAYS 366 /* likewise, whatever it keeps */

bool pm_day_is_ahead(uint32_t day, int64_t theirs)
{
    return theirs > 0 && day > theirs / DAY_SECONDS + AHEAD_DAYS;
}

uint32_t pm_day_anew(uint32_t day, int64_t ours, int64_t theirs)
{
    const int64_t today = theirs / DAY_SECONDS, off = (ours - theirs) / DAY_SECONDS;
    if (day == 0 || theirs <= 0 || (day <= today + SURE_DAYS && day + OLDEST_DAYS >= today))
        return day;
    const int64_t moved = (int64_t)day - off;
    return (uint32_t)(off != 0 && moved <= today && moved + OLDEST_DAYS > today ? moved : today);
}

static bool encode(const struct pm_profile *profile, struct pm_buffer *body)
{
    struct pm_buffer wire;
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    pm_buffer_init(body, pm_profile_limits_default.decompressed_bytes);
    const bool done =
        pm_profile_encode(profile, &wire, NULL) && pm_compress(wire.data, wire.size, body, NULL);
    pm_buffer_finish(&wire);
    return done;
}

bool pm_upload_redate(struct pm_buffer *body, int64_t ours, int64_t theirs)
{
    struct pm_buffer wire, dated = {0};
    struct pm_profile profile;
    struct pm_arena *arena = pm_arena_create(0);
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    bool done = arena && pm_decompress(body->data, body->size, &wire, NULL) &&
                pm_profile_decode(wire.data, wire.size, NULL, arena, &profile, NULL);
    if (done) {
        const uint32_t day = pm_day_anew(profile.day, ours, theirs);
        done = day != profile.day;
        profile.day = day;
        done = done && encode(&profile, &dated);
    }
    if (done) {
        struct pm_buffer before = *body;
        *body = dated;
        dated = before;
    }
    pm_buffer_finish(&dated);
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
    return done;
}
