/* Stands for a game under the layer: writes so many checkpoints of one shader into the spool, says
 * so in a file, and goes on until it is killed. usage: spooling CHECKPOINTS FILE [SECONDS [GAME]]
 */
#include "aggregator_client/disk/spool.h"
#include "base/random.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool append(struct pm_spool_writer *writer, const char *game, struct pm_error *error)
{
    const uint32_t word = 1;
    const struct pm_point_counts point = {
        .calls = 1, .entry_lanes = 64, .entry_subgroups = 2, .counts = {64, 64, 2}};
    const struct pm_shader_profile shader = {
        .key = pm_shader_key_compute("test", &word, 1),
        .environment = {.subgroup_size = 32},
        .kind = PM_KIND_BLOCK,
        .space = 1,
        .points = &point,
        .point_count = 1,
    };
    struct pm_profile checkpoint = {
        .game = game, .scene = "", .layer_version = "1", .shaders = &shader, .shader_count = 1};
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
        ok = append(writer, argc > 4 ? argv[4] : "spooling", &error);
    FILE *file = ok ? fopen(argv[2], "w") : NULL;
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0) {
        fprintf(stderr, "spooling: %s\n", error.message);
        return 1;
    }
    sleep(argc > 3 ? (unsigned)atoi(argv[3]) : 600);
    pm_spool_writer_destroy(writer);
    return 0;
}
