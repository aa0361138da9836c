/* Stands for a game under the layer: writes so many checkpoints of one shader into the spool, says
 * so in a file, and goes on until it is killed. usage: spooling CHECKPOINTS FILE [SECONDS
 * [VARIANT]] VARIANT: of a recipe by its number it measured some pairs, too. */
#include "aggregator_client/disk/spool.h"
#include "base/random.h"
#include "profile/variant_point.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool append(struct pm_spool_writer *writer, uint32_t recipe, struct pm_error *error)
{
    const uint32_t word = 1;
    const struct pm_point_counts point = {
        .calls = 1, .entry_lanes = 64, .entry_subgroups = 2, .counts = {64, 64, 2}};
    const struct pm_variant_id id = {.first = {recipe, 1}};
    uint32_t variant;
    if (recipe != 0 && !pm_variant_point(&id, &variant))
        return pm_fail(error, PM_ERROR_INPUT, "there is no recipe %u", recipe);
    const struct pm_point_counts measured = pm_variant_counts(recipe ? variant : 1, 8, -0.1);
    const struct pm_shader_profile shaders[] = {
        {
            .key = pm_shader_key_compute("test", &word, 1),
            .environment = {.subgroup_size = 32},
            .kind = PM_KIND_BLOCK,
            .space = 1,
            .points = &point,
            .point_count = 1,
        },
        {
            .key = pm_shader_key_compute("test", &word, 1),
            .environment = {.subgroup_size = 32, .vendor_id = 1, .device_id = 2},
            .kind = PM_KIND_VARIANT,
            .space = PM_VARIANT_SPACE,
            .points = &measured,
            .point_count = 1,
        },
    };
    struct pm_profile checkpoint = {.game = "spooling",
                                    .scene = "",
                                    .layer_version = "1",
                                    .shaders = shaders,
                                    .shader_count = recipe != 0 ? 2 : 1};
    return pm_random_system(checkpoint.upload_id, sizeof checkpoint.upload_id) &&
           pm_spool_append(writer, &checkpoint, error);
}

int main(int argc, char **argv)
{
    struct pm_error error = {0};
    struct pm_spool_writer *writer =
        argc > 2 ? pm_spool_writer_create(NULL, (uint64_t)1 << 20, &error) : NULL;
    bool ok = writer != NULL;
    for (int i = 0; ok && i < atoi(argv[1]); i++)
        ok = append(writer, argc > 4 ? (uint32_t)atoi(argv[4]) : 0, &error);
    FILE *file = ok ? fopen(argv[2], "w") : NULL;
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0) {
        fprintf(stderr, "spooling: %s\n", error.message);
        return 1;
    }
    sleep(argc > 3 ? (unsigned)atoi(argv[3]) : 600);
    pm_spool_writer_destroy(writer);
    return 0;
}
