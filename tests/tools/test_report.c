#include "base/file.h"
#include "shader_rewrite/zero.h"
#include "tools/report_page.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

struct fixture {
    struct pm_arena *arena;
    struct pm_words original, canonical;
    struct pm_shader_estimates estimates, zeros;
    struct pm_report_shader shader;
};

static void read_module(struct pm_words *words)
{
    struct pm_buffer bytes;
    struct pm_error error = {0};
    pm_buffer_init(&bytes, 1 << 20);
    assert_true(pm_file_read(REPORT_SHADER, &bytes, &error));
    words->count = bytes.size / 4;
    words->data = malloc(bytes.size);
    assert_non_null(words->data);
    memcpy(words->data, bytes.data, bytes.size);
    pm_buffer_finish(&bytes);
}

/* Block i runs (i + 1) / 10 times, but for the last, which has no sample. */
static void make_estimates(struct fixture *fixture, uint32_t space)
{
    struct pm_point_estimate *points = pm_arena_zalloc(fixture->arena, space, sizeof(*points));
    assert_non_null(points);
    for (uint32_t i = 0; i + 1 < space; i++) {
        points[i].calls = 10;
        points[i].measures[PM_MEASURE_FREQUENCY] =
            (struct pm_ratio){.ratio = (i + 1) / 10.0, .clusters = 3};
    }
    fixture->estimates = (struct pm_shader_estimates){
        .kind = PM_KIND_BLOCK, .space = space, .points = points, .entry_lanes = 1000};
}

/* Every candidate is as often zero as its number says: i of them in the number of candidates. */
static void make_zeros(struct fixture *fixture)
{
    struct pm_zero_points candidates;
    struct pm_error error = {0};
    assert_true(
        pm_points_zero(fixture->canonical.data, fixture->canonical.count, &candidates, &error));
    struct pm_point_estimate *points =
        pm_arena_zalloc(fixture->arena, candidates.count, sizeof(*points));
    assert_non_null(points);
    for (uint32_t i = 0; i < candidates.count; i++) {
        points[i].calls = 7;
        points[i].measures[PM_MEASURE_ZERO] =
            (struct pm_ratio){.ratio = (double)i / candidates.count, .clusters = 3};
        points[i].measures[PM_MEASURE_WRITES] = (struct pm_ratio){.ratio = 1, .clusters = 3};
    }
    fixture->zeros = (struct pm_shader_estimates){
        .kind = PM_KIND_ZERO, .space = candidates.count, .points = points, .entry_lanes = 1000};
    pm_zero_points_finish(&candidates);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct pm_error error = {0};
    struct pm_block_points points = {0};
    assert_non_null(fixture);
    fixture->arena = pm_arena_create(0);
    read_module(&fixture->original);
    struct pm_canonicalize_info info = {
        .words = fixture->original.data,
        .word_count = fixture->original.count,
        .stage = PM_STAGE_FRAGMENT,
        .entry_point = "main",
        .target = {.vulkan_minor = 1},
    };
    assert_true(pm_canonicalize(&info, &fixture->canonical, &error));
    assert_true(
        pm_points_blocks(fixture->canonical.data, fixture->canonical.count, &points, &error));
    make_estimates(fixture, points.count);
    pm_block_points_finish(&points);
    make_zeros(fixture);
    struct pm_report_source source = {
        .canonical = fixture->canonical.data,
        .canonical_count = fixture->canonical.count,
        .original = fixture->original.data,
        .original_count = fixture->original.count,
        .entry_point = "main",
        .stage = PM_STAGE_FRAGMENT,
    };
    assert_true(pm_report_shader_build(&source, &fixture->estimates, &fixture->zeros,
                                       fixture->arena, &fixture->shader, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pm_words_finish(&fixture->original);
    pm_words_finish(&fixture->canonical);
    pm_arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static const struct pm_report_line *line_with(const struct pm_report_shader *shader,
                                              const char *text)
{
    for (size_t i = 0; i < shader->line_count; i++)
        if (strstr(shader->lines[i].text, text))
            return &shader->lines[i];
    fail_msg("no line has '%s'", text);
    return NULL;
}

static void test_flow_is_the_shaders(void **state)
{
    const struct fixture *fixture = *state;
    const struct pm_report_shader *shader = &fixture->shader;
    uint32_t loops = 0, exits = 0;
    assert_true(shader->block_count >= 6);
    for (uint32_t i = 0; i < shader->block_count; i++) {
        loops += !shader->blocks[i].at_most_once;
        exits += shader->blocks[i].successor_count == 0;
        assert_true(shader->blocks[i].instructions > 0);
    }
    assert_true(loops >= 2); /* header and body at least */
    assert_int_equal(exits, 1);
    assert_true(shader->blocks[0].at_most_once);
    assert_true(shader->heat > 0);
}

static void test_author_recognizes_the_glsl(void **state)
{
    const struct fixture *fixture = *state;
    const struct pm_report_shader *shader = &fixture->shader;
    assert_null(shader->why_no_lines);
    line_with(shader, "uniform Material");
    line_with(shader, "albedo");
    line_with(shader, "in vec4 tint");
    const struct pm_report_line *root = line_with(shader, "sqrt(");
    const struct pm_report_line *body = line_with(shader, "tint.xyz *");
    const struct pm_report_line *end = line_with(shader, "colour = ");
    assert_int_not_equal(root->block, PM_NO_BLOCK);
    assert_int_not_equal(body->block, PM_NO_BLOCK);
    assert_int_not_equal(end->block, PM_NO_BLOCK);
    assert_int_not_equal(root->block, end->block);
    assert_true(shader->blocks[root->block].at_most_once);
    assert_false(shader->blocks[body->block].at_most_once);
    assert_true(shader->blocks[end->block].at_most_once);
    for (size_t i = 0; i < shader->line_count; i++)
        assert_null(strstr(shader->lines[i].text, "#line"));
}

static void test_zeros_stand_beside_their_lines(void **state)
{
    const struct fixture *fixture = *state;
    const struct pm_report_shader *shader = &fixture->shader;
    uint32_t seen = 0;
    assert_int_equal(shader->zero_count, fixture->zeros.space);
    for (size_t i = 0; i < shader->line_count; i++) {
        const struct pm_report_line *line = &shader->lines[i];
        if (line->zero_count > 0)
            assert_int_equal(line->first_zero, seen);
        for (uint32_t j = 0; j < line->zero_count; j++, seen++) {
            const struct pm_report_zero *zero = &shader->zeros[seen];
            assert_int_equal(zero->line, i);
            assert_int_equal(zero->calls, 7);
            assert_true(zero->name[0] == '%');
            /* the likeliest first */
            assert_true(j == 0 || zero->zero.ratio <= zero[-1].zero.ratio);
        }
    }
    assert_int_equal(seen, shader->zero_count);
    /* The square root's argument and result, and the products of the loop's body. */
    assert_true(line_with(shader, "sqrt(")->zero_count > 0);
    assert_true(line_with(shader, "tint.xyz *")->zero_count > 0);
    assert_int_equal(line_with(shader, "uniform Material")->zero_count, 0);
    assert_null(shader->specialized.why);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part))) {
        count++;
        text += strlen(part);
    }
    return count;
}

