/* Counters of compute shaders equal a model of the same shader in C to the last unit, on every
 * driver: lanes always; subgroups and uniform lanes where lanes of a subgroup meet again after
 * every branch and loop, as they do on drivers that run a subgroup as one vector. */
#include "base/random.h"
#include "profile/profile.h"
#include "tests/all.h"
#include "tests/shader_rewrite/instrument/counting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum {
    GROUPS_X = 5,
    GROUPS_Y = 2,
    GROUPS_Z = 2,
    GROUPS = GROUPS_X * GROUPS_Y * GROUPS_Z,
    MARKS = 64
};

/* ---- the model ---- */

/* A lane at a place; lanes of a subgroup are there together when they are in the same iterations.
 */
struct visit {
    uint32_t mark, subgroup, iteration;
};
struct model {
    struct visit *visits;
    size_t count, allocated;
    uint32_t local_size;
    uint32_t subgroup_of[64];    /* by local index: the local index of its subgroup's first lane */
    uint32_t subgroup_lanes[64]; /* by that index: how many lanes have it; else 0 */
    uint32_t subgroup;           /* of the lane being run */
};

/* Asks the driver how it splits workgroups into subgroups. */
static void ask_subgroups(struct model *m, uint32_t size_x, uint32_t size_y)
{
    struct pm_words words;
    pm_gpu_load(PM_TEST_COUNTS, "subgroup_of.comp", &words.data, &words.count);
    struct pm_gpu_buffer first;
    pm_gpu_buffer_create(&pm_test_gpu, sizeof(m->subgroup_of), &first);
    const uint32_t size[2] = {size_x, size_y};
    const VkSpecializationMapEntry entries[2] = {{0, 0, 4}, {1, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof(size), size};
    const struct pm_gpu_shader shader = {.words = words.data,
                                         .count = words.count,
                                         .specialization = &specialization,
                                         .buffers = {&first}};
    pm_gpu_dispatch(&pm_test_gpu, &shader, 1, 1, 1);
    memcpy(m->subgroup_of, first.data, sizeof(m->subgroup_of));
    m->local_size = size_x * size_y;
    for (uint32_t l = 0; l < m->local_size; l++) {
        assert_true(m->subgroup_of[l] <= l);
        m->subgroup_lanes[m->subgroup_of[l]]++;
    }
    pm_gpu_buffer_destroy(&pm_test_gpu, &first);
    pm_words_finish(&words);
}

static uint32_t subgroups_of_group(const struct model *m)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < m->local_size; l++)
        count += m->subgroup_lanes[l] > 0;
    return count;
}

/* The lane that runs from now on. Subgroups are numbered by their first lane. */
static void lane(struct model *m, uint32_t group, uint32_t local)
{
    m->subgroup = group * 64 + m->subgroup_of[local];
}

static void mark(struct model *m, uint32_t k, uint32_t iteration)
{
    if (m->count == m->allocated) {
        m->allocated = m->allocated ? m->allocated * 2 : 1024;
        m->visits = realloc(m->visits, m->allocated * sizeof(*m->visits));
        assert_non_null(m->visits);
    }
    m->visits[m->count++] = (struct visit){k, m->subgroup, iteration};
}

/* counts/branches.comp, one lane */
static void branches_lane(struct model *m, uint32_t i, uint32_t count, uint32_t *data)
{
    mark(m, 0, 0);
    if (i >= count) {
        mark(m, 1, 0);
        return;
    }
    uint32_t v = data[i];
    if (v & 1) {
        mark(m, 2, 0);
        v += 3;
    } else {
        mark(m, 3, 0);
        v ^= 5;
        if (v % 7 == 0) {
            mark(m, 4, 0);
            data[i] = v;
            return;
        }
    }
    for (uint32_t k = 0; k < (v & 7); k++) {
        mark(m, 5, k);
        if (k == 3) {
            mark(m, 6, k);
            continue;
        }
        for (uint32_t j = 0; j < k; j++) {
            mark(m, 7, k * 8 + j);
            if ((v >> j & 3) == 2) {
                mark(m, 8, k * 8 + j);
                break;
            }
            v += j;
        }
        if (v % 11 == 0) {
            mark(m, 9, k);
            data[i] = v;
            return;
        }
        mark(m, 10, k);
    }
    switch (v % 5) {
    case 0:
        mark(m, 11, 0); /* falls through */
        __attribute__((fallthrough));
    case 1:
        mark(m, 12, 0);
        v *= 3;
        break;
    case 2:
        mark(m, 13, 0);
        data[i] = ~v;
        return;
    default:
        mark(m, 14, 0);
    }
    uint32_t n = 0;
    do {
        mark(m, 15, n);
        v = v * 5 + 1;
        n++;
    } while ((v & 12) != 0 && n < 9);
    for (uint32_t round = 0;; round++) {
        mark(m, 16, round);
        if (n == 0)
            break;
        if ((v & n) == 3) {
            mark(m, 17, round);
            n = 1;
        }
        n--;
    }
    mark(m, 18, 0);
    data[i] = v;
}

