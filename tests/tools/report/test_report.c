#include "base/file.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/tools/report/read_module.h"
#include "tools/report/report_after.h"
#include "tools/report/report_diff.h"
#include "tools/report/report_marks.h"
#include "tools/report/report_page.h"
#include "tools/report/report_shader.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
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

/* Block i runs (i + 1) / 10 times, but for the last, which has no sample; or all of them so often.
 */
static void make_estimates(struct fixture *fixture, uint32_t space, double all)
{
    struct pm_point_estimate *points = pm_arena_zalloc(fixture->arena, space, sizeof(*points));
    assert_non_null(points);
    for (uint32_t i = 0; i + (all > 0 ? 0 : 1) < space; i++) {
        points[i].calls = 10;
        points[i].measures[PM_MEASURE_FREQUENCY] =
            (struct pm_ratio){.ratio = all > 0 ? all : (i + 1) / 10.0, .clusters = 3};
        if (all > 0) /* what specializing goes by */
            points[i].measures[PM_MEASURE_SUBGROUPS] = points[i].measures[PM_MEASURE_FREQUENCY];
    }
    fixture->estimates = (struct pm_shader_estimates){
        .kind = PM_KIND_BLOCK, .space = space, .points = points, .entry_lanes = 1000};
}

/* Every candidate is as often zero as its number says, i of them in the number of candidates; or
 * all of them so often. */
static void make_zeros(struct fixture *fixture, double all)
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
            (struct pm_ratio){.ratio = all > 0 ? all : (double)i / candidates.count, .clusters = 3};
        points[i].measures[PM_MEASURE_WRITES] = (struct pm_ratio){.ratio = 1, .clusters = 3};
    }
    fixture->zeros = (struct pm_shader_estimates){
        .kind = PM_KIND_ZERO, .space = candidates.count, .points = points, .entry_lanes = 1000};
    pm_zero_points_finish(&candidates);
}

static int prepare(void **state, const char *path, enum pm_stage stage,
                   const struct pm_target *target, double all)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct pm_error error = {0};
    struct pm_block_points points = {0};
    assert_non_null(fixture);
    fixture->arena = pm_arena_create(0);
    read_module(path, &fixture->original);
    struct pm_canonicalize_info info = {
        .words = fixture->original.data,
        .word_count = fixture->original.count,
        .stage = stage,
        .entry_point = "main",
        .target = *target,
    };
    assert_true(pm_canonicalize(&info, &fixture->canonical, &error));
    assert_true(
        pm_points_blocks(fixture->canonical.data, fixture->canonical.count, &points, &error));
    make_estimates(fixture, points.count, all);
    pm_block_points_finish(&points);
    make_zeros(fixture, all);
    struct pm_report_source source = {
        .canonical = fixture->canonical.data,
        .canonical_count = fixture->canonical.count,
        .original = fixture->original.data,
        .original_count = fixture->original.count,
        .entry_point = "main",
        .stage = stage,
        .target = *target,
    };
    assert_true(pm_report_shader_build(&source, &fixture->estimates, &fixture->zeros,
                                       fixture->arena, &fixture->shader, &error));
    *state = fixture;
    return 0;
}

static int set_up(void **state)
{
    return prepare(state, SHADERS "/report.frag.spv", PM_STAGE_FRAGMENT,
                   &(struct pm_target){.vulkan_minor = 1}, 0);
}

static int set_up_scalar(void **state)
{
    return prepare(state, SHADERS "/scalar.comp.spv", PM_STAGE_COMPUTE,
                   &(struct pm_target){.vulkan_minor = 1, .scalar_block_layout = true}, 0.9);
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
            assert_true(zero->name[0] != '\0');
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

/* The variables are gone in the canonical module. */
static void test_values_have_the_authors_names(void **state)
{
    const struct fixture *fixture = *state;
    const struct pm_report_shader *shader = &fixture->shader;
    bool named = false;
    assert_true(strncmp(line_with(shader, "int i")->text, "    int i", 9) == 0);
    assert_non_null(strstr(line_with(shader, "tint.xyz * float(i)")->text, "vec3 sum"));
    assert_non_null(strstr(line_with(shader, "sqrt(")->text, "vec3 sum"));
    for (size_t i = 0; i < shader->line_count; i++)
        assert_null(strstr(shader->lines[i].text, PM_REPORT_KEPT));
    for (uint32_t i = 0; i < shader->zero_count; i++)
        named = named || strcmp(shader->zeros[i].name, "sum") == 0;
    assert_true(named);
    assert_string_equal(shader->uses, "material, tint");
    assert_string_equal(shader->writes, "colour");
}

static void test_numbers_are_short(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a = 0.100000001490116119384765625;", "a = 0.1;"},
        {"a = vec2(0.00999999977648258209228515625, 7.0);", "a = vec2(0.01, 7.0);"},
        {"a = 16777216.0 + 1.00000000000000000000e+10;", "a = 16777216.0 + 1e+10;"},
        {"a = 0.1000000000000000055511151231257827lf;",
         "a = 0.1000000000000000055511151231257827lf;"},
        {"v_0.500000 = x1.250000 + 3u * 12;", "v_0.500000 = x1.250000 + 3u * 12;"},
        {"1e400.0 1.0e500 1.", "1e400.0 1.0e500 1."},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[128];
        strcpy(line, cases[i][0]);
        pm_report_shorten_numbers(line);
        assert_string_equal(line, cases[i][1]);
    }
}

