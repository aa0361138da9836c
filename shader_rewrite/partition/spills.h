/*
 * Which values of a partitioned shader lie in memory between its passes, and where. A place is used
 * again once nobody reads what was in it any more.
 *
 * Of a fragment shader they lie in attachments: images of 4 words a pixel, of which a pass writes
 * whole ones. Place p is word p % 4 of attachment p / 4.
 *
 * Units: words of 32 bits, of one invocation.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"
#include "shader_rewrite/partition/shader_graph.h"

struct pm_spill {
    uint32_t pass;       /* the first that computes it, which stores it */
    uint32_t last;       /* the last that reads it; `pass`: it is not spilled */
    uint32_t first_word; /* in `places` */
};

/* Of a fragment shader: what one pass writes at once. */
struct pm_spill_attachment {
    uint32_t pass, last; /* that writes it; the last that reads it */
    uint32_t image;      /* that it is in: another one may have been in it before */
};

struct pm_spills {
    struct pm_spill *spills; /* by id */
    uint32_t *places;        /* of each spilled value's words */
    uint32_t words;          /* how many places there are */
    struct pm_spill_attachment *attachments;
    uint32_t attachment_count, image_count;
};

/* In the arena. false: out of memory. */
bool pm_spills_find(const struct pm_shader_graph *graph, const struct pm_plan *plan,
                    struct pm_arena *arena, struct pm_spills *out);
