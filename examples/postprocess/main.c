/*
 * piecemeal-postprocess: a chain of compute passes over a generated picture, without a window. A
 * workload for tests and benchmarks. See --help.
 */
#include "examples/postprocess/renderer.h"

int main(int argc, char **argv)
{
    static const struct pm_example example = {
        .name = "piecemeal-postprocess",
        .purpose = "Post-processes frames of a generated scene with Vulkan, without a window.",
        .scenes = {{"gallery", "gallery by day"},
                   {"street", "wet street at night"},
                   {"plain", "plain against the sun"}},
        .scene_count = PM_STAGES,
        .passes = {"scene", "occlusion", "reflections", "light", "temporal", "bright", "blur",
                   "composite"},
        .renderer_size = sizeof(struct pm_post),
        .init = pm_post_init,
        .finish = pm_post_finish,
        .update = pm_post_update,
        .record = pm_post_record,
    };
    return pm_example_main(&example, argc, argv);
}
