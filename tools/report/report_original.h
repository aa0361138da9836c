/*
 * The shader's lines as its author wrote them, with what each costs: where debug information has
 * them (OpLine and OpSource, or NonSemantic.Shader.DebugInfo.100), and the text too.
 */
#pragma once

#include "tools/report/report.h"

/* shader->files, the one with most cost first; none where there is no debug information. What
 * cannot be had is left out. false: out of memory. */
bool pm_report_original_build(const struct pm_report_source *source, struct pm_arena *arena,
                              struct pm_report_shader *shader, struct pm_error *error);
