#include "aggregator/intake/day_clusters.h"

#include "aggregator/intake/hold_out.h"
#include <stdlib.h>
#include <string.h>

/* Into of->points. */
static bool decode(struct pm_day_clusters *of, const struct pm_day_said *said,
                   struct pm_error *error)
{
    const size_t count = said->sample.shader.point_count;
    if (count > of->points_allocated) {
        struct pm_point_counts *points = reallocarray(of->points, count, sizeof(*points));
        if (!points)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", count);
        of->points = points;
        of->points_allocated = count;
    }
    return pm_sample_points(&said->sample, of->points, error);
}

static bool count_calls(struct pm_day_clusters *of, const struct pm_day_said *said, size_t count,
                        uint64_t *calls, struct pm_error *error)
{
    *calls = 0;
    for (size_t i = 0; i < count; i++) {
        if (!decode(of, &said[i], error))
            return false;
        for (size_t j = 0; j < said[i].sample.shader.point_count; j++)
            *calls += of->points[j].calls;
    }
    return true;
}

static bool add_cluster(struct pm_day_clusters *of, const struct pm_day_cluster *cluster,
                        struct pm_error *error)
{
    if (of->count == of->allocated) {
        const size_t allocated = of->allocated ? of->allocated * 2 : 256;
        struct pm_day_cluster *clusters = reallocarray(of->clusters, allocated, sizeof(*clusters));
        if (!clusters)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu players", allocated);
        of->clusters = clusters;
        of->allocated = allocated;
    }
    of->clusters[of->count++] = *cluster;
    return true;
}

/* Behind those of one scene with the same flags. */
static size_t end_of_place(const struct pm_day_said *said, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count &&
           pm_day_compare_places(said[first].sample.shader.flags, said[first].scene,
                                 said[end].sample.shader.flags, said[end].scene) == 0)
        end++;
    return end;
}

bool pm_day_clusters_add(struct pm_day_clusters *of, const struct pm_day_said *said, size_t count,
                         struct pm_error *error)
{
    struct pm_day_cluster cluster = {.said = said, .count = end_of_place(said, 0, count)};
    uint64_t calls, most = 0, mark;
    if (cluster.count < count && !count_calls(of, said, cluster.count, &most, error))
        return false;
    for (size_t first = cluster.count, end; first < count; first = end) {
        end = end_of_place(said, first, count);
        if (!count_calls(of, said + first, end - first, &calls, error))
            return false;
        if (calls > most) {
            most = calls;
            cluster.said = said + first;
            cluster.count = end - first;
        }
    }
    memcpy(&mark, said->mark, sizeof(mark));
    cluster.flags = pm_hold_out(&cluster.said->sample.shader, mark);
    return add_cluster(of, &cluster, error);
}

/* Adds up several samples of a cluster. */
static bool merge(struct pm_day_clusters *of, const struct pm_day_cluster *cluster,
                  struct pm_arena *arena, struct pm_shader_profile *out, struct pm_error *error)
{
    struct pm_profile_merge *merged = pm_profile_merge_create();
    const struct pm_shader_profile *sum = NULL;
    size_t sums = 0;
    bool done = merged || pm_fail(error, PM_ERROR_MEMORY, "out of memory for merging");
    for (size_t i = 0; done && i < cluster->count; i++) {
        struct pm_shader_profile shader = cluster->said[i].sample.shader;
        const struct pm_profile profile = {.shaders = &shader, .shader_count = 1};
        done = decode(of, &cluster->said[i], error);
        shader.points = of->points;
        shader.at_most_once = NULL; /* all of a claim have the same */
        done = done && pm_profile_merge_add(merged, &profile, error);
    }
    if (done) {
        sum = pm_profile_merge_shaders(merged, &sums);
        done = sum && sums == 1;
        out->points =
            done ? pm_arena_dup(arena, sum->points, sum->point_count * sizeof(*sum->points)) : NULL;
        done = out->points || pm_fail(error, PM_ERROR_MEMORY, "out of memory for merging");
    }
    if (done) {
        out->point_count = sum->point_count;
        out->candidates = sum->candidates;
    }
    pm_profile_merge_destroy(merged);
    return done;
}

bool pm_day_clusters_read(struct pm_day_clusters *of, const struct pm_day_cluster *cluster,
                          struct pm_arena *arena, struct pm_shader_profile *out,
                          struct pm_error *error)
{
    *out = cluster->said->sample.shader;
    out->flags = cluster->flags;
    if (cluster->count > 1)
        return merge(of, cluster, arena, out, error);
    struct pm_point_counts *points = pm_arena_zalloc(arena, out->point_count + 1, sizeof(*points));
    if (!points)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", out->point_count);
    out->points = points;
    return pm_sample_points(&cluster->said->sample, points, error);
}

void pm_day_clusters_finish(struct pm_day_clusters *clusters)
{
    free(clusters->clusters);
    free(clusters->points);
}
