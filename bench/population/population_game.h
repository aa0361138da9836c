/*
 * A game that many play, with known truth: scenes, clients that differ, sessions that sample calls
 * of one shader as the layer does (the paper's section 6.2; the real samplers). Each point of the
 * shader is a population of its own kind: never, always, near 0 and 1, all or none by client, by
 * scene, by size, loops that are constant, skewed, bimodal or seldom.
 *
 * Thread safety: a struct belongs to one thread; the functions keep no state.
 */
#pragma once

#include "base/random.h"
#include "profile/profile.h"

#define PM_GAME_POINTS 14u

struct pm_game_setup {
    uint32_t clients; /* who may play; each is a token */
    double api_probability; /* p */
    uint32_t batch;         /* b */
    double windows;         /* of a session, on average; at least one */
    uint32_t window_frames;
    double calls; /* of the shader a frame */
};

/* What a kind of point is like, for people; bounded: it runs at most once. */
const char *pm_game_point_name(uint32_t point);
bool pm_game_point_is_bounded(uint32_t point);

/* One session, played by a client that is drawn: the merged counts of the points that were measured,
 * ascending. points: room for PM_GAME_POINTS. Returns how many; 0 also when nothing was sampled. */
uint32_t pm_game_play(const struct pm_game_setup *setup, struct pm_random *random,
                      struct pm_point_counts *points, uint32_t *client);

/* The bitmap of the bounded points. */
const uint8_t *pm_game_at_most_once(void);

/* The truth that estimates are about, of each point, over so many sessions: the mean of the
 * sessions' ratios and the ratio of their sums. */
struct pm_game_truth {
    double mean, ratio;
};
void pm_game_find_truth(const struct pm_game_setup *setup, uint64_t sessions, uint64_t seed,
                        struct pm_game_truth *truth);
