/*
 * Recursive Dominator Split, what Mio is measured against: Chan, Ng, Sen, Proudfoot, Hanrahan,
 * "Efficient partitioning of fragment shaders for multipass rendering on programmable graphics
 * hardware", Graphics Hardware 2002, as Mio's section 3 describes it. One output a pass, of one
 * value of at most 4 components.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"

/* The full search takes no graphs of more operations. */
enum { PM_RDS_MOST_OPERATIONS = 2000 };

/* RDS_h: a value with several users is computed again for each of them where that takes less than
 * half of every resource of a pass, else saved; operations are merged greedily in postorder.
 * search: RDS, which tries both for each such value and keeps what gives fewer passes, then fewer
 * operations. Fills an empty plan. PM_ERROR_UNSUPPORTED naming the operation that no pass has room
 * for, or that gives no such value. */
bool pm_rds(const struct pm_operations *graph, const struct pm_pass_limits *limits, bool search,
            struct pm_plan *plan, struct pm_error *error);
