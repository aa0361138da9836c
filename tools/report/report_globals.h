/* What the author called a shader's resources and outputs. */
#pragma once

#include "tools/report/report.h"

/* shader->uses and shader->writes. false: out of memory. */
bool pm_report_globals(const struct pm_words *module, struct pm_arena *arena,
                       struct pm_report_shader *shader);
