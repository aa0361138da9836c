/*
 * What the sessions in a spool folder counted, merged: a line a shader with its number of points,
 * how many of them were measured, the most sampled calls of one of them, and the lanes that
 * entered. The system tests see by it that a run was really sampled.
 *
 * usage: spool_counts FOLDER
 */
#include "aggregator_client/spool.h"
#include <inttypes.h>
#include <stdio.h>

static bool add(void *merge, const struct pm_profile *checkpoint, struct pm_error *error)
{
    return pm_profile_merge_add(merge, checkpoint, error);
}

static void print(const struct pm_shader_profile *shader)
{
    uint32_t calls = 0;
    uint64_t lanes = 0;
    for (size_t i = 0; i < shader->point_count; i++) {
        if (shader->points[i].calls >= calls) {
            calls = shader->points[i].calls;
            lanes = shader->points[i].entry_lanes;
        }
    }
    printf("space %" PRIu32 " points %zu calls %" PRIu32 " lanes %" PRIu64 "\n", shader->space,
           shader->point_count, calls, lanes);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: spool_counts FOLDER\n", stderr);
        return 2;
    }
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t session_count = 0, shader_count = 0;
    struct pm_profile_merge *merge = pm_profile_merge_create();
    bool good = merge && pm_spool_list(argv[1], &sessions, &session_count, &error);
    for (size_t i = 0; good && i < session_count; i++) {
        uint64_t damaged_at = UINT64_MAX;
        good = pm_spool_read(sessions[i].path, add, merge, &damaged_at, &error) &&
               damaged_at == UINT64_MAX;
    }
    if (good) {
        const struct pm_shader_profile *shaders = pm_profile_merge_shaders(merge, &shader_count);
        for (size_t i = 0; shaders && i < shader_count; i++)
            print(&shaders[i]);
    } else {
        fprintf(stderr, "spool_counts: %s\n", error.message);
    }
    pm_spool_list_free(sessions, session_count);
    pm_profile_merge_destroy(merge);
    return good ? 0 : 1;
}
