/* What the report's page opens on. */
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include "tools/report/report_verdict.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 3 };

struct fixture {
    struct pm_point_estimate points[BLOCKS], timed;
    struct pm_shader_estimates estimates[3]; /* two shaders, and a timing of the first */
    struct pm_report_block blocks[2][BLOCKS];
    struct pm_report_shader shaders[2];
    struct pm_database database;
    struct pm_shader_key in_use[2];
    struct pm_gain gain;
    struct pm_report report;
    struct pm_buffer out;
};

/* The first shader has three quarters of the cost. Of its blocks one never ran, one has no sample.
 */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    for (uint32_t i = 0; i < BLOCKS; i++)
        f->points[i] = (struct pm_point_estimate){
            .calls = 9,
            .sessions = 4,
            .measures = {{.ratio = i == 1 ? 0 : 1, .clusters = i == 2 ? 0 : 4}}};
    for (uint8_t i = 0; i < 2; i++) {
        f->in_use[i] = (struct pm_shader_key){{0xa0, i}};
        f->estimates[i] = (struct pm_shader_estimates){.key = f->in_use[i],
                                                       .kind = PM_KIND_BLOCK,
                                                       .space = BLOCKS,
                                                       .points = f->points,
                                                       .published = i == 0,
                                                       .entry_lanes = 100};
        f->blocks[i][0] = (struct pm_report_block){.sampled = true, .frequency = {.ratio = 1}};
        f->blocks[i][1] = (struct pm_report_block){.sampled = true, .frequency = {.ratio = i}};
        f->blocks[i][2] = (struct pm_report_block){.sampled = i == 1, .frequency = {.ratio = 1}};
        f->shaders[i] = (struct pm_report_shader){.estimates = &f->estimates[i],
                                                  .timings = &f->database,
                                                  .name = i ? "sky.frag" : "lit <a>",
                                                  .blocks = f->blocks[i],
                                                  .block_count = BLOCKS,
                                                  .cycles = 100,
                                                  .heat = i ? 25 : 75};
    }
    f->timed = (struct pm_point_estimate){
        .measures = {{.mean = 0.5, .mean_low = 0.45, .mean_high = 0.55, .clusters = 5}}};
    f->estimates[2] = (struct pm_shader_estimates){.key = {{0xff}},
                                                   .kind = PM_KIND_TIMING,
                                                   .space = 1,
                                                   .points = &f->timed,
                                                   .original = f->in_use[0]};
    f->database = (struct pm_database){"game", 0, f->estimates, 3};
    f->gain = (struct pm_gain){.at = 86400,
                               .ratio = 0.8,
                               .low = 0.75,
                               .high = 0.9,
                               .original = 10e6,
                               .optimized = 8e6,
                               .frames = 640,
                               .pairs = 20,
                               .block = 16,
                               .device = "a device",
                               .shaders = f->in_use,
                               .shader_count = 1};
    f->report = (struct pm_report){.game = "game",
                                   .origin = "x",
                                   .database = &f->database,
                                   .gain = &f->gain,
                                   .shaders = f->shaders,
                                   .shader_count = 2,
                                   .shown = 1};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    pm_buffer_finish(&f->out);
    free(f);
    return 0;
}

static const char *page_of(struct fixture *f,
                           bool (*part)(const struct pm_report *report, struct pm_buffer *out))
{
    pm_buffer_finish(&f->out);
    pm_buffer_init(&f->out, 1 << 20);
    assert_true(part(&f->report, &f->out) && pm_buffer_append(&f->out, "", 1));
    return (const char *)f->out.data;
}

static void says(const char *page, const char *what)
{
    if (!strstr(page, what))
        fail_msg("\"%s\" is not in:\n%s", what, page);
}

