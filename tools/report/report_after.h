/* What a shader becomes by specialization, beside what it was. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends it; nothing where the shader has no zero profile. */
bool pm_report_after(const struct pm_report_shader *shader, struct pm_buffer *out);
