/*
 * A scene of examples/ under `piecemeal run`, as the benchmarks of zero-value specialization use
 * it: sessions that profile it, the command lines of the runs that are measured, and the options
 * that say how.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/error.h"
#include "bench/common/lockstep.h"
#include <stddef.h>
#include <stdint.h>

enum { PM_SESSION_FRAMES_MOST = 100000, PM_SESSION_LIST_MOST = 16 };

struct pm_session_list {
    const char *items[PM_SESSION_LIST_MOST];
    size_t count;
};

struct pm_session_options {
    const char *piecemeal;
    uint64_t frames, skip, block, train_frames;
    uint64_t train_seconds;      /* that a profile takes at most; 0: as long as its frames take */
    uint64_t launches;           /* of each run; 0: it is no option */
    struct pm_session_list sets; /* "KEY=VALUE" */
    struct pm_session_list against; /* likewise: of another run to compare with; may be empty */
    char **scene;
    int scene_count;
};

/* --piecemeal, --frames, --skip, --block, --train-frames, --set, --against; --launches where it has
 * a default, --train where train is given; the scene and its arguments behind them. What the
 * options hold before are the defaults. false: there is one that it does not know, or not
 * enough. */
bool pm_session_parse(struct pm_session_options *options, struct pm_session_list *train, int argc,
                      char **argv);

/* A session in which everything is sampled and nothing optimized; with `local` it is taken in at
 * once, otherwise it stays in the spool. arguments: the scene's further ones, separated by
 * spaces. */
bool pm_session_train(const struct pm_session_options *options, bool local, const char *arguments,
                      struct pm_error *error);

/* The words of a command line; NULL is behind the last. What is more than PM_SIDE_WORDS is left
 * out. */
struct pm_words {
    const char *items[PM_SIDE_WORDS];
    size_t count;
};

void pm_words_add(struct pm_words *words, const char *word);

/* Before a program: it is told to end after so many seconds, and how it ends is its own. */
void pm_words_add_timeout(struct pm_words *words, const char *seconds);

/* A run of the scene in step without the layer. The scene's further arguments may be added. */
void pm_session_original(const struct pm_session_options *options, struct pm_words *words);

/* The same with what the local profiles lead to, trusted at once; it samples nothing itself. */
void pm_session_optimized(const struct pm_session_options *options,
                          const struct pm_session_list *sets, struct pm_words *words);

/* What is compared: the game's own shaders without the layer; canonical ones in their place, or
 * with `against` what the profiles lead to with those settings; what they lead to with `sets`. */
enum pm_session_run {
    PM_SESSION_ORIGINAL,
    PM_SESSION_CANONICAL,
    PM_SESSION_SPECIALIZED,
    PM_SESSION_RUNS
};

void pm_session_run(const struct pm_session_options *options, enum pm_session_run run,
                    struct pm_words *words);

/* What the canonical run is called. */
const char *pm_session_against(const struct pm_session_options *options);
