/* A shader's lines as its author wrote them, what people call it, and what its parts cost. */
#include "base/file.h"
#include "tests/cmocka_includes.h"
#include "tests/tools/report/read_module.h"
#include "tools/report/report_html.h"
#include "tools/report/report_shader.h"
#include "tools/stored/shader_heat.h"
#include "tools/stored/shader_name.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct pm_arena *arena;
    struct pm_words original, canonical;
    struct pm_shader_estimates estimates;
    struct pm_report_shader shader;
};

/* Every block runs twice for each subgroup that enters. */
static struct fixture *build(const char *path)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct pm_error error = {0};
    struct pm_block_points points = {0};
    const struct pm_target target = {.vulkan_minor = 1};
    assert_non_null(f);
    f->arena = pm_arena_create(0);
    read_module(path, &f->original);
    const struct pm_canonicalize_info info = {.words = f->original.data,
                                              .word_count = f->original.count,
                                              .stage = PM_STAGE_FRAGMENT,
                                              .entry_point = "main",
                                              .target = target};
    assert_true(pm_canonicalize(&info, &f->canonical, &error));
    assert_true(pm_points_blocks(f->canonical.data, f->canonical.count, &points, &error));
    struct pm_point_estimate *estimates =
        pm_arena_zalloc(f->arena, points.count, sizeof(*estimates));
    assert_non_null(estimates);
    for (uint32_t i = 0; i < points.count; i++)
        for (unsigned measure = 0; measure < PM_MEASURES; measure++)
            estimates[i].measures[measure] = (struct pm_ratio){.ratio = 2, .clusters = 3};
    f->estimates = (struct pm_shader_estimates){.kind = PM_KIND_BLOCK,
                                                .space = points.count,
                                                .points = estimates,
                                                .environment = {.subgroup_size = 8},
                                                .entry_lanes = 80};
    pm_block_points_finish(&points);
    const struct pm_report_source source = {.canonical = f->canonical.data,
                                            .canonical_count = f->canonical.count,
                                            .original = f->original.data,
                                            .original_count = f->original.count,
                                            .entry_point = "main",
                                            .stage = PM_STAGE_FRAGMENT,
                                            .target = target};
    assert_true(pm_report_shader_build(&source, &f->estimates, NULL, f->arena, &f->shader, &error));
    return f;
}

static void finish(struct fixture *f)
{
    pm_words_finish(&f->original);
    pm_words_finish(&f->canonical);
    pm_arena_destroy(f->arena);
    free(f);
}

static const struct pm_report_line *line_with(const struct pm_report_text *text, const char *part)
{
    for (size_t i = 0; i < text->line_count; i++)
        if (strstr(text->lines[i].text, part))
            return &text->lines[i];
    fail_msg("no line of %s has '%s'", text->name, part);
    return NULL;
}

static double cost_of(const struct pm_report_line *lines, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += lines[i].cost;
    return sum;
}

/* By OpLine, or as NonSemantic.Shader.DebugInfo.100 tells them; the code is the same. */
static void lines_are_the_authors(void **state)
{
    (void)state;
    struct fixture *plain = build(SHADERS "/report.frag.spv");
    assert_int_equal(plain->shader.file_count, 0);
    static const char *const paths[] = {SHADERS "/report.g.spv", SHADERS "/report.gVS.spv"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture *f = build(paths[i]);
        assert_int_equal(f->canonical.count, plain->canonical.count);
        assert_memory_equal(f->canonical.data, plain->canonical.data, 4 * f->canonical.count);
        assert_int_equal(f->shader.file_count, 1);
        const struct pm_report_text *file = &f->shader.files[0];
        assert_string_equal(file->name, "report.frag");
        assert_string_equal(file->lines[0].text, "#version 450");
        const struct pm_report_line *body = line_with(file, "exp(tint.rgb)"),
                                    *root = line_with(file, "sqrt(sum)");
        assert_int_not_equal(body->block, PM_NO_BLOCK);
        assert_int_not_equal(root->block, PM_NO_BLOCK);
        assert_false(f->shader.blocks[body->block].at_most_once);
        assert_true(f->shader.blocks[root->block].at_most_once);
        assert_true(root->cost > body->cost);
        assert_true(body->cost > line_with(file, "if (tint.a")->cost);
        assert_int_equal(line_with(file, "out vec4 colour")->block, PM_NO_BLOCK);
        assert_true(cost_of(file->lines, file->line_count) > 0.9);
        assert_true(cost_of(file->lines, file->line_count) < 1.0001);
        finish(f);
    }
    finish(plain);
}

