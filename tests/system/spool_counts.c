/*
 * What the sessions in a spool folder counted, merged: a line a shader with its number of points
 * (of all kinds), how many of them were measured, the most sampled calls of one of them and the
 * lanes that entered then (each summed over the kinds, which share the calls), and how many zero
 * candidates were written. The system tests see by it that a run was really sampled.
 *
 * With --each it is a line for each estimate of each checkpoint instead, a name and what its ratio
 * is of: of a shader ("KEY") how many lanes entered in how many calls, and of a point ("KEY-POINT")
 * how many lanes entered it of how many that entered the shader.
 *
 * usage: spool_counts FOLDER [--each]
 */
#include "aggregator_client/disk/spool.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool add(void *merge, const struct pm_profile *checkpoint, struct pm_error *error)
{
    return pm_profile_merge_add(merge, checkpoint, error);
}

static bool print_each(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    (void)user;
    (void)error;
    for (size_t i = 0; i < checkpoint->shader_count; i++) {
        const struct pm_shader_profile *shader = &checkpoint->shaders[i];
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&shader->key, key);
        for (size_t j = 0; j < shader->point_count && shader->kind == PM_KIND_BLOCK; j++) {
            const struct pm_point_counts *point = &shader->points[j];
            if (j == 0)
                printf("%s %" PRIu64 " %" PRIu32 "\n", key, point->entry_lanes, point->calls);
            printf("%s-%" PRIu32 " %" PRIu64 " %" PRIu64 "\n", key, point->point,
                   point->counts[PM_BLOCK_LANES], point->entry_lanes);
        }
    }
    return true;
}

struct line {
    uint32_t space, calls, zeros;
    size_t points;
    uint64_t lanes;
};

static void add_to_line(struct line *line, const struct pm_shader_profile *shader)
{
    uint32_t calls = 0;
    uint64_t lanes = 0;
    for (size_t i = 0; i < shader->point_count; i++) {
        const struct pm_point_counts *point = &shader->points[i];
        if (point->calls >= calls) {
            calls = point->calls;
            lanes = point->entry_lanes;
        }
        line->zeros += shader->kind == PM_KIND_ZERO && point->counts[PM_ZERO_WRITES] > 0;
    }
    line->space += shader->space;
    line->points += shader->point_count;
    line->calls += calls;
    line->lanes += lanes;
}

/* The profiles are sorted by key, environment and kind. */
static void print(const struct pm_shader_profile *shaders, size_t count)
{
    struct line line = {0};
    for (size_t i = 0; i < count; i++) {
        add_to_line(&line, &shaders[i]);
        if (i + 1 < count && pm_shader_key_equal(&shaders[i].key, &shaders[i + 1].key) &&
            shaders[i].environment.subgroup_size == shaders[i + 1].environment.subgroup_size &&
            shaders[i].kind != shaders[i + 1].kind)
            continue;
        printf("space %" PRIu32 " points %zu calls %" PRIu32 " lanes %" PRIu64 " zeros %" PRIu32
               "\n",
               line.space, line.points, line.calls, line.lanes, line.zeros);
        line = (struct line){0};
    }
}

int main(int argc, char **argv)
{
    const bool each = argc == 3 && strcmp(argv[2], "--each") == 0;
    if (argc != 2 && !each) {
        fputs("usage: spool_counts FOLDER [--each]\n", stderr);
        return 2;
    }
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t session_count = 0, shader_count = 0;
    struct pm_profile_merge *merge = pm_profile_merge_create();
    bool good = merge && pm_spool_list(argv[1], &sessions, &session_count, &error);
    for (size_t i = 0; good && i < session_count; i++) {
        uint64_t damaged_at = UINT64_MAX;
        good =
            pm_spool_read(sessions[i].path, each ? print_each : add, merge, &damaged_at, &error) &&
            damaged_at == UINT64_MAX;
    }
    if (good && !each) {
        const struct pm_shader_profile *shaders = pm_profile_merge_shaders(merge, &shader_count);
        print(shaders, shader_count);
    } else if (!good) {
        fprintf(stderr, "spool_counts: %s\n", error.message);
    }
    pm_spool_list_free(sessions, session_count);
    pm_profile_merge_destroy(merge);
    return good ? 0 : 1;
}
