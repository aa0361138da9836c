#include "layer/shader/published.h"

bool pm_find_published(const struct pm_device *device, const struct pm_shader_key *key,
                       const struct pm_environment *environment, enum pm_kind kind,
                       struct pm_shader_estimates *found)
{
    if (!pm_packed_database_find(device->instance->database, key, environment, kind, found))
        return false;
    if (found->published && found->points)
        return true;
    pm_shader_estimates_finish(found);
    return false;
}
