/*
 * What `piecemeal run --ab` measured of a game last, kept for the report: $PLACE_DATA/gains/<safe
 * name of game>.json, replaced whole. It never leaves the machine.
 *
 * The interval of one session is of its pairs alone. What a driver makes may be faster in one
 * process than in the next (docs/results/variants.md), so what each session found is kept, too.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/paired.h"
#include "profile/shader_key.h"

enum {
    PM_GAIN_SESSIONS = 64,  /* that are remembered */
    PM_GAIN_SOFTWARE = 192, /* bytes */
};

struct pm_gain {
    int64_t at; /* seconds since the epoch */
    double ratio, low,
        high; /* time with specialized shaders over time without, and the 95 % interval */
    double original, optimized;    /* nanoseconds a frame */
    uint64_t frames;               /* that were compared */
    uint32_t pairs, block;         /* of blocks of so many frames that took turns */
    const char *device, *software; /* software: the build of the layer, and the driver's version */
    const struct pm_shader_key *shaders; /* the game's, whose specialized variants were in use */
    uint32_t shader_count;
    const struct pm_shader_key *variants; /* those variants */
    uint32_t variant_count;
    /* Time with them over time without in the sessions that compared these variants on the device
     * with this software, the oldest first and this one last. */
    double sessions[PM_GAIN_SESSIONS];
    uint32_t session_count;
};

/* Puts those sessions in front of this one that were kept of the game; the next to be called. Of
 * too many the oldest go. */
void pm_gain_add_sessions(const char *game, struct pm_gain *gain);
/* The interval over sessions; fewer than two: [0, infinity]. */
struct pm_paired pm_gain_over_sessions(const struct pm_gain *gain);
bool pm_gain_write(const char *game, const struct pm_gain *gain, struct pm_error *error);

/* What *gain points to is the arena's. PM_ERROR_STATE: nothing was measured; PM_ERROR_INPUT:
 * damaged. */
bool pm_gain_read(const char *game, struct pm_arena *arena, struct pm_gain *gain,
                  struct pm_error *error);

/* More frames a second, in per cent, of a ratio of times: the one estimator of all that is shown.
 */
double pm_gain_percent(double ratio);

/* What an interval of a ratio of times says: that frames are faster or slower; that nothing
 * changes, as all of it is within 5 %; or nothing yet. */
enum pm_gain_answer { PM_GAIN_CHANGED, PM_GAIN_NO_CHANGE, PM_GAIN_NOT_KNOWN };
enum pm_gain_answer pm_gain_answer(double low, double high);
