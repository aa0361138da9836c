/* What of a game with more shaders than limits.variants is sampled: not only what is first. */
#include "tests/layer/known.h"
#include "tests/layer/levels.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"
#include "tests/patience.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 16 };

static struct pm_harness h;
static VkCommandBuffer buffer;
static const char *limit = "16"; /* limits.variants */
/* limits.variants_per_minute: tokens come fast, so that no test waits for them. */
static const char *per_minute = "60000";

static void open_with(const char *batch)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", batch, 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", limit, 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS_PER_MINUTE", per_minute, 1);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
    buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

/* The harness's own pipelines, which nobody draws with, would take room until they were idle for
 * ten seconds. */
static void open_levels(void)
{
    open_with("all");
    h.vk.DestroyPipeline(h.device, h.graphics, NULL);
    h.vk.DestroyPipeline(h.device, h.dispatch, NULL);
    h.graphics = h.dispatch = VK_NULL_HANDLE;
}

/* Draws frames until so many shaders are in the spool. */
static bool becomes_sampled(const struct level *level, size_t shaders)
{
    uint64_t until = 0;
    do {
        for (int i = 0; i < 64; i++)
            level_frame(level, &h, buffer);
    } while (spooled_shaders() < shaders && patience(&until));
    return spooled_shaders() >= shaders;
}

/* A level's pipelines go: what they took is there for the next. */
static void the_next_level_has_its_turn(void **state)
{
    (void)state;
    struct level level;
    open_levels();
    for (uint32_t i = 0; i < 3; i++) {
        level_make(&level, &h, i * LIMIT, LIMIT, 1);
        assert_true(becomes_sampled(&level, (i + 1) * LIMIT));
        level_destroy(&level, &h);
    }
    pm_harness_close(&h);
}

/* They stay, as most engines have it: what has told enough makes room. */
static void even_if_the_game_keeps_the_last(void **state)
{
    (void)state;
    struct level levels[3];
    open_levels();
    for (uint32_t i = 0; i < 3; i++) {
        level_make(&levels[i], &h, i * LIMIT, LIMIT, 1);
        assert_true(becomes_sampled(&levels[i], (i + 1) * LIMIT));
    }
    for (uint32_t i = 0; i < 3; i++)
        level_destroy(&levels[i], &h);
    pm_harness_close(&h);
}

/* Recordings that may be submitted again keep what they name; nothing of theirs makes room. */
static void what_is_recorded_stays(void **state)
{
    (void)state;
    struct level first, second;
    open_levels();
    level_make(&first, &h, 0, LIMIT, 1);
    assert_true(becomes_sampled(&first, LIMIT));
    VkCommandBuffer kept = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, kept, 0);
    level_record(&first, &h, kept);
    PM_CHECK(h.vk.EndCommandBuffer(kept));
    level_make(&second, &h, LIMIT, LIMIT, 1);
    for (int i = 0; i < 256; i++)
        level_frame(&second, &h, buffer);
    pm_harness_submit(&h, h.queue, kept, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &kept);
    assert_true(becomes_sampled(&second, 2 * LIMIT));
    level_destroy(&first, &h);
    level_destroy(&second, &h);
    pm_harness_close(&h);
}

/* One shader has many pipelines and many batches: they share what one of them tells, and leave
 * something for the next shader. */
static void pipelines_share_a_shaders_points(void **state)
{
    (void)state;
    struct level many, one;
    open_with("1");
    level_make(&many, &h, 0, 1, 44);
    assert_true(becomes_sampled(&many, 1));
    for (int i = 0; i < 64; i++)
        level_frame(&many, &h, buffer);
    assert_true(watch_counts().variants <= LIMIT * 3 / 4);
    level_make(&one, &h, 1, 1, 1);
    assert_true(becomes_sampled(&one, 2));
    level_destroy(&many, &h);
    level_destroy(&one, &h);
    pm_harness_close(&h);
}

/* ---- who gets the room ---- */

/* What a session of one shader says of it. (0 is the harness's own shader, too.) */
static struct known_shader shader_of(uint32_t number)
{
    struct known_shader shader[2];
    struct level level;
    open_levels();
    level_make(&level, &h, number, 1, 1);
    assert_true(becomes_sampled(&level, 1));
    level_destroy(&level, &h);
    pm_harness_close(&h);
    assert_int_equal(known_take(shader, 2), 1);
    return shader[0];
}

/* A frame with both, ten times as often with the one. */
static void frame_of(const struct level *hot, const struct level *cold)
{
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    for (int i = 0; i < 10; i++)
        level_record(hot, &h, buffer);
    level_record(cold, &h, buffer);
    pm_harness_run(&h, buffer);
}

/* Frames with both until so many shaders are sampled, and some more. */
static void draw_both(const struct level *hot, const struct level *cold, size_t shaders)
{
    uint64_t until = 0;
    while (spooled_shaders() < shaders && patience(&until))
        frame_of(hot, cold);
    for (int i = 0; i < 256; i++)
        frame_of(hot, cold);
}

/* There is room for three. A shader that the database knows well leaves it to those that lack
 * samples, though it comes first and is drawn more. */
