#include "shader_rewrite/points/points.h"

bool pm_points_zero(const uint32_t *words, size_t count, struct pm_zero_points *out,
                    struct pm_error *error)
{
    return pm_zero_candidates(words, count, out, error);
}
