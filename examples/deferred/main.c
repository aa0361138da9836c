/*
 * piecemeal-deferred: a deferred renderer of our own without a window, the workload that tests,
 * benchmarks and the demo share. See --help.
 */
#include "examples/common/example.h"
#include "examples/deferred/renderer.h"

int main(int argc, char **argv)
{
    static const struct pm_example example = {
        .name = "piecemeal-deferred",
        .purpose = "Draws frames of a lit scene with Vulkan, without a window.",
        .scenes = {{"courtyard", "courtyard at night"},
                   {"valley", "valley in the evening"},
                   {"hall", "hall by day"}},
        .scene_count = PM_SCENES,
        .secondaries = true,
        .passes = {"shadow", "geometry", "sun", "lights", "spots", "bright", "blur", "tonemap"},
        .renderer_size = sizeof(struct pm_renderer),
        .init = pm_renderer_init,
        .finish = pm_renderer_finish,
        .update = pm_renderer_update,
        .record = pm_renderer_record,
    };
    return pm_example_main(&example, argc, argv);
}