/* counts/barriers.comp, one workgroup of 24 lanes at a time; lane by lane between barriers */
static void barriers_group(struct model *m, uint32_t group, uint32_t count, uint32_t *data)
{
    uint32_t tile[24], from[24], first = group * 24;
    for (uint32_t l = 0; l < 24; l++) {
        lane(m, group, l);
        mark(m, 0, 0);
        tile[l] = first + l < count ? data[first + l] : 0;
    }
    for (uint32_t step = 1; step < 8; step *= 2) {
        for (uint32_t l = 0; l < 24; l++)
            from[l] = tile[(l + step) % 24];
        for (uint32_t l = 0; l < 24; l++) {
            lane(m, group, l);
            mark(m, 1, step);
            if (from[l] & step) {
                mark(m, 2, step);
                tile[l] ^= from[l];
            }
        }
    }
    for (uint32_t l = 0; l < 24; l++) {
        lane(m, group, l);
        uint32_t sum = tile[l];
        if (sum % 3 == 0) {
            mark(m, 3, 0);
            sum += 1;
        }
        mark(m, 4, 0);
        if (first + l < count)
            data[first + l] = sum;
    }
}

static void model_run(struct model *m, uint32_t size_x, uint32_t size_y, uint32_t count,
                      uint32_t *data)
{
    *m = (struct model){0};
    ask_subgroups(m, size_x, size_y);
    for (uint32_t g = 0; g < GROUPS; g++) {
        if (m->local_size == 24) {
            barriers_group(m, g, count, data);
            continue;
        }
        for (uint32_t l = 0; l < m->local_size; l++) {
            lane(m, g, l);
            branches_lane(m, g * m->local_size + l, count, data);
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;
    if (x->mark != y->mark)
        return x->mark < y->mark ? -1 : 1;
    if (x->subgroup != y->subgroup)
        return x->subgroup < y->subgroup ? -1 : 1;
    return x->iteration < y->iteration ? -1 : x->iteration > y->iteration;
}

/* What each mark's block must have counted. */
static void model_counts(struct model *m, uint64_t counts[MARKS][PM_COUNTS])
{
    memset(counts, 0, MARKS * sizeof(counts[0]));
    qsort(m->visits, m->count, sizeof(*m->visits), by_place);
    for (size_t i = 0, end; i < m->count; i = end) {
        for (end = i + 1; end < m->count && by_place(&m->visits[i], &m->visits[end]) == 0; end++)
            ;
        uint64_t *c = counts[m->visits[i].mark];
        c[PM_BLOCK_LANES] += end - i;
        c[PM_BLOCK_SUBGROUPS]++;
        if (end - i == m->subgroup_lanes[m->visits[i].subgroup % 64])
            c[PM_BLOCK_UNIFORM_LANES] += end - i;
    }
}

/* ---- the shader ---- */

struct scene {
    struct counting counting;
    uint32_t lanes, count; /* count: of data; lanes beyond return at once */
    uint32_t *data, *expected_data;
    uint64_t truth[MARKS][PM_COUNTS];
    uint64_t subgroups;
};

static void scene_create(struct scene *s, const char *name, uint32_t size_x, uint32_t size_y)
{
    *s = (struct scene){.lanes = GROUPS * size_x * size_y};
    s->count = s->lanes - 17;
    counting_load(&s->counting, name, PM_STAGE_COMPUTE);
    s->data = calloc(s->lanes, sizeof(uint32_t));
    s->expected_data = calloc(s->lanes, sizeof(uint32_t));
    assert_non_null(s->data);
    assert_non_null(s->expected_data);
    struct pm_random random;
    pm_random_init(&random, 3);
    for (uint32_t i = 0; i < s->lanes; i++) /* some subgroups all alike, so that some are uniform */
        s->data[i] = i / 16 % 3 == 0 ? 3 * (i / 16) : (uint32_t)pm_random_next(&random) & 0xffff;
    memcpy(s->expected_data, s->data, s->lanes * sizeof(uint32_t));
    struct model m;
    model_run(&m, size_x, size_y, s->count, s->expected_data);
    model_counts(&m, s->truth);
    s->subgroups = GROUPS * subgroups_of_group(&m);
    free(m.visits);
}

static void scene_finish(struct scene *s)
{
    counting_finish(&s->counting);
    free(s->data);
    free(s->expected_data);
}

/* Dispatches, and asserts that the shader itself computed what it should. */
static void dispatch(struct scene *s, const struct pm_words *words,
                     const VkSpecializationInfo *specialization)
{
    struct pm_gpu_buffer marks, data;
    pm_gpu_buffer_create(&pm_test_gpu, MARKS * sizeof(uint32_t), &marks);
    pm_gpu_buffer_create(&pm_test_gpu, s->lanes * sizeof(uint32_t), &data);
    memcpy(data.data, s->data, s->lanes * sizeof(uint32_t));
    const struct pm_gpu_shader shader = {.words = words->data,
                                         .count = words->count,
                                         .specialization = specialization,
                                         .buffers = {&marks, &data},
                                         .push = &s->count,
                                         .push_size = sizeof(s->count)};
    pm_gpu_dispatch(&pm_test_gpu, &shader, GROUPS_X, GROUPS_Y, GROUPS_Z);
    assert_memory_equal(data.data, s->expected_data, s->lanes * sizeof(uint32_t));
    for (uint32_t k = 0; k < MARKS; k++)
        assert_int_equal(((uint32_t *)marks.data)[k], s->truth[k][PM_BLOCK_LANES]);
    pm_gpu_buffer_destroy(&pm_test_gpu, &marks);
    pm_gpu_buffer_destroy(&pm_test_gpu, &data);
}

/* The marks whose block is in the batch alone: each count of theirs is the model's. */
static uint32_t assert_marks(const struct scene *s, const struct counting_way *way,
                             const uint64_t *totals)
{
    static const char *const what[PM_COUNTS] = {"lanes", "uniform lanes", "subgroups"};
    uint32_t checked = 0;
    for (uint32_t k = 0; k < MARKS; k++) {
        uint32_t points[8], found = 0, have = counting_points_of_mark(&s->counting, k, points);
        uint64_t sums[PM_COUNTS] = {0};
        for (uint32_t h = 0; h < have; h++)
            for (uint32_t i = 0; i < way->point_count; i++) {
                if (way->points[i] != points[h])
                    continue;
                found++;
                for (int n = 0; n < PM_COUNTS; n++)
                    sums[n] += totals[2 + PM_COUNTS * i + (uint32_t)n];
            }
        if (!have || found != have)
            continue;
        checked++;
        for (int n = 0; n < PM_COUNTS; n++)
            if (sums[n] != s->truth[k][n])
                fail_msg("%s on %s: mark %u, %s: counted %" PRIu64 ", truth %" PRIu64,
                         s->counting.name, pm_test_gpu.name, k, what[n], sums[n], s->truth[k][n]);
    }
    return checked;
}

static void count_and_check(struct scene *s, const struct counting_way *way)
{
    struct counting_run run;
    counting_run_begin(&run, &pm_test_gpu, &s->counting, way);
    dispatch(s, &run.instrumented.words, &run.specialization);
    uint64_t *totals = calloc(2 + PM_COUNTS * (size_t)way->point_count, sizeof(*totals));
    assert_non_null(totals);
    counting_run_read(&run, totals);
    assert_int_equal(totals[0], s->lanes);
    assert_int_equal(totals[1], s->subgroups);
    uint32_t checked = assert_marks(s, way, totals);
    if (way->point_count == s->counting.points.count) {
        assert_true(checked >= 5);
        counting_assert_flow(&s->counting, pm_test_gpu.subgroup_size, totals);
    }
    free(totals);
    counting_run_finish(&run, &pm_test_gpu);
}

static void check_shader(const char *name, uint32_t size_x, uint32_t size_y)
{
    struct scene s;
    scene_create(&s, name, size_x, size_y);
    uint32_t count = s.counting.points.count, *all = calloc(count, sizeof(*all));
    assert_non_null(all);
    for (uint32_t i = 0; i < count; i++)
        all[i] = i;
    dispatch(&s, &s.counting.canonical, NULL);
    for (int wide = 0; wide <= (pm_test_gpu.int64_atomics ? 1 : 0); wide++) {
        struct counting_way way = {all, count, 64, wide, false, 0};
        count_and_check(&s, &way);
        way.slot_count = 1;
        way.preload = 0xfffffffdu; /* low words wrap at once */
        count_and_check(&s, &way);
        for (uint32_t i = (uint32_t)wide; i < count; i += pm_test_all() ? 4 : 12) {
            struct counting_way one = {&all[i], 1, 4, wide, false, 0};
            count_and_check(&s, &one);
        }
        struct counting_way none = {NULL, 0, 2, wide, false, 0};
        count_and_check(&s, &none);
    }
    free(all);
    scene_finish(&s);
}

static void test_branches(void **state)
{
    (void)state;
    check_shader("branches.comp", 13, 3);
}

static void test_barriers(void **state)
{
    (void)state;
    check_shader("barriers.comp", 24, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_barriers),
    };
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
