#include "tests/aggregator/statistics/statistics_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants these before it. */
#include <cmocka.h>

static uint64_t random_count(struct pm_random *random)
{
    return pm_random_next(random) >> pm_random_below(random, 64);
}

static struct pm_point_counts random_point(struct pm_random *random, enum pm_kind kind,
                                           uint32_t index)
{
    struct pm_point_counts point = {.point = index, .calls = pm_random_below(random, 100)};
    point.entry_lanes = random_count(random);
    point.entry_subgroups = point.entry_lanes / (1 + pm_random_below(random, 32));
    if (point.entry_subgroups == 0)
        point.entry_lanes = 0;
    if (point.entry_lanes == 0 || pm_random_below(random, 4) == 0)
        return point;
    point.counts[0] = random_count(random);
    point.counts[1] = point.counts[0] / (1 + pm_random_below(random, 9));
    if (kind == PM_KIND_BLOCK)
        point.counts[2] = (point.counts[0] + 3) / 4;
    if (kind == PM_KIND_BLOCK && point.counts[0] % 5 == 0) {
        point.lanes_alone = point.counts[0];
        point.counts[1] = point.counts[2] = point.entry_subgroups = 0;
    } else if (kind == PM_KIND_BLOCK && point.counts[0] % 5 == 1) { /* of calls of both kinds */
        point.lanes_alone = point.counts[0] / 2;
        point.counts[1] /= 2;
        point.counts[2] = (point.counts[0] + 7) / 8;
    }
    return point;
}

size_t random_points(struct pm_random *random, enum pm_kind kind, struct pm_point_counts *points)
{
    size_t count = 0;
    for (uint32_t i = 0; i < SPACE; i++) {
        if (pm_random_below(random, 3) != 0)
            points[count++] = random_point(random, kind, i);
    }
    for (size_t i = count; i > 1; i--) {
        const size_t j = pm_random_below(random, (uint32_t)i);
        const struct pm_point_counts swap = points[i - 1];
        points[i - 1] = points[j];
        points[j] = swap;
    }
    return count;
}

static void add(struct pm_statistics *statistics, const struct pm_shader_profile *shader)
{
    struct pm_error error;
    if (!pm_statistics_add_profile(statistics, shader, &error))
        fail_msg("%s", error.message);
}

void add_cluster(struct pm_statistics *statistics, enum pm_kind kind, const uint8_t *at_most_once,
                 const struct pm_point_counts *points, size_t count)
{
    add(statistics, &(struct pm_shader_profile){.kind = kind,
                                                .space = SPACE,
                                                .at_most_once = at_most_once,
                                                .points = points,
                                                .point_count = count});
}

void add_zeros(struct pm_statistics *statistics, uint32_t candidates,
               const struct pm_point_counts *points, size_t count)
{
    add(statistics, &(struct pm_shader_profile){.kind = PM_KIND_ZERO,
                                                .space = SPACE,
                                                .candidates = candidates,
                                                .points = points,
                                                .point_count = count});
}

uint32_t random_candidates(struct pm_random *random)
{
    const uint32_t left_out[] = {167, 167, 0, pm_random_below(random, 1u << PM_LEFT_OUT_BITS)};
    const uint32_t which = pm_random_below(random, 5);
    return which < 4 ? SPACE + left_out[which] : 0;
}

void encode(const struct pm_statistics *statistics, struct pm_buffer *out)
{
    struct pm_error error;
    pm_buffer_init(out, 1 << 20);
    if (!pm_statistics_encode(statistics, out, &error))
        fail_msg("%s", error.message);
}

void assert_same(const struct pm_statistics *a, const struct pm_statistics *b)
{
    struct pm_buffer left, right;
    encode(a, &left);
    encode(b, &right);
    assert_int_equal(left.size, right.size);
    assert_memory_equal(left.data, right.data, left.size);
    pm_buffer_finish(&left);
    pm_buffer_finish(&right);
}

struct pm_cell totals(const struct pm_statistics *statistics, uint32_t point, unsigned measure)
{
    struct pm_cell sum = {0};
    size_t count;
    const struct pm_cell *cells = pm_statistics_cells(statistics, point, measure, &count);
    for (size_t i = 0; i < count; i++) {
        sum.n += cells[i].n;
        pm_wide_add(&sum.x, &cells[i].x);
        pm_wide_add(&sum.y, &cells[i].y);
        pm_wide_add(&sum.r, &cells[i].r);
        pm_wide_add(&sum.rr, &cells[i].rr);
    }
    const struct pm_point_statistics *found = pm_statistics_find(statistics, point);
    assert_int_equal(sum.n, found ? found->measures[measure].n : 0);
    return sum;
}