static void test_changes_are_found(void **state)
{
    (void)state;
    const char *const from[] = {"a", "  b", "c", "d", "e", "f"};
    const char *const to[] = {"a", "b", "x", "d", "y", "e", "f"};
    bool left[6], kept[7];
    assert_true(pm_report_diff(from, 6, to, 7, left, kept));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(left[i], i != 2);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(kept[i], i != 2 && i != 4);
    assert_true(pm_report_diff(from, 6, from, 0, left, kept));
    for (size_t i = 0; i < 6; i++)
        assert_false(left[i]);
    assert_true(pm_report_diff(from, 0, to, 7, left, kept));
    assert_true(pm_report_diff(from, 6, from, 6, left, kept));
    assert_true(left[0] && left[5] && kept[5]);
}

/* Of a value that is tested: what is estimated, where it is written, and what changes. */
static void test_specialized_is_shown_as_a_change(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_report_shader shader = fixture->shader;
    struct pm_report_test tested = {.name = "a<b",
                                    .line = 3,
                                    .round = 1,
                                    .probability = 0.75,
                                    .region = 120,
                                    .specialized = 20,
                                    .check = 4,
                                    .saved = NAN};
    struct pm_report_line *lines = calloc(shader.line_count + 1, sizeof(*lines));
    struct pm_buffer out;
    assert_non_null(lines);
    memcpy(lines, shader.lines, shader.line_count * sizeof(*lines));
    lines[shader.line_count] = (struct pm_report_line){.text = "if (zero & one)"};
    shader.specialized = (struct pm_report_specialized){.transforms = 1,
                                                        .tests = &tested,
                                                        .test_count = 1,
                                                        .lines = lines,
                                                        .line_count = shader.line_count + 1};
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_report_after(&shader, &out));
    const char *page = (const char *)out.data;
    assert_non_null(strstr(page, "-l3'>a&#60;b</a><td>0.750<td>120<td>20<td>4<td></tr>"));
    /* Beside nothing of the shader's own. */
    assert_int_equal(occurrences(page, "<tr class=changed><td class='t'><td class='t new'>"), 1);
    assert_int_equal(occurrences(page, "gone"), 0);
    assert_non_null(strstr(page, "if (zero &#38; one)"));
    assert_int_equal(occurrences(page, " lines as before"), 1);
    pm_buffer_finish(&out);
    free(lines);
}

/* Beside what is estimated: what was measured of this shader in its subgroup size, and of no other.
 */
static void test_measured_is_shown(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_report_shader shader = fixture->shader;
    struct pm_point_estimate point = {
        .measures = {{.mean = 0.8, .mean_low = 0.75, .mean_high = 0.85, .clusters = 9}}};
    struct pm_shader_estimates timings[3];
    const struct pm_database database = {"game", 0, timings, 3};
    struct pm_buffer out;
    for (uint8_t i = 0; i < 3; i++)
        timings[i] = (struct pm_shader_estimates){.key = {{0xa0, i}},
                                                  .environment = shader.estimates->environment,
                                                  .kind = PM_KIND_TIMING,
                                                  .space = 1,
                                                  .published = true,
                                                  .points = &point,
                                                  .original = shader.estimates->key};
    timings[1].environment.subgroup_size += 8;
    timings[2].original.bytes[0] ^= 1;
    shader.timings = &database;
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_report_after(&shader, &out));
    const char *page = (const char *)out.data;
    assert_int_equal(occurrences(page, "time 0.800 [0.750, 0.850] of the original"), 1);
    assert_int_equal(occurrences(page, "as shader a00000000000"), 1);
    point.measures[0].clusters = 0;
    pm_buffer_finish(&out);
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_report_after(&shader, &out));
    page = (const char *)out.data;
    assert_int_equal(occurrences(page, "zeros: not measured enough yet on vendor"), 1);
    assert_int_equal(occurrences(page, "of the original"), 0);
    pm_buffer_finish(&out);
}

/* Returns how many links there are; each leads to one element of the page. */
static size_t check_links(const char *page)
{
    size_t count = 0;
    for (const char *at = page; (at = strstr(at, " href='#")); count++) {
        char single[64], plain[64];
        at += strlen(" href='#");
        const int length = (int)strcspn(at, "'");
        snprintf(single, sizeof(single), " id='%.*s'", length, at);
        snprintf(plain, sizeof(plain), " id=%.*s>", length, at); /* the page's own */
        const size_t found = occurrences(page, single) + occurrences(page, plain);
        if (found != 1)
            fail_msg("%zu elements have%s", found, single);
    }
    return count;
}

