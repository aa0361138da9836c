#include "tests/cmocka_includes.h"
#include "tests/profile/random_profile.h"
#include <string.h>

enum { KEYS = 40, SPACE = 64 };

/* The plain sums, by brute force. */
static struct {
    bool seen, has[SPACE];
    struct pm_point_counts points[SPACE];
} truth[KEYS];

static void add_truth(const struct pm_profile *profile)
{
    for (size_t s = 0; s < profile->shader_count; s++) {
        const struct pm_shader_profile *shader = &profile->shaders[s];
        uint32_t id = 0;
        for (struct pm_shader_key key; id < KEYS; id++) {
            key = pm_shader_key_compute("test", &id, 1);
            if (pm_shader_key_equal(&key, &shader->key))
                break;
        }
        assert_true(id < KEYS);
        truth[id].seen = true;
        for (size_t i = 0; i < shader->point_count; i++) {
            const struct pm_point_counts *from = &shader->points[i];
            struct pm_point_counts *to = &truth[id].points[from->point];
            truth[id].has[from->point] = true;
            to->calls += from->calls;
            to->entry_lanes += from->entry_lanes;
            to->entry_subgroups += from->entry_subgroups;
            for (int c = 0; c < PM_COUNTS; c++)
                to->counts[c] += from->counts[c];
        }
    }
}

static void compare_with_truth(const struct pm_shader_profile *shaders, size_t count)
{
    size_t seen = 0;
    for (uint32_t id = 0; id < KEYS; id++) {
        struct pm_shader_key key = pm_shader_key_compute("test", &id, 1);
        const struct pm_shader_profile *shader = NULL;
        for (size_t i = 0; i < count; i++) {
            if (pm_shader_key_equal(&key, &shaders[i].key))
                shader = &shaders[i];
        }
        assert_true((shader != NULL) == truth[id].seen);
        if (!shader)
            continue;
        seen++;
        size_t next = 0;
        for (uint32_t p = 0; p < SPACE; p++) {
            if (!truth[id].has[p])
                continue;
            assert_true(next < shader->point_count);
            const struct pm_point_counts *point = &shader->points[next++],
                                         *want = &truth[id].points[p];
            assert_int_equal(point->point, p);
            assert_int_equal(point->calls, want->calls);
            assert_true(point->entry_lanes == want->entry_lanes);
            assert_true(point->entry_subgroups == want->entry_subgroups);
            assert_memory_equal(point->counts, want->counts, sizeof(want->counts));
        }
        assert_int_equal(next, shader->point_count);
    }
    assert_int_equal(seen, count);
}