static void the_gain_comes_first(void **state)
{
    struct fixture *f = *state;
    const char *page = page_of(f, pm_report_verdict);
    says(page, "<b>+25.0 %</b> frames");
    says(page, "<h3>The shaders that made it</h3>");
    says(page,
         "Between +11.1 and +33.3 % (95 % interval). It is of one session, and another one may "
         "find something else. A frame took 10.00 ms, and takes 8.00 ms.");
    says(page, "on 1970-01-02 over 640 frames on a device");
    says(page, "20 pairs of blocks of 16 frames");
    assert_null(strstr(page, "in software"));
    f->gain.device = "llvmpipe (LLVM 15.0.6)";
    says(page_of(f, pm_report_verdict), "computes in software");
    f->gain.high = 1.02;
    page = page_of(f, pm_report_verdict);
    /* So wide an interval is no proof that nothing changed. */
    says(page, "<b>Not known yet</b> whether frames are faster");
    says(page, "+25.0 % frames a second, but it may be anything between -2.0 and +33.3 %");
    /* Nothing was made by them then, as far as can be told. */
    says(page, "<h3>The specialized shaders</h3>");
    says(page, "<th>part of the estimated gain</tr>");
    f->gain.ratio = 0.99, f->gain.low = 0.97, f->gain.high = 1.02;
    says(page_of(f, pm_report_verdict), "<b>No measurable change</b> with specialized shaders");
    f->gain = (struct pm_gain){.ratio = 1.25, .low = 1.1, .high = 1.5, .device = ""};
    says(page_of(f, pm_report_verdict), "<b>-20.0 %</b> frames");
    f->report.gain = NULL;
    page = page_of(f, pm_report_verdict);
    says(page, "Frames were not compared yet");
    says(page, "run --local --ab");
}

static void the_shaders_that_made_it_follow(void **state)
{
    struct fixture *f = *state;
    const char *page = page_of(f, pm_report_verdict);
    says(page, "<a href='#sa00000000000-0'>lit &#60;a&#62;</a> <small "
               "class=key>a00000000000</small><td>75 %<td>0.50 [0.45, 0.55]<td>100 %");
    assert_null(strstr(page, "sky.frag"));
    assert_null(strstr(page, "not known, since"));
    /* One that was in use too, of which nothing is estimated. */
    f->gain.shader_count = 2;
    page = page_of(f, pm_report_verdict);
    says(page, "<td>25 %<td>not timed<td>–</tr>");
    says(page, "–: not known, since only what is saved by zeros");
    /* And one, of which only the estimate is known: a tenth of its cycles. */
    struct pm_report_test test = {.saved = 10};
    f->shaders[1].specialized =
        (struct pm_report_specialized){.transforms = 1, .tests = &test, .test_count = 1};
    page = page_of(f, pm_report_verdict);
    says(page, "<td>94 %</tr>"); /* 75 / 2 of 75 / 2 + 25 / 10 */
    says(page, "<td>25 %<td>0.90, estimated<td>6.2 %</tr>");
    /* One that was timed and is slower has no part in it, which is known. */
    f->timed.measures[PM_MEASURE_TIME].mean = 1.2;
    page = page_of(f, pm_report_verdict);
    says(page, "<td>1.20 [0.45, 0.55]<td>0 %</tr>");
    says(page, "<td>100 %</tr>");
    assert_null(strstr(page, "not known, since"));
    f->gain.shader_count = 0;
    says(page_of(f, pm_report_verdict), "None of the shaders known here.");
    f->report.gain = NULL;
    page = page_of(f, pm_report_verdict);
    says(page, "What could be specialized");
    says(page, "sky.frag");
}