static void test_page_has_every_block(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_buffer out;
    const struct pm_database database = {.game = "a <game>"};
    const struct pm_report_coverage coverage[] = {{100, 3, 8}, {160, 7, 8}};
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
    assert_true(occurrences(page, "<td class=z><details><summary") >= 2);
    assert_int_equal(occurrences(page, "Specialized for zeros: ") +
                         occurrences(page, "Nothing here is worth specializing"),
                     1);
    assert_true(fixture->shader.zeros_left_out > fixture->shader.zeros_measured);
    assert_int_equal(occurrences(page, "are left out, as not worth it"), 1);
    assert_non_null(strstr(page, "a &#60;game&#62;"));
    assert_null(strstr(page, "a <game>"));
    assert_null(strstr(page, "http"));
    assert_null(strstr(page, " src="));
    assert_non_null(strstr(page, "7 of 8 points covered (87.5 %).</p>"));
    assert_non_null(strstr(page, "no sample</text>"));
    assert_true(occurrences(page, " loop' x='") >= 2);
    assert_int_equal(check_links(page), occurrences(page, " href='#"));
    assert_true(occurrences(page, " href='#s000000000000-0-b") >= 3);
    assert_int_equal(occurrences(page, "id='s000000000000-0-g"), fixture->shader.block_count);
    /* One that a phone has no room for can be fitted. */
    int width = 0;
    assert_int_equal(sscanf(strstr(page, "<svg class=graph"), "<svg class=graph width='%d", &width),
                     1);
    assert_int_equal(occurrences(page, "<input class=fit id='s000000000000-0-fit' "), width > 340);
    assert_int_equal(occurrences(page, "<label for='s000000000000-0-fit'>"), width > 340);
    assert_non_null(strstr(page, "<code>colour</code>"));
    assert_non_null(strstr(page, "uses material, tint"));
    pm_buffer_finish(&out);
}

/* Of a shader that this machine never had there are only numbers. */
static void test_shader_that_is_not_stored(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_buffer out;
    const struct pm_database database = {.game = "game"};
    const struct pm_shader_estimates zeros = {
        .kind = PM_KIND_ZERO, .space = 17, .candidates = 17 + 167};
    const struct pm_report_shader shader = {.estimates = &fixture->estimates,
                                            .zero_estimates = &zeros,
                                            .why_no_lines = "x: not in the shader store"};
    const struct pm_report report = {.game = "game",
                                     .origin = "x",
                                     .database = &database,
                                     .shaders = &shader,
                                     .shader_count = 1,
                                     .shown = 1};
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_report_page(&report, &out));
    const char *page = (const char *)out.data;
    assert_non_null(strstr(page, ", not in the store</small><td data-v=-1>–<td"));
    assert_non_null(strstr(page, "No GLSL: x: not in the shader store"));
    assert_non_null(strstr(page, "measured: 17 are; 167 are left out, as not worth it"));
    assert_null(strstr(page, "<svg class=graph"));
    assert_int_equal(check_links(page), occurrences(page, " href='#"));
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

static void test_no_specialized_version_is_no_verdict(void **state)
{
    const struct fixture *fixture = *state;
    struct pm_buffer out;
    struct pm_report_shader shader = fixture->shader;
    shader.specialized = (struct pm_report_specialized){.why = "it is not valid"};
    const struct pm_database database = {.game = "game"};
    const struct pm_report report = {.game = "game",
                                     .origin = "x",
                                     .database = &database,
                                     .shaders = &shader,
                                     .shader_count = 1,
                                     .shown = 1};
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_report_page(&report, &out));
    const char *page = (const char *)out.data;
    assert_non_null(strstr(page, "<td>not possible"));
    assert_null(strstr(page, "nothing worth it"));
    assert_non_null(strstr(page, "No specialized version: it is not valid"));
    pm_buffer_finish(&out);
}

/* What only a device with a feature allows has names and a specialized version too. */
static void test_layouts_are_the_devices(void **state)
{
    const struct fixture *fixture = *state;
    const struct pm_report_shader *shader = &fixture->shader;
    assert_null(shader->why_no_lines);
    assert_null(shader->specialized.why);
    assert_true(shader->specialized.transforms > 0);
    assert_non_null(line_with(shader, "faded"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_flow_is_the_shaders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_author_recognizes_the_glsl, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_zeros_stand_beside_their_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values_have_the_authors_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_specialized_version_is_no_verdict, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_layouts_are_the_devices, set_up_scalar, tear_down),
        cmocka_unit_test(test_numbers_are_short),
        cmocka_unit_test(test_changes_are_found),
        cmocka_unit_test_setup_teardown(test_specialized_is_shown_as_a_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_measured_is_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_page_has_every_block, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shader_that_is_not_stored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_page_over_its_cap_fails, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
