/* What the author called a shader's resources and outputs. */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "tools/report/report.h"

/* shader->uses and shader->writes. */
bool pm_report_globals(const struct pm_words *words, struct pm_arena *arena,
                       struct pm_report_shader *shader, struct pm_error *error);

/* By id: the text of its OpName, the module's; NULL: none, or an empty one. NULL: out of memory. */
const char **pm_report_names(const struct pm_ir_module *module, struct pm_arena *arena);
