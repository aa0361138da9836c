/* What specialize_zero is told of a database's estimates. */
#include "shader_rewrite/zero/zero_profile.h"

#include "tests/cmocka_includes.h"

/* How often blocks run is how often subgroups enter them; of a shader of which some block's lanes
 * were counted alone, lanes: else nothing would be worth it there, or blocks were no more weighed
 * against each other. */
static void test_blocks_of_lanes_alone(void **state)
{
    (void)state;
    struct pm_point_estimate zeros[1] = {0}, blocks[3] = {0};
    zeros[0].measures[PM_MEASURE_ZERO] = (struct pm_ratio){.ratio = 0.9, .clusters = 2};
    zeros[0].measures[PM_MEASURE_WRITES] = (struct pm_ratio){.ratio = 3, .clusters = 2};
    for (int i = 0; i < 2; i++)
        blocks[i].measures[PM_MEASURE_FREQUENCY] = (struct pm_ratio){.ratio = 0.25, .clusters = 2};
    blocks[0].measures[PM_MEASURE_SUBGROUPS] = (struct pm_ratio){.ratio = 0.5, .clusters = 2};
    const struct pm_shader_estimates of_zeros = {
        .kind = PM_KIND_ZERO, .space = 1, .published = true, .points = zeros};
    const struct pm_shader_estimates of_blocks = {
        .kind = PM_KIND_BLOCK, .space = 3, .published = true, .points = blocks};
    struct pm_zero_profile profile;
    assert_true(pm_zero_profile_init(&profile, &of_zeros, &of_blocks));
    assert_true(profile.blocks[0] == 0.25 && profile.blocks[1] == 0.25 && profile.blocks[2] == 0);
    pm_zero_profile_finish(&profile);
    blocks[1].measures[PM_MEASURE_SUBGROUPS] = (struct pm_ratio){.ratio = 0.75, .clusters = 2};
    assert_true(pm_zero_profile_init(&profile, &of_zeros, &of_blocks));
    assert_true(profile.blocks[0] == 0.5 && profile.blocks[1] == 0.75 && profile.blocks[2] == 0);
    pm_zero_profile_finish(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_lanes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