static void costs_add_up(void **state)
{
    (void)state;
    struct fixture *f = build(SHADERS "/report.frag.spv");
    const struct pm_report_shader *shader = &f->shader;
    double blocks = 0, cycles = 0, heat;
    struct pm_error error = {0};
    for (uint32_t i = 0; i < shader->block_count; i++) {
        blocks += shader->blocks[i].cost;
        cycles += 2 * shader->blocks[i].cycles;
    }
    assert_true(fabs(blocks - 1) < 1e-9);
    assert_true(fabs(cycles - shader->cycles) < 1e-6);
    assert_true(fabs(shader->heat - 10 * shader->cycles) < 1e-6); /* 80 lanes are 10 subgroups */
    assert_true(fabs(cost_of(shader->lines, shader->line_count) - 1) < 1e-6);
    assert_true(fabs(cost_of(shader->spirv.lines, shader->spirv.line_count) - 1) < 1e-6);
    assert_true(pm_heat_of(f->canonical.data, f->canonical.count, &f->estimates, 0, &heat, &error));
    assert_true(fabs(heat - shader->heat) < 1e-6);
    f->estimates.space++;
    assert_false(
        pm_heat_of(f->canonical.data, f->canonical.count, &f->estimates, 0, &heat, &error));
    f->estimates.space--;
    finish(f);
}

/* Of a shader of which one block's subgroups are not known all blocks weigh by lanes. */
static void all_weigh_by_the_same(void **state)
{
    (void)state;
    struct fixture *f = build(SHADERS "/report.frag.spv");
    struct pm_point_estimate *points =
        pm_arena_dup(f->arena, f->estimates.points, f->estimates.space * sizeof(*points));
    struct pm_error error = {0};
    double heat;
    assert_non_null(points);
    for (uint32_t i = 0; i < f->estimates.space; i++)
        points[i].measures[PM_MEASURE_FREQUENCY].ratio = 1;
    points[0].measures[PM_MEASURE_SUBGROUPS] = (struct pm_ratio){0};
    f->estimates.points = points;
    assert_true(pm_heat_of(f->canonical.data, f->canonical.count, &f->estimates, 0, &heat, &error));
    assert_true(fabs(2 * heat - f->shader.heat) < 1e-6);
    finish(f);
}

static void spirv_has_its_blocks(void **state)
{
    (void)state;
    struct fixture *f = build(SHADERS "/report.frag.spv");
    const struct pm_report_text *spirv = &f->shader.spirv;
    uint32_t labels = 0;
    assert_int_equal(line_with(spirv, "OpEntryPoint Fragment")->block, PM_NO_BLOCK);
    for (size_t i = 0; i < spirv->line_count; i++)
        if (strstr(spirv->lines[i].text, "OpLabel"))
            assert_int_equal(spirv->lines[i].block, labels++);
    assert_int_equal(labels, f->shader.block_count);
    assert_int_equal(
        line_with(spirv, " Sqrt ")->block,
        line_with(&(struct pm_report_text){"GLSL", f->shader.lines, f->shader.line_count}, "sqrt(")
            ->block);
    finish(f);
}

/* What the program calls it, else its file, else its entry point, else what it writes. */
static void people_have_names_for_it(void **state)
{
    (void)state;
    struct fixture *plain = build(SHADERS "/report.frag.spv"),
                   *debug = build(SHADERS "/report.gVS.spv"),
                   *lines = build(SHADERS "/report.g.spv");
    struct pm_stored_shader stored = {.name = "lit opaque",
                                      .entry_point = "main",
                                      .original = debug->original.data,
                                      .original_count = debug->original.count};
    assert_string_equal(pm_shader_name(&stored, plain->arena), "lit opaque");
    stored.name = "";
    assert_string_equal(pm_shader_name(&stored, plain->arena), "report.frag");
    stored.entry_point = "ps_lit";
    assert_string_equal(pm_shader_name(&stored, plain->arena), "report.frag: ps_lit");
    stored.original = lines->original.data;
    stored.original_count = lines->original.count;
    assert_string_equal(pm_shader_name(&stored, plain->arena), "report.frag: ps_lit");
    stored.original = plain->original.data;
    stored.original_count = plain->original.count;
    assert_string_equal(pm_shader_name(&stored, plain->arena), "ps_lit");
    stored.entry_point = "main";
    assert_string_equal(pm_shader_name(&stored, plain->arena), "fragment → colour");
    /* Nothing is left of its names. */
    stored.original_count = 0;
    stored.canonical = plain->canonical.data;
    stored.canonical_count = plain->canonical.count;
    assert_string_equal(pm_shader_name(&stored, plain->arena), "fragment");
    finish(plain);
    finish(debug);
    finish(lines);
}

/* What a module says may be anything. */
static void only_text_is_shown(void **state)
{
    (void)state;
    struct fixture *f = build(SHADERS "/report.frag.spv");
    struct pm_buffer out;
    const struct pm_stored_shader stored = {.name = "",
                                            .entry_point = "lit\x1b[2J",
                                            .original = f->original.data,
                                            .original_count = f->original.count};
    assert_string_equal(pm_shader_name(&stored, f->arena), "lit");
    pm_buffer_init(&out, 1 << 16);
    assert_true(pm_html_escape(&out, "Sch\xc3\xbcler <Sch\xc3\xffler>\xc3") &&
                pm_buffer_append(&out, "", 1));
    assert_string_equal((const char *)out.data,
                        "Sch\xc3\xbcler &#60;Sch&#65533;&#65533;ler&#62;&#65533;");
    pm_buffer_finish(&out);
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_the_authors),    cmocka_unit_test(costs_add_up),
        cmocka_unit_test(all_weigh_by_the_same),    cmocka_unit_test(spirv_has_its_blocks),
        cmocka_unit_test(people_have_names_for_it), cmocka_unit_test(only_text_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
