/* Zeros counted in fragment shaders equal what the lanes had, to the last unit, on every driver:
 * helpers, discard, demote, derivatives after the value; and the picture stays the same, bit for
 * bit (HAZARDS 2). */
#include "tests/shader_rewrite/instrument/zeros.h"

#include "tests/cmocka_includes.h"

enum { SIZE = 64, PIXELS = SIZE * SIZE, LAYERS = 3 };

static struct pm_gpu gpu;

static int set_up(void **state)
{
    (void)state;
    pm_gpu_create(&gpu);
    assert_true(gpu.vote_and_quad_in_fragment);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pm_gpu_destroy(&gpu);
    return 0;
}

/* Thick triangles, slivers, and one of a few pixels: quads are partial at many edges. */
static const struct pm_gpu_vertex vertices[] = {
    {{-0.95f, -0.9f, 0.5f, 1}, {0}}, {{-0.1f, -0.9f, 0.5f, 1}, {0}},
    {{-0.93f, 0.1f, 0.5f, 1}, {0}},  {{0.1f, -0.95f, 0.5f, 1}, {0}},
    {{0.97f, -0.91f, 0.5f, 1}, {0}}, {{0.93f, 0.3f, 0.5f, 1}, {0}},
    {{-0.9f, 0.45f, 0.5f, 1}, {0}},  {{0.9f, 0.5f, 0.5f, 1}, {0}},
    {{-0.9f, 0.5f, 0.5f, 1}, {0}},   {{0.0f, 0.7f, 0.5f, 1}, {0}},
    {{0.11f, 0.7f, 0.5f, 1}, {0}},   {{0.05f, 0.83f, 0.5f, 1}, {0}},
};

/* What zeros/values.glsl computes in the shader, since some drivers load nothing for helpers. */
static uint32_t value(uint32_t pixel, uint32_t layer)
{
    uint32_t tile = (pixel % SIZE / 8 + pixel / (8 * SIZE) * 8) * 0x9e3779b1u + layer * 0x85ebca6bu;
    tile = (tile ^ tile >> 15) * 0x2c1b3c6du;
    uint32_t own = (pixel + layer * PIXELS) * 0x297a2d39u;
    own = (own ^ own >> 15) * 0x85ebca6bu;
    own ^= own >> 13;
    bool zero = ((tile ^ tile >> 12) & 3) != 0 && own % 50 != 0;
    return zero ? (own & 0x100) << 23 : 0x3f800000 | (own & 0x1000);
}

static void draw(const struct zeros_test *test, struct pm_gpu_shader *shader, struct zeros_run *run)
{
    const struct pm_gpu_draw call = {.fragment = *shader,
                                     .vertices = vertices,
                                     .vertex_count = sizeof(vertices) / sizeof(vertices[0]),
                                     .width = SIZE,
                                     .height = SIZE,
                                     .blend_add = true};
    run->texels = pm_gpu_draw(test->gpu, &call, &run->texel_bytes);
}

/* Values are f, made of the first layer, or v, made of all; a factor changes no zero. */
static bool quad_is_zero(const struct zeros_test *test, const struct zeros_expected *expected,
                         uint32_t pixel)
{
    (void)test;
    uint32_t layers = expected->values[0].binding == 2 ? 1 : LAYERS;
    if (expected->components)
        layers = expected->components;
    for (uint32_t lane = 0; lane < 4; lane++) {
        uint32_t x = (pixel % SIZE & ~1u) + lane % 2, y = (pixel / SIZE & ~1u) + lane / 2;
        for (uint32_t layer = 0; layer < layers; layer++)
            if (value(y * SIZE + x, layer) << 1)
                return false;
    }
    return true;
}

static void check(const char *name, const struct zeros_expected *expected, uint32_t count)
{
    static const uint32_t none;
    struct zeros_test test = {.gpu = &gpu,
                              .expected = expected,
                              .expected_count = count,
                              .call = draw,
                              .quad_is_zero = quad_is_zero,
                              .input = &none,
                              .input_words = 1,
                              .visit_bytes = {ZEROS_SCALAR_BYTES, ZEROS_VECTOR_BYTES}};
    zeros_load(name, PM_STAGE_FRAGMENT, false, &test.shader);
    zeros_check(&test);
    zeros_finish(&test.shader);
}

static void test_pixels(void **state)
{
    (void)state;
    static const struct zeros_expected expected[] = {
        {0, 0, 1, {ZEROS_F(0)}},
        {0, 0, 1, {ZEROS_V3(0)}},
        {0, 2, 1, {ZEROS_V3(0)}},
        {1, 0, 1, {ZEROS_F(1)}},
    };
    check("pixels.frag", expected, 4);
}

static void test_quads(void **state)
{
    (void)state;
    static const struct zeros_expected expected[] = {
        {0, 0, 1, {ZEROS_F(0)}, true},
        {0, 0, 1, {ZEROS_V3(0)}, true},
        {0, 2, 1, {ZEROS_V3(0)}, true},
        {1, 0, 1, {ZEROS_F(1)}},
    };
    check("quads.frag", expected, 4);
}

static void test_demotes(void **state)
{
    (void)state;
    if (!gpu.demote) {
        print_message("%s does not demote\n", gpu.name);
        return;
    }
    static const struct zeros_expected expected[] = {
        {0, 0, 1, {ZEROS_F(0)}, true},
        {1, 0, 1, {ZEROS_F(1)}, true},
        {2, 0, 1, {ZEROS_F(2)}},
    };
    check("demotes.frag", expected, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_quads),
        cmocka_unit_test(test_demotes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
