/*
 * A device whose driver knows what is bound as a call comes, with pipelines that have variants of
 * each kind, and what may be bound in a recording: for tests of the hooks of command buffers,
 * binds, pushes, queries and draws together. A second device may come and go beside it.
 */
#pragma once

#include "layer/frame/binding.h"

#include "tests/cmocka_includes.h"

#define ALL_STAGES (VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)
enum {
    BUFFERS = 5,
    PIPELINES = 5,
    WITH_BEST = 1,       /* one that has a variant that may stand anywhere */
    UNKNOWN = PIPELINES, /* one more, that the layer knows nothing of */
    WORDS = 6,           /* of push constants */
    OTHER_WORDS = 4,     /* of the other layout */
    EXPECTED = 7,        /* the value that each watched word is to have */
};

/* Handles: a pipeline's, and behind it those of its variants. */
enum { HANDLES = 0x1000, BEST = 1, FOLDED = 2, INSTRUMENTED = 3 };
uint64_t handle_of(int pipeline);

/* Words that variants watch. */
extern const uint64_t watched_words;

/* As the loader makes handles: the first word says whose it is. */
struct dispatchable {
    const void *key;
};

/* How the device is made. */
struct world_options {
    bool follow;        /* there are folded variants */
    bool learned;       /* it is known from the begin on that the game keeps nothing */
    bool windows;       /* some open, of few heartbeats */
    bool twice;         /* recordings may hold calls twice */
    bool constants;     /* pushes are followed in recordings that are sampled */
    double probability; /* of a call in them */
    uint64_t seed;
};

/* What a predicate is on. */
enum predicate { NO_PREDICATE, OF_GAME, OF_VARIANT };

/* What the driver and the game know of a recording. */
struct recording {
    struct pm_command *command; /* the layer's record */
    bool open;
    bool careful;                   /* it began where what is bound was to be known */
    uint64_t bound[PM_BIND_POINTS]; /* by the layer */
    uint64_t game[PM_BIND_POINTS];  /* by the game */
    uint32_t queries;               /* active, whose result a variant could change */
    uint32_t pushed;                /* words, since it began or executed another */
    uint32_t words[WORDS];
    bool calls;               /* the game is at a draw or dispatch */
    uint64_t called;          /* of these the driver has seen, but for second ones */
    enum predicate predicate; /* that calls are under */
};

extern struct recording recordings[BUFFERS];
extern VkCommandBuffer buffers[BUFFERS];
extern struct pm_device device;
extern VkPipelineLayout layout, other_layout;

/* What was found: calls that had such a thing bound, and what else is to occur. */
extern struct found {
    uint64_t game, best, folded, queried;
    uint64_t instrumented, twice; /* in calls; the second time in one that is held twice */
    uint64_t lately_sampled;      /* bound lately, in a recording that is sampled, */
    uint64_t lately_tracked;      /* and in another one */
} found;

/* Fails a test with what was wrong; said: of which call. */
extern void (*world_fails)(const char *wrong, int point);

struct recording *recording_of(VkCommandBuffer handle);
/* In a recording that is sampled. */
bool is_sampled(const struct recording *recording);

/* second: the other device is there before. */
void world_open(const struct world_options *options, bool second);
void world_close(void);

/* The second device comes, or goes. */
bool world_has_second(void);
void world_toggle_second(void);

/* Whether a pipeline and its shader are such that a recording holds calls of it twice. */
void world_tell(int pipeline, bool told, bool shader_told);

/* Whether what is bound may be, and is what the record says if that says anything; world_fails. */
void world_check(const struct recording *recording);

/* The game draws, or dispatches, by a hook of the older commands or the newer ones. */
void world_call(VkCommandBuffer buffer, int point, bool newer);

/* ---- what recorded_world.c and recorded_driver.c know of each other ---- */

enum { PREDICATES = 256 };
extern const struct pm_device_dispatch world_driver;

/* Whether the pipeline has a variant of that kind: BEST or INSTRUMENTED. */
bool world_has(int pipeline, int variant);
/* What its folded variant watches; of no words: there is none. */
const struct pm_watch *world_watch(int pipeline);