static void what_never_ran_is_listed(void **state)
{
    struct fixture *f = *state;
    says(page_of(f, pm_report_verdict), "<b>1 of 6 blocks</b>, in 1 of 2 shaders: <a "
                                        "href='#never'>the list</a>. 1 has no sample yet.");
    struct pm_report_line lines[] = {{.text = "    a = b<c;", .block = 1}};
    f->shaders[0].lines = lines;
    f->shaders[0].line_count = 1;
    const char *page = page_of(f, pm_report_never);
    says(page, "<li><a href='#sa00000000000-0-b1'>block 1</a> <code>a = b&#60;c;</code>");
    says(page, "<a href='#sa00000000000-0-g2'>block 2</a>, without a sample");
    assert_null(strstr(page, "block 0<"));
    assert_null(strstr(page, "sky.frag"));
    /* As its author wrote it, where that is known. */
    struct pm_report_line original[] = {{.text = "", .block = PM_NO_BLOCK},
                                        {.text = "  return lit<1>;", .block = 1}};
    struct pm_report_text file = {"lit.frag", original, 2};
    f->shaders[0].files = &file;
    f->shaders[0].file_count = 1;
    page = page_of(f, pm_report_never);
    says(page, "-b1'>block 1</a> <small>lit.frag:2</small> <code>return lit&#60;1&#62;;</code>");
    says(page, "-g2'>block 2</a>, without a sample");
    for (int i = 1; i < BLOCKS; i++)
        f->blocks[0][i] = f->blocks[0][0];
    says(page_of(f, pm_report_never), "Every block that has samples ran");
    says(page_of(f, pm_report_verdict), "All 6 blocks that have samples ran.");
}

static void how_sure_it_is_is_said(void **state)
{
    struct fixture *f = *state;
    says(page_of(f, pm_report_verdict),
         "up to 4 sessions; 4 of 6 blocks have samples, and 1 of 2 shaders enough");
    for (int i = 0; i < BLOCKS; i++)
        f->points[i].sessions = 1;
    says(page_of(f, pm_report_verdict), "The profile is of 1 session; ");
    says(page_of(f, pm_report_verdict), "One session says nothing of how far others are from it.");
}

/* What three sessions found counts more than how alike the pairs of one are. */
static void sessions_count_more_than_pairs(void **state)
{
    struct fixture *f = *state;
    const double alike[] = {0.79, 0.81, 0.8}, chance[] = {1.2, 0.9, 0.8};
    f->gain.session_count = 3;
    memcpy(f->gain.sessions, alike, sizeof(alike));
    says(page_of(f, pm_report_verdict), "<b>+25.0 %</b> frames a second");
    says(page_of(f, pm_report_verdict), "It is of 3 sessions. In the last one a frame took 10.00 ms");
    memcpy(f->gain.sessions, chance, sizeof(chance));
    says(page_of(f, pm_report_verdict), "Not known yet");
    f->gain.session_count = 2;
    says(page_of(f, pm_report_verdict), "It is of one session");
}

/* What `run --ab` measured is there for the report. */
static void gains_are_kept(void **state)
{
    struct fixture *f = *state;
    char folder[96], path[160];
    struct pm_gain read;
    struct pm_error error = {0};
    struct pm_arena *arena = pm_arena_create(0);
    temporary_make(folder, sizeof(folder));
    assert_int_equal(setenv("XDG_DATA_HOME", folder, 1), 0);
    assert_false(pm_gain_read("a / game", arena, &read, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_true(pm_gain_write("a / game", &f->gain, &error));
    assert_true(pm_gain_read("a / game", arena, &read, &error));
    assert_true(read.ratio == 0.8 && read.low == 0.75 && read.high == 0.9 &&
                read.original == 10e6 && read.optimized == 8e6);
    assert_true(read.at == 86400 && read.frames == 640 && read.pairs == 20 && read.block == 16);
    assert_string_equal(read.device, "a device");
    assert_int_equal(read.shader_count, 1);
    assert_true(pm_shader_key_equal(&read.shaders[0], &f->in_use[0]));
    assert_int_equal(read.session_count, 0);
    snprintf(path, sizeof(path), "%s/piecemeal/gains/a%%20%%2F%%20game.json", folder);
    static const char *const damaged[] = {"{", "[]", "{\"ratio\": 0}", "{\"device\": 3}"};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        FILE *file = fopen(path, "r+"); /* it is there */
        assert_non_null(file);
        assert_int_equal(ftruncate(fileno(file), 0), 0);
        assert_non_null(file);
        fputs(damaged[i], file);
        fclose(file);
        assert_false(pm_gain_read("a / game", arena, &read, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
    }
    pm_arena_destroy(arena);
    temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_gain_comes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_shaders_that_made_it_follow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_never_ran_is_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sessions_count_more_than_pairs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(how_sure_it_is_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gains_are_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
