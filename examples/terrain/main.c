/*
 * piecemeal-terrain: a flight over terrain without a window: a height field whose ground is blended
 * from layers by splat maps. A workload for tests and benchmarks. See --help.
 */
#include "examples/terrain/renderer.h"

int main(int argc, char **argv)
{
    static const struct pm_example example = {
        .name = "piecemeal-terrain",
        .purpose = "Draws frames of a flight over terrain with Vulkan, without a window.",
        .scenes = {{"alpine", "alpine valley"}, {"canyon", "desert canyon"}, {"island", "island"}},
        .scene_count = PM_LANDS,
        .passes = {"land", "water", "sky", "tonemap"},
        .renderer_size = sizeof(struct pm_terrain),
        .init = pm_terrain_init,
        .finish = pm_terrain_finish,
        .update = pm_terrain_update,
        .record = pm_terrain_record,
    };
    return pm_example_main(&example, argc, argv);
}
