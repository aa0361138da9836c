#include "shader_rewrite/quirks/quirks.h"

#include <stddef.h>
#include <stdio.h>

/* Of VkDriverId; this room knows SPIR-V and no Vulkan. */
enum { MESA_LLVMPIPE = 13, GOOGLE_SWIFTSHADER = 10 };

/* Mesa's versions are VK_MAKE_API_VERSION(0, ...)'s. */
#define MESA(major, minor) ((uint32_t)(major) << 22 | (uint32_t)(minor) << 12)

/* Seen on lavapipe 22.3.6 and 25.0.7, and on SwiftShader 5.0. Between two versions of which one has
 * a quirk it is taken to be there. */
static const struct {
    uint32_t id, from, below; /* versions; below 0: no end */
    uint32_t quirks;
} table[] = {
    /* zero_regions/leaving_made.comp, leaving_branch.comp, leaving_phi.comp,
     * blocks/peeled/leaving.comp */
    {MESA_LLVMPIPE, 0, MESA(25, 0), PM_QUIRK_CHOOSES_AGAIN},
    /* zero_regions/leaving_chosen.comp, blocks/peeled/leaving.comp */
    {GOOGLE_SWIFTSHADER, 0, 0, PM_QUIRK_CHOOSES_AGAIN},
    /* zero_regions/leaving.comp, leaving_made.comp, leaving_read.comp, leaving_helpers.frag */
    {MESA_LLVMPIPE, 0, MESA(25, 0), PM_QUIRK_LOADS_AGAIN},
    {GOOGLE_SWIFTSHADER, 0, 0, PM_QUIRK_LOADS_AGAIN},
    /* zero_regions/leaving_joined.comp */
    {MESA_LLVMPIPE, 0, MESA(25, 0), PM_QUIRK_JOINED_LOADS},
    /* zero_regions/levels.comp */
    {MESA_LLVMPIPE, MESA(22, 4), 0, PM_QUIRK_JOINED_LEVELS},
    /* canonical/values/folding.comp as a translation layer writes it */
    {GOOGLE_SWIFTSHADER, 0, 0, PM_QUIRK_FOLDS_UNCAST},
    /* quirks/leaving/tested.comp */
    {GOOGLE_SWIFTSHADER, 0, 0, PM_QUIRK_UNROLLS_SHORT},
    /* quirks/leaving/sums.comp */
    {GOOGLE_SWIFTSHADER, 0, 0, PM_QUIRK_UNROLLS_INEXACT},
    /* quirks/leaving/scalars.comp */
    {GOOGLE_SWIFTSHADER, 0, 0, PM_QUIRK_FOLDS_SCALARS},
    /* exact/branches.frag */
    {MESA_LLVMPIPE, MESA(22, 4), 0, PM_QUIRK_HELPERS_LEAVE},
    /* variant_bits_leaving: seed 106 over known words, by `hoist` */
    {MESA_LLVMPIPE, MESA(22, 4), 0, PM_QUIRK_SHARES_LEAVING},
};

struct pm_driver pm_driver_of(uint32_t id, uint32_t driver_version, const char *driver_info)
{
    unsigned major, minor;
    if (sscanf(driver_info, "Mesa %3u.%3u", &major, &minor) == 2)
        driver_version = MESA(major, minor);
    return (struct pm_driver){id, driver_version};
}

uint32_t pm_quirks_of(const struct pm_driver *driver)
{
    if (!driver || !driver->id)
        return PM_QUIRKS_ALL;
    uint32_t quirks = 0;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].id == driver->id && driver->version >= table[i].from &&
            (!table[i].below || driver->version < table[i].below))
            quirks |= table[i].quirks;
    }
    return quirks;
}

bool pm_has_exact_ones(const struct pm_driver *driver)
{
    return driver && (driver->id == MESA_LLVMPIPE || driver->id == GOOGLE_SWIFTSHADER);
}