static void test_page_has_every_block(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_buffer out;
    const struct pm_database database = {.game = "a <game>"};
    const struct pm_report_coverage coverage[] = {{100, 1, 3, 8}, {160, 2, 7, 8}};
    const struct pm_report report = {
        .game = "a <game>",
        .origin = "x.sqlite",
        .database = &database,
        .coverage = coverage,
        .coverage_count = 2,
        .shaders = &fixture->shader,
        .shader_count = 1,
        .shown = 1,
    };
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_report_page(&report, &out));
    const char *page = (const char *)out.data;
    assert_int_equal(occurrences(page, "<title>block "), fixture->shader.block_count);
    assert_true(occurrences(page, "<td class=n title=") >= 2);
    assert_int_equal(occurrences(page, "After specializing for zeros") +
                         occurrences(page, "Nothing here is worth specializing"),
                     1);
    assert_non_null(strstr(page, "a &#60;game&#62;"));
    assert_null(strstr(page, "a <game>"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "http"));
    assert_non_null(strstr(page, "7 of 8 points covered"));
    assert_non_null(strstr(page, "no sample</text>"));
    assert_int_equal(occurrences(page, "<rect "), occurrences(page, "'/><text x='"));
    assert_true(occurrences(page, " class='loop'/>") >= 2);
    pm_buffer_finish(&out);
}

static void test_page_over_its_cap_fails(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_buffer out;
    const struct pm_database database = {.game = "game"};
    const struct pm_report report = {.game = "game",
                                     .origin = "x",
                                     .database = &database,
                                     .shaders = &fixture->shader,
                                     .shader_count = 1,
                                     .shown = 1};
    pm_buffer_init(&out, 4000);
    assert_false(pm_report_page(&report, &out));
    pm_buffer_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_flow_is_the_shaders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_author_recognizes_the_glsl, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_zeros_stand_beside_their_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_page_has_every_block, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_page_over_its_cap_fails, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
