/*
 * Which of several things make something bad, by halving: delta debugging's ddmin (Zeller and
 * Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum pm_answer { PM_GOOD, PM_BAD, PM_NO_ANSWER };

struct pm_search {
    size_t count; /* of things */
    /* How it is with those of them for which used is true. */
    enum pm_answer (*test)(void *user, const bool *used);
    void *user;
};

/* Makes a set that is bad as small as it can be: bad, and good without any one of it. Where one
 * alone is bad that takes two tests for each halving at most. false: a test had no answer, or
 * memory ran out. */
bool pm_search_least(const struct pm_search *search, bool *set);
