#include "base/clock.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include "tools/common/sentence.h"
#include <string.h>
#include <unistd.h>

static size_t left_alone;

static const char *sentence(const struct pm_session_status *status, const char *next)
{
    static char text[PM_SENTENCE_TEXT];
    pm_sentence(status, left_alone, next, text);
    return text;
}

static const struct pm_session_status good = {
    .device = "a device",
    .heartbeats = 600,
    .windows = 1,
    .calls = 3000,
    .sampled = 41,
    .api_probability = 0.01,
    .window_probability = 1,
    .shaders = 14,
    .shaders_sampled = 2,
    .points = 100,
    .points_sampled = 31,
};

static void what_was_sampled(void **state)
{
    (void)state;
    struct pm_session_status status = good;
    assert_string_equal(sentence(&status, NULL),
                        "sampled 41 of 3,000 draws in 2 of 14 shaders, 31 % of their points");
    status.specialized = 1;
    status.fastest = status.slowest = 3.1;
    status.of_passes = true;
    assert_string_equal(sentence(&status, "piecemeal report"),
                        "sampled 41 of 3,000 draws in 2 of 14 shaders, 31 % of their points; 1 "
                        "shader specialized, its pass 3.1 times as fast; next: piecemeal report");
    status.specialized = 3;
    status.slowest = 1.24;
    status.of_passes = false;
    status.dropped = 1;
    assert_non_null(strstr(sentence(&status, NULL),
                           "; 3 shaders specialized, their draws 1.2 to 3.1 times as fast; 1 was "
                           "no faster and dropped"));
    status.by_blocks = 1;
    assert_non_null(strstr(sentence(&status, NULL), "; 3 shaders specialized (1 by blocks), "));
    status.by_recipe = 2;
    assert_non_null(strstr(sentence(&status, NULL),
                           "; 3 shaders specialized (1 by blocks, 2 by A-Z testing), "));
    status.by_blocks = 0;
    assert_non_null(strstr(sentence(&status, NULL), " (2 by A-Z testing), "));
    status.to_time = 1;
    assert_non_null(strstr(sentence(&status, NULL),
                           "; 1 untried variant is drawn with in this session, to be timed"));
    status.paused = true;
    status.trying = status.comparing = 1;
    assert_non_null(strstr(sentence(&status, NULL), "; paused: the game's own shaders are used; 1 "
                                                    "was no faster and dropped"));
}

/* Whatever else was to be said, and before what is next. */
static void what_is_left_alone(void **state)
{
    (void)state;
    struct pm_session_status status = good;
    left_alone = 1;
    assert_string_equal(sentence(&status, "piecemeal report"),
                        "sampled 41 of 3,000 draws in 2 of 14 shaders, 31 % of their points; 1 "
                        "shader is left alone; next: piecemeal report");
    left_alone = 12;
    status.dropped = 2;
    assert_non_null(strstr(sentence(&status, NULL),
                           "; 2 were no faster and dropped; 12 shaders are left alone"));
    status = (struct pm_session_status){.device = "a device", .why_not = "Vulkan 1.2 is missing"};
    assert_string_equal(
        sentence(&status, NULL),
        "sampled nothing: Vulkan 1.2 is missing on a device; 12 shaders are left alone");
    left_alone = 0;
}

/* Nobody who switched it off is told to look for a reason. */
static void sampling_that_is_off(void **state)
{
    (void)state;
    struct pm_session_status status = {.device = "a device", .heartbeats = 901, .specialized = 2};
    assert_string_equal(
        sentence(&status, NULL),
        "sampling was off (sampler.window_probability is 0); 2 shaders specialized");
}

