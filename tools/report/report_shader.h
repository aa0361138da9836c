/* What the report knows of one shader, from the estimates of it and from what it was made of. */
#pragma once

#include "tools/report/report.h"

/* zeros: the shader's zero profile; NULL: none. */
bool pm_report_shader_build(const struct pm_report_source *source,
                            const struct pm_shader_estimates *estimates,
                            const struct pm_shader_estimates *zeros, struct pm_arena *arena,
                            struct pm_report_shader *shader, struct pm_error *error);