static void sums_are_the_plain_sums(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile_merge *merge = pm_profile_merge_create();
    struct pm_error error = {0};
    pm_random_init(&random, 11);
    size_t count;
    for (int i = 0; i < 60; i++) {
        struct pm_profile profile = pm_random_profile(&random, arena, KEYS / 2, SPACE / 2);
        if (!pm_profile_merge_add(merge, &profile, &error))
            fail_msg("%s", error.message);
        add_truth(&profile);
        if (i % 20 == 5) {
            const struct pm_shader_profile *so_far = pm_profile_merge_shaders(merge, &count);
            compare_with_truth(so_far, count);
        }
    }
    pm_arena_destroy(arena); /* the merge keeps nothing of what it was given */
    const struct pm_shader_profile *shaders = pm_profile_merge_shaders(merge, &count);
    compare_with_truth(shaders, count);
    for (size_t i = 1; i < count; i++)
        assert_true(memcmp(shaders[i - 1].key.bytes, shaders[i].key.bytes, PM_SHADER_KEY_BYTES) <
                    0);

    /* What was merged is a profile again. */
    struct pm_profile whole = {
        .game = "g", .scene = "", .layer_version = "", .shaders = shaders, .shader_count = count};
    struct pm_buffer out;
    pm_buffer_init(&out, 1 << 20);
    if (!pm_profile_encode(&whole, &out, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&out);
    pm_profile_merge_destroy(merge);
}

static void disagreement_leaves_the_merge_as_it_was(void **state)
{
    (void)state;
    uint8_t once[1] = {1}, other[1] = {2};
    struct pm_point_counts unordered[2] = {{.point = 3, .calls = 1}, {.point = 1, .calls = 2}};
    struct pm_shader_profile list[2] = {
        {.key = {{1}}, .kind = PM_KIND_BLOCK, .space = 4, .points = unordered, .point_count = 2},
        {.key = {{2}}, .kind = PM_KIND_BLOCK, .space = 4, .at_most_once = once}};
    struct pm_profile profile = {.game = "g", .scene = "", .layer_version = ""};
    profile.shaders = list;
    profile.shader_count = 2;
    struct pm_profile_merge *merge = pm_profile_merge_create();
    struct pm_error error;
    assert_true(pm_profile_merge_add(merge, &profile, &error));
    list[1].space = 5;
    assert_false(pm_profile_merge_add(merge, &profile, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    list[1].space = 4;
    list[1].at_most_once = other;
    assert_false(pm_profile_merge_add(merge, &profile, &error));
    list[1].at_most_once = NULL; /* not knowing is no disagreement */
    assert_true(pm_profile_merge_add(merge, &profile, &error));
    list[1].flags = PM_PROFILE_OCCLUDED; /* and another flag is another profile */
    list[1].space = 9;
    assert_true(pm_profile_merge_add(merge, &profile, &error));
    size_t count;
    const struct pm_shader_profile *shaders = pm_profile_merge_shaders(merge, &count);
    assert_int_equal(count, 3);
    assert_int_equal(shaders[0].points[0].point, 1);
    assert_int_equal(shaders[0].points[0].calls, 6);
    assert_int_equal(shaders[0].points[1].calls, 3);
    assert_int_equal(shaders[1].at_most_once[0], 1);
    pm_profile_merge_destroy(merge);
    pm_profile_merge_destroy(NULL);
}

/* In whatever order they come; of one that is known and none, the known one stays. */
static void of_two_originals_one_stays(void **state)
{
    (void)state;
    static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        struct pm_shader_profile shader = {
            .key = {{1}}, .environment = {.subgroup_size = 8}, .kind = PM_KIND_TIMING, .space = 1};
        const struct pm_profile profile = {
            .game = "g", .scene = "", .layer_version = "", .shaders = &shader, .shader_count = 1};
        struct pm_profile_merge *merge = pm_profile_merge_create();
        struct pm_error error;
        size_t count;
        for (size_t k = 0; k < 3; k++) {
            shader.original.bytes[5] = orders[i][k];
            assert_true(pm_profile_merge_add(merge, &profile, &error));
        }
        const struct pm_shader_profile *merged = pm_profile_merge_shaders(merge, &count);
        assert_int_equal(count, 1);
        assert_int_equal(merged->original.bytes[5], 1);
        pm_profile_merge_destroy(merge);
    }
}

/* In whatever order they come, and however often; not knowing is no disagreement. */
static void of_two_numbers_of_candidates_the_greater_stays(void **state)
{
    (void)state;
    static const uint32_t orders[][4] = {{0, 9, 7, 9}, {9, 7, 0, 0}, {7, 0, 9, 7}, {7, 7, 9, 0}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        struct pm_shader_profile shader = {
            .key = {{1}}, .environment = {.subgroup_size = 8}, .kind = PM_KIND_ZERO, .space = 4};
        const struct pm_profile profile = {
            .game = "g", .scene = "", .layer_version = "", .shaders = &shader, .shader_count = 1};
        struct pm_profile_merge *merge = pm_profile_merge_create();
        struct pm_error error;
        size_t count;
        for (size_t k = 0; k < 4; k++) {
            shader.candidates = orders[i][k];
            assert_true(pm_profile_merge_add(merge, &profile, &error));
        }
        assert_int_equal(pm_profile_merge_shaders(merge, &count)->candidates, 9);
        pm_profile_merge_destroy(merge);
    }
}

static void sums_saturate(void **state)
{
    (void)state;
    struct pm_point_counts point = {.calls = UINT32_MAX - 1,
                                    .entry_lanes = UINT64_MAX,
                                    .entry_subgroups = 5,
                                    .counts = {UINT64_MAX - 1, 7, 1}};
    struct pm_shader_profile shader = {
        .kind = PM_KIND_BLOCK, .space = 1, .points = &point, .point_count = 1};
    struct pm_profile profile = {
        .game = "g", .scene = "", .layer_version = "", .shaders = &shader, .shader_count = 1};
    struct pm_profile_merge *merge = pm_profile_merge_create();
    assert_true(pm_profile_merge_add(merge, &profile, NULL));
    assert_true(pm_profile_merge_add(merge, &profile, NULL));
    size_t count;
    const struct pm_point_counts *sum = pm_profile_merge_shaders(merge, &count)->points;
    assert_true(sum->calls == UINT32_MAX);
    assert_true(sum->entry_lanes == UINT64_MAX);
    assert_true(sum->entry_subgroups == 10);
    assert_true(sum->counts[0] == UINT64_MAX);
    assert_true(sum->counts[1] == 14);
    pm_profile_merge_destroy(merge);
}

/* What is known of lanes is so of sums, however large they are. */
static void lanes_alone_add_up(void **state)
{
    (void)state;
    struct pm_point_counts points[] = {
        {.entry_lanes = 80, .entry_subgroups = 9, .counts = {60, 40, 8}},
        {.entry_lanes = 30, .counts = {20}, .lanes_alone = 20},
        {.entry_lanes = UINT64_MAX, .counts = {UINT64_MAX}, .lanes_alone = UINT64_MAX},
        {.entry_lanes = UINT64_MAX,
         .entry_subgroups = UINT64_MAX,
         .counts = {UINT64_MAX, UINT64_MAX, UINT64_MAX}},
    };
    static const struct pm_point_counts sums[] = {
        {.entry_lanes = 80, .entry_subgroups = 9, .counts = {60, 40, 8}},
        {.entry_lanes = 110, .entry_subgroups = 9, .counts = {80, 40, 8}, .lanes_alone = 20},
        {.entry_lanes = UINT64_MAX,
         .entry_subgroups = 9,
         .counts = {UINT64_MAX, 40, 8},
         .lanes_alone = UINT64_MAX - 60},
        {.entry_lanes = UINT64_MAX,
         .entry_subgroups = UINT64_MAX,
         .counts = {UINT64_MAX, UINT64_MAX, UINT64_MAX}},
    };
    struct pm_profile_merge *merge = pm_profile_merge_create();
    for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
        const struct pm_shader_profile shader = {.environment.subgroup_size = 8,
                                                 .kind = PM_KIND_BLOCK,
                                                 .space = 1,
                                                 .points = &points[i],
                                                 .point_count = 1};
        struct pm_profile profile = {
            .game = "g", .scene = "", .layer_version = "", .shaders = &shader, .shader_count = 1};
        struct pm_buffer out;
        struct pm_error error;
        size_t count;
        assert_true(pm_profile_merge_add(merge, &profile, &error));
        profile.shaders = pm_profile_merge_shaders(merge, &count);
        assert_memory_equal(profile.shaders->points, &sums[i], sizeof(*sums));
        pm_buffer_init(&out, 1 << 20);
        if (!pm_profile_encode(&profile, &out, &error)) /* such counts can be */
            fail_msg("%s", error.message);
        pm_buffer_finish(&out);
    }
    pm_profile_merge_destroy(merge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_plain_sums),
        cmocka_unit_test(disagreement_leaves_the_merge_as_it_was),
        cmocka_unit_test(of_two_originals_one_stays),
        cmocka_unit_test(of_two_numbers_of_candidates_the_greater_stays),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(lanes_alone_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