static void what_lacks_samples_has_the_room(void **state)
{
    (void)state;
    enum { ROOM = 3 };
    struct known_shader sampled[ROOM + 1], well = shader_of(1);
    struct level known, lacking;
    char made[96], key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&well.key, key);
    key[12] = '\0';
    snprintf(made, sizeof made, "made a variant of shader %s", key);
    assert_int_equal(pm_layered_logged(made), 1);
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    known_place("game", &well, 1);
    limit = "3";
    open_levels();
    level_make(&known, &h, 1, 1, 1);
    for (int i = 0; i < 64; i++)
        level_frame(&known, &h, buffer);
    level_make(&lacking, &h, 2, ROOM, 1);
    draw_both(&known, &lacking, ROOM);
    level_destroy(&known, &h);
    level_destroy(&lacking, &h);
    pm_harness_close(&h);
    limit = "16";
    assert_int_equal(pm_layered_logged(made), 1);
    assert_int_equal(known_take(sampled, ROOM + 1), ROOM);
    for (size_t i = 0; i < ROOM; i++)
        assert_false(pm_shader_key_equal(&sampled[i].key, &well.key));
}

/* The layer's; not the game's own thread's. */
static void see_compile(void *user, const struct pm_null_call *call)
{
    if (strcmp(call->command, "vkCreateGraphicsPipelines") == 0 &&
        call->thread != (uint32_t)getpid())
        atomic_store((_Atomic bool *)user, true);
}

/* Of two that lack all, and wait while another is compiled, the one that is drawn more has the room
 * that is left, though the other asked before. */
static void what_is_drawn_more_goes_first(void **state)
{
    (void)state;
    struct level first, cold, hot;
    _Atomic bool compiling = false;
    struct known_shader sampled[2];
    const struct known_shader hotter = shader_of(1);
    limit = "2";
    per_minute = "0";
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1);
    open_levels();
    h.driver->hold_compiles(true);
    h.driver->set_callback(see_compile, &compiling);
    level_make(&first, &h, 2, 1, 1);
    level_make(&cold, &h, 3, 1, 1);
    level_make(&hot, &h, 1, 1, 1);
    uint64_t until = 0;
    while (!atomic_load(&compiling) && patience(&until))
        level_frame(&first, &h, buffer);
    assert_true(atomic_load(&compiling));
    h.driver->set_callback(NULL, NULL);
    for (int i = 0; i < 3; i++)
        level_frame(&cold, &h, buffer);
    for (int i = 0; i < 30; i++)
        level_frame(&hot, &h, buffer);
    /* Nothing more is asked for until the first and the next are made. */
    const uint32_t made = pm_layered_logged("made a variant");
    h.driver->hold_compiles(false);
    for (until = 0; pm_layered_logged("made a variant") < made + 2 && patience(&until);)
        ;
    draw_both(&hot, &cold, 1);
    level_destroy(&first, &h);
    level_destroy(&cold, &h);
    level_destroy(&hot, &h);
    pm_harness_close(&h);
    limit = "16";
    per_minute = "60000";
    assert_int_equal(known_take(sampled, 2), 1);
    assert_true(pm_shader_key_equal(&sampled[0].key, &hotter.key));
}

/* How many of the variants after so many are of one shader, until there is one of another. */
static uint32_t made_in_a_row(uint32_t after)
{
    static const char made[] = "made a variant of shader ";
    char path[200], line[1024], key[13] = "";
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    uint32_t row = 0;
    for (uint32_t count = 0; fgets(line, sizeof line, file);) {
        const char *at = strstr(line, made);
        if (at == NULL || count++ < after)
            continue;
        at += sizeof made - 1;
        if (row > 0 && strncmp(at, key, sizeof key - 1) != 0)
            break;
        snprintf(key, sizeof key, "%.12s", at);
        row++;
    }
    fclose(file);
    return row;
}

/* Engines have dozens of pipelines of a shader. Those of one of which all batches were sampled do
 * not have theirs compiled before batches of which there is nothing, though they asked before. */
static void further_pipelines_go_last(void **state)
{
    (void)state;
    enum { FURTHER = 12, ASKED = 4 };
    struct level first, further, lacking;
    _Atomic bool compiling = false;
    uint64_t until = 0;
    limit = "256";
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1);
    open_with("1");
    level_make(&first, &h, 1, 1, 1);
    level_make(&further, &h, 1, 1, FURTHER);
    level_make(&lacking, &h, 2, 1, 1);
    assert_true(becomes_sampled(&first, 1));
    /* All of its batches: a session's have their turns. */
    for (uint32_t made = 0, now; (now = pm_layered_logged("made a variant")) != made; made = now) {
        for (int i = 0; i < 64; i++)
            level_frame(&first, &h, buffer);
        usleep(200000);
    }
    const uint32_t before = pm_layered_logged("made a variant");
    h.driver->hold_compiles(true);
    h.driver->set_callback(see_compile, &compiling);
    while (!atomic_load(&compiling) && patience(&until))
        level_frame(&lacking, &h, buffer);
    assert_true(atomic_load(&compiling));
    h.driver->set_callback(NULL, NULL);
    level_frame(&further, &h, buffer);
    for (int i = 0; i < ASKED; i++)
        level_frame(&lacking, &h, buffer);
    h.driver->hold_compiles(false);
    for (until = 0;
         pm_layered_logged("made a variant") < before + ASKED + FURTHER / 2 && patience(&until);)
        usleep(10000);
    assert_true(pm_layered_logged("made a variant") >= before + ASKED + FURTHER / 2);
    assert_true(made_in_a_row(before) > ASKED);
    level_destroy(&first, &h);
    level_destroy(&further, &h);
    level_destroy(&lacking, &h);
    pm_harness_close(&h);
    limit = "16";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(the_next_level_has_its_turn),
        PM_LAYERED_TEST(even_if_the_game_keeps_the_last),
        PM_LAYERED_TEST(what_is_recorded_stays),
        PM_LAYERED_TEST(pipelines_share_a_shaders_points),
        PM_LAYERED_TEST(what_lacks_samples_has_the_room),
        PM_LAYERED_TEST(what_is_drawn_more_goes_first),
        PM_LAYERED_TEST(further_pipelines_go_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