static void an_undecided_trial(void **state)
{
    (void)state;
    struct pm_session_status status = good;
    status.comparing = 1;
    assert_non_null(strstr(sentence(&status, NULL), "; variants of 1 shader are compared"));
    status.trying = 2;
    assert_non_null(strstr(sentence(&status, NULL), "; 2 specialized shaders are still tried: "
                                                    "nothing of them was timed yet"));
    status.trying = 1;
    status.frames_more = 12345;
    assert_non_null(strstr(sentence(&status, NULL),
                           "; 1 specialized shader is still tried, about 12,345 more frames"));
    /* 600 frames in a minute. */
    status.began = 1000.5;
    status.written = 1060;
    status.frames_more = 30000;
    assert_non_null(strstr(sentence(&status, "once more"),
                           " tried, about 30,000 more frames; next: once more"));
    status.frames_more = 40000;
    assert_non_null(strstr(sentence(&status, "once more"),
                           " tried, about 40,000 more frames, 1 hour at this rate; next: once "
                           "more"));
    status.frames_more = 430000;
    assert_non_null(strstr(sentence(&status, NULL), " frames, 12 hours at this rate"));
    status.frames_more = 950000;
    assert_non_null(strstr(sentence(&status, NULL),
                           " tried, and will not be decided within a day at this rate"));
    assert_null(strstr(sentence(&status, NULL), "limits.")); /* it may wait to begin anew */
}

/* All that one sentence can say, with numbers that are hardly ever as long. */
static void the_fullest(void **state)
{
    (void)state;
    struct pm_session_status status = {
        .heartbeats = 1000000000,
        .windows = 1,
        .calls = 1000000000000,
        .keeps_recordings = true,
        .api_probability = 0.5,
        .window_probability = 1,
        .shaders = 10000,
        .specialized = 10000,
        .by_blocks = 10000,
        .by_recipe = 10000,
        .fastest = 100.1,
        .slowest = 10.1,
        .to_time = 10000,
        .comparing = 10000,
        .trying = 10000,
        .began = 1000,
        .written = 2000,
        .frames_more = 80000000000,
        .dropped = 10000,
    };
    const char *last = "; 10000 were no faster and dropped; 10000 shaders are left alone; next: "
                       "piecemeal report";
    left_alone = 10000;
    const char *said = sentence(&status, "piecemeal report");
    assert_non_null(strstr(said, "or nothing of it was chosen"));
    assert_non_null(strstr(said, ", about 80,000,000,000 more frames, 22 hours at this rate"));
    assert_non_null(strstr(said, last));
    /* Names of any length. */
    memset(status.why_not, 'w', sizeof(status.why_not) - 1);
    memset(status.device, 'd', sizeof(status.device) - 1);
    assert_non_null(strstr(sentence(&status, "piecemeal report"), last));
    left_alone = 0;
}

