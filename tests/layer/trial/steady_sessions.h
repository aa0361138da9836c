/*
 * For tests of trials over sessions: sessions of a program that records a dispatch or a draw once
 * and submits that again and again.
 */
#pragma once

#include "tests/layer/trial/trying.h"

#define SESSION_TIMED "timed a session"
#define WITHDRAWN "it is bound no more in this session"
#define OF_NO_PAIR "this one is of none"

enum { STEADY_SUBMISSIONS = 100 };

extern struct steady {
    int further;                                /* submissions more that a session has at its end */
    bool until_enough;                          /* and those until it has timed enough before */
    int64_t submissions;                        /* so far */
    void (*before_end)(VkCommandBuffer buffer); /* what a session does last; NULL: nothing */
} steady;

void steady_set_seed(int number);
void steady_submit(VkCommandBuffer buffer);

/* A recording of a dispatch or a draw. How the call runs: 1 with the variant, 0 with the game's
 * own. */
int steady_record(bool draws, VkCommandBuffer *out);

/* A session begins, whose pipeline draws or not; trying_close ends it. */
void steady_open(uint64_t variant_cost, bool draws);

/* A session until the log has a text; "": a short one. How the call ran; a session that was timed
 * has that side throughout, unless that is much slower. */
int steady_session(uint64_t variant_cost, bool draws, const char *until_logged);
