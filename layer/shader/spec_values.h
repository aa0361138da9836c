/*
 * A pipeline's specialization constants as shader_rewrite and the shader store want them:
 * VkSpecializationInfo to sorted struct pm_spec_value, and which of them a module uses.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "profile/shader_key.h"
#include <vulkan/vulkan.h>

struct pm_spec_values {
    struct pm_spec_value *data; /* sorted by SpecId; malloc'ed */
    size_t count;
};
void pm_spec_values_finish(struct pm_spec_values *values);

/* The values that the pipeline sets (info may be NULL: none). PM_ERROR_INPUT: an entry lies outside
 * the data or has a size that no constant has. */
bool pm_spec_values_set(const VkSpecializationInfo *info, struct pm_spec_values *out,
                        struct pm_error *error);

/* What takes part in a shader's raw digest: every scalar constant that the module gives a SpecId,
 * with the set value or its default. A module that decorates by groups gets the set values as they
 * are. The words need not be a module at all: the walk ends where they stop making sense (and no
 * such shader gets a key). */
bool pm_spec_values_used(const uint32_t *words, size_t count, const struct pm_spec_values *set,
                         struct pm_spec_values *out, struct pm_error *error);