static void what_stood_in_the_way(void **state)
{
    (void)state;
    struct pm_session_status status = {.device = "a device",
                                       .why_not = "Vulkan 1.2 is missing",
                                       .window_probability = 0.0001,
                                       .api_probability = 0.01};
    assert_string_equal(sentence(&status, NULL),
                        "sampled nothing: Vulkan 1.2 is missing on a device");
    status.why_not[0] = '\0';
    assert_string_equal(sentence(&status, NULL),
                        "sampled nothing: the program neither presented nor submitted anything");
    status.heartbeats = 60;
    assert_string_equal(sentence(&status, NULL),
                        "sampled nothing: no window opened in 60 frames: one frame in 10,000 opens "
                        "one (--set sampler.window_probability=1 keeps one open)");
    status.windows = 1;
    assert_string_equal(sentence(&status, NULL),
                        "sampled nothing: nothing was drawn with a shader that can be sampled");
    status.trying = 1; /* a recording is sampled or timed, not both */
    assert_non_null(strstr(sentence(&status, NULL),
                           "sampled nothing: what it drew was timed for the trials of its shaders: "
                           "let it run longer; 1 specialized shader is still tried"));
    status.trying = 0;
    status.keeps_recordings = true;
    assert_non_null(strstr(sentence(&status, NULL),
                           "recorded before copies of its shaders were compiled, or nothing of it "
                           "was chosen (--set debug.synchronous=true --set "
                           "sampler.api_probability=1 takes all)"));
    status.shaders = 4;
    status.calls = 50; /* which a longer session would not help */
    status.api_probability = 1;
    assert_non_null(strstr(sentence(&status, NULL),
                           "recorded before copies of its shaders were compiled (--set "
                           "debug.synchronous=true waits for them)"));
    assert_true(pm_sentence_is_late(&status));
    assert_false(pm_sentence_is_chance(&status));
    status.synchronous = true; /* they were waited for, as nobody is told to do then */
    assert_false(pm_sentence_is_late(&status));
    assert_string_equal(
        sentence(&status, NULL),
        "sampled nothing: nothing of what the program submits again can be sampled");
    status.api_probability = 0.5;
    assert_true(pm_sentence_is_chance(&status));
    assert_non_null(strstr(sentence(&status, NULL),
                           "can be sampled (--set sampler.api_probability=1 takes all)"));
    status.keeps_recordings = false;
    assert_string_equal(sentence(&status, NULL),
                        "sampled nothing: none of 50 draws was counted, though copies of their "
                        "shaders were waited for");
    status.synchronous = false;
    assert_non_null(strstr(sentence(&status, NULL), "no copy of a shader was compiled in time"));
    status.api_probability = 0.01;
    assert_non_null(strstr(sentence(&status, NULL), "none of 50 draws: one in 100 is"));
    assert_false(pm_sentence_is_late(&status));
    status.calls = 100500; /* not by chance */
    assert_true(pm_sentence_is_late(&status));
    assert_non_null(strstr(sentence(&status, NULL), "no copy of a shader was compiled in time"));
    status.bound_by_cpu = true;
    assert_non_null(strstr(sentence(&status, NULL), "bound by its processor"));
}

/* One run may follow another within a second, and make no device. */
static void only_sessions_of_the_run(void **state)
{
    (void)state;
    char folder[64];
    struct pm_session_status status = good, found;
    temporary_make(folder, sizeof(folder));
    setenv("XDG_DATA_HOME", folder, 1);
    snprintf(status.game, sizeof(status.game), "game");
    status.process = getpid();
    const double before = pm_wall_seconds();
    usleep(100);
    status.began = pm_wall_seconds();
    usleep(100);
    const double after = pm_wall_seconds();
    assert_true(pm_session_status_write(NULL, &status, 1, true, NULL));
    assert_true(pm_sentence_of("game", before, &found));
    assert_false(pm_sentence_of("game", after, &found));
    assert_true(pm_sentence_of("game", 0, &found));
    /* Another run of the game had more to do at the same time. */
    setenv("PIECEMEAL_RUN", "00000000000000aa", 1);
    assert_false(pm_sentence_of("game", before, &found));
    snprintf(status.run, sizeof(status.run), "00000000000000bb");
    assert_true(pm_session_status_write(NULL, &status, 2, false, NULL));
    assert_false(pm_sentence_of("game", before, &found));
    snprintf(status.run, sizeof(status.run), "00000000000000aa");
    status.sampled = 1;
    assert_true(pm_session_status_write(NULL, &status, 3, false, NULL));
    assert_true(pm_sentence_of("game", before, &found));
    assert_string_equal(found.run, status.run);
    assert_int_equal(found.sampled, 1);
    assert_true(pm_sentence_of("game", 0, &found));
    assert_int_not_equal(found.sampled, 1);
    unsetenv("PIECEMEAL_RUN");
    temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_sampled),         cmocka_unit_test(what_is_left_alone),
        cmocka_unit_test(sampling_that_is_off),     cmocka_unit_test(an_undecided_trial),
        cmocka_unit_test(what_stood_in_the_way),    cmocka_unit_test(the_fullest),
        cmocka_unit_test(only_sessions_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
