/*
 * What specialize_zero chooses from: the points, and how often each is zero. A transform parts a
 * region in two (clone/transform.h), and with it the candidates that are written there: R has them
 * under their ids, S has copies of those that it still computes, and behind both an OpPhi stands
 * for what is used there. So the copies and the OpPhi become candidates too, with which the loop
 * goes on (AZP 3.3, Figure 2b: "the transformation may expose new opportunities on the next
 * iteration"; 4.4.2).
 *
 * How often a value is zero where another is, or is not, was not counted. Where the one follows
 * from the other it is known all the same (choose/implied.h): in S what follows from the check is
 * folded, in R what the check would have followed from is never zero. Else the two are taken for
 * independent, as the paper takes the elements of a vector (3.2).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"
#include "shader_rewrite/zero/specialize_zero_report.h"

struct pm_zero_list {
    struct pm_zero_points points;     /* the shader's, then what the rounds added; owned */
    double *zero;                     /* by candidate: P(zero) when it came to the list; owned */
    struct pm_zero_verdict *verdicts; /* by candidate; owned */
};

/* For list->points, with their P(zero), which are copied; NAN: not known. What is zero too rarely
 * for the threshold leaves a pack (choose/packs.h). bound: the module's. false: out of memory, and
 * the list is to be finished. */
bool pm_zero_list_init(struct pm_zero_list *list, const double *zero, double threshold,
                       uint32_t bound);
void pm_zero_list_finish(struct pm_zero_list *list);

/* What a transform is made for, and what that says of the other candidates. */
struct pm_zero_parting {
    uint32_t first, second; /* candidates; second PM_ZERO_NO_OTHER: none */
    double probability;     /* that the check passes */
    double threshold;       /* what is zero less often is no candidate */
    bool last;              /* no round follows */
    bool *follows;          /* by candidate: it is zero where the check passes */
    bool *leads;            /* by candidate: where it is zero, the check passes */
    bool *wanted;           /* by id: a value of what may become a candidate in S */
};

/* Finds out, before the transform; in the round's arena. false: out of memory. */
bool pm_zero_list_relate(const struct pm_zero_list *list, struct pm_zero_round *round,
                         struct pm_zero_parting *parting);

/* Parts the candidates of the region, after the transform. false: out of memory. */
bool pm_zero_list_part(struct pm_zero_list *list, const struct pm_zero_round *round,
                       const struct pm_zero_region *region, const struct pm_zero_parting *parting);
