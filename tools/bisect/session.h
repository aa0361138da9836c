/*
 * One session of the program that `piecemeal bisect` looks at: the same each time but for what is
 * withheld of its shaders, and what came of it. Specialized shaders are made with their
 * pipelines and used at once, and nothing is sampled. Crashes go to a journal of the bisection's
 * own, so that they hold nothing back later; what trials have found before is copied there.
 *
 * Thread safety: one thread; changes this process's environment.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "tools/bisect/search.h"
#include <limits.h>
#include <stdint.h>

struct pm_bisection {
    /* What was asked for. */
    char **program;
    const char *check;   /* a command that ends with 0 where it is good; NULL: none */
    const char *compare; /* a file that the program writes; NULL: none */
    bool local;          /* by what `run --local` knows */
    /* The rest is pm_bisection_begin's. */
    char folder[PATH_MAX]; /* for what sessions leave */
    unsigned sessions;     /* so far */
    int status;            /* of the program, where it is good; -1: not known yet */
    struct pm_error error; /* why a session had no answer */
    struct pm_names games; /* that the program turned out to be */
};

/* false: *error. */
bool pm_bisection_begin(struct pm_bisection *bisection, struct pm_error *error);
void pm_bisection_end(struct pm_bisection *bisection);

/* Plays a session. withhold: what optimize.withhold's file says. keeps: its variants' modules are
 * kept in pm_bisection_variants, and no other session's. used: gets "KEY PART"
 * (profile/variant_parts.h) of all that the driver was given pipelines with; NULL: not asked for.
 * PM_NO_ANSWER: bisection->error says why. */
enum pm_answer pm_bisection_play(struct pm_bisection *bisection, const char *withhold, bool keeps,
                                 struct pm_names *used);

/* Where modules are kept, and what trials had found before, as a journal's folder; the caller's to
 * free, NULL: out of memory. */
char *pm_bisection_variants(const struct pm_bisection *bisection);
char *pm_bisection_verdicts(const struct pm_bisection *bisection);
