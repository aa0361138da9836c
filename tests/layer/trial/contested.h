/* For tests of A-Z testing (layer/shader/contest.h) on the null driver: the pipelines that take
 * part in the order in which they were first timed, where each takes as long as the test says. */
#pragma once

#include "base/random.h"
#include "tests/layer/trial/trying.h"

enum { CONTESTED_MOST = 64 };

extern struct contested {
    VkPipeline pipelines[CONTESTED_MOST]; /* the game's own first */
    uint64_t calls[CONTESTED_MOST];       /* of each */
    uint32_t count;
    double times[CONTESTED_MOST];    /* of each, over the game's own; 0: the same */
    double noise;                    /* share by which they vary */
    struct pm_random random;         /* of the noise */
    void (*first)(uint32_t index);   /* of a session: is told of each pipeline; NULL: nobody is */
    double (*other)(uint32_t index); /* likewise: a time in place of times, 0: that; NULL: that */
} contested;

/* A session with a pipeline, trying.compute, of a shader of these words, or of optimized_compute's
 * (NULL). see: of the driver's calls; faults: of the driver; either from then on, or NULL. */
struct contested_session {
    const struct pm_harness_options *options;
    pm_null_callback see;
    const char *faults;
    const uint32_t *words;
    size_t size; /* bytes */
};
void contested_open_with(const struct contested_session *session);
void contested_open(void);
void contested_close(void);

/* All variants take so much of the time that the game's own take, without noise. */
void contested_set_times(double variants);

uint32_t contested_index(VkPipeline pipeline);
/* Of what is bound in the place of the game's own. */
uint32_t contested_bound(void);

/* Frames until the log has a text; false: it never had. */
bool contested_run_until(const char *text);
/* Until it has it so many times, which is asserted. */
void contested_run_until_logged(const char *text, uint32_t times);
/* Until so many pipelines were timed, with the game's own. */
void contested_run_until_count(uint32_t count);

/* Until the contest is over, of which the log says nothing yet. */
void contested_run_to_the_end(void);
/* Between sessions: a machine that has tried nothing, and what the log said is forgotten. */
void contested_forget(void);

/* How many variants a contest that is over had, by the log's words before that; 0: none is over. */
uint32_t contested_variants(const char *before);
