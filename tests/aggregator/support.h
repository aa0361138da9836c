/* What the aggregator's tests share: folders that go away, and profiles made of random numbers. */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/statistics/statistics.h"
#include "base/arena.h"
#include "base/random.h"
#include "profile/profile.h"

/* Seconds. */
#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

/* A fresh folder, malloc'ed path; remove_folder deletes it with the files in it, and frees the
 * path. */
char *make_folder(void);
void remove_folder(char *path);

/* folder/name, malloc'ed. */
char *join(const char *folder, const char *name);

/* Where a fresh storage is to be: a file in the folder, or, where PM_TEST_STORAGE names a
 * PostgreSQL (with_postgres.sh), a schema of its own there. malloc'ed. */
char *fresh_storage(const char *folder);
/* Is it such a one? What a test does to the file itself is then left out. */
bool on_postgres(void);

/* A shader named by a number: every byte of its key depends on it. */
struct pm_shader_key key_of(uint64_t number);

/* Counts of one call of subgroups of eight: half of the lanes are uniform. */
struct pm_point_counts block_counts(uint32_t point, uint64_t entry_lanes, uint64_t lanes);

/* The same of a call that counted lanes alone. */
struct pm_point_counts alone_counts(uint32_t point, uint64_t entry_lanes, uint64_t lanes);

/* A block profile of one shader, in the arena. */
struct pm_shader_profile block_shader(struct pm_arena *arena, uint64_t number, uint32_t space,
                                      const struct pm_point_counts *points, size_t count);

/* The same of another kind: counts of a zero profile (an entry of `entry_lanes` lanes in subgroups
 * of eight), and a timing of so many pairs. */
struct pm_point_counts zero_counts(uint32_t point, uint64_t entry_lanes, uint64_t writes,
                                   uint64_t zero_writes);
struct pm_shader_profile zero_shader(struct pm_arena *arena, uint64_t number, uint32_t space,
                                     const struct pm_point_counts *points, size_t count);
struct pm_shader_profile timing_shader(struct pm_arena *arena, uint64_t number, uint32_t pairs,
                                       uint64_t original, uint64_t variant);

/* A profile of these shaders, with a random upload id. */
struct pm_profile *profile_of(struct pm_arena *arena, struct pm_random *random, const char *game,
                              const struct pm_shader_profile *shaders, size_t count);

/* A profile of the shaders 0, 1, … with random counts at about half of their points, some of lanes
 * alone. */
struct pm_profile *random_profile(struct pm_arena *arena, struct pm_random *random,
                                  const char *game, size_t shaders, uint32_t space);

/* The histogram of one measure of one point, over all days and scenes, or of one scene when scene
 * is not NULL. All 0 when nothing is known of it. */
void histogram_of(struct pm_aggregator *aggregator, const char *game,
                  const struct pm_shader_estimates *shader, uint32_t point, unsigned measure,
                  const char *scene, uint64_t bins[static PM_HISTOGRAM_BINS]);

/* A visitor of claims: adds the bytes of their marks to a size_t. */
bool count_marks(void *user, const struct pm_storage_claim *claim, struct pm_error *error);
