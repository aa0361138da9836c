#include "tests/layer/optimized.h"
#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"

#include "profile/journal.h"
#include "profile/signed_verdicts.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/layer/pipelines.h"
#include "weighted.comp.h"
#include "weighted.frag.h"
#include "weighted_casts.comp.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_SHADERS = 8,
    SUBGROUP_SIZE = 32,
    LARGE = 4500,      /* shaders of a large game */
    LARGE_POINTS = 60, /* of each */
    MOST_BYTES = 1 << 26,
};

static struct {
    struct pm_shader_estimates shaders[MOST_SHADERS];
    size_t count;
    const uint32_t *also; /* a test's own shader; NULL: there is none */
    size_t also_size;
} database;

void optimized_enable(bool trust)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0", 1);
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "1", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "true", 1);
    setenv("PIECEMEAL_DEBUG_TRUST_VARIANTS", trust ? "true" : "false", 1);
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    setenv("PIECEMEAL_DATABASES", pm_layered_home(), 1);
}

/* ---- the database ---- */

static int by_key(const void *a, const void *b)
{
    const struct pm_shader_estimates *x = a, *y = b;
    const int keys = memcmp(x->key.bytes, y->key.bytes, sizeof x->key.bytes);
    return keys ? keys : (int)x->kind - (int)y->kind;
}

const struct pm_shader_key *optimized_first_key(void)
{
    assert_true(database.count > 0);
    return &database.shaders[0].key;
}

bool optimized_has_zeros(const struct pm_shader_key *key)
{
    for (size_t i = 0; i < database.count; i++)
        if (database.shaders[i].kind == PM_KIND_ZERO &&
            pm_shader_key_equal(&database.shaders[i].key, key))
            return true;
    return false;
}

static void write_shaders(struct pm_shader_estimates *shaders, size_t count)
{
    struct pm_buffer encoded, body;
    struct pm_error error = {0};
    char path[200];
    qsort(shaders, count, sizeof *shaders, by_key);
    const struct pm_database whole = {.game = "game", .shaders = shaders, .shader_count = count};
    pm_buffer_init(&encoded, MOST_BYTES);
    pm_buffer_init(&body, MOST_BYTES);
    if (!pm_database_encode(&whole, &encoded, &error) ||
        !pm_compress(encoded.data, encoded.size, &body, &error))
        fail_msg("%s", error.message);
    snprintf(path, sizeof path, "%s/game.pmdb", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(body.data, 1, body.size, file), body.size);
    fclose(file);
    /* As who pulls it does. */
    assert_true(pm_database_cache_pack(path, &error));
    pm_buffer_finish(&encoded);
    pm_buffer_finish(&body);
}

static void write_database(void)
{
    write_shaders(database.shaders, database.count);
}

static struct pm_ratio ratio(double low, double value, double high)
{
    return (struct pm_ratio){value, low, high, value, low, high, .clusters = 10};
}

static void add(const struct pm_shader_estimates *estimates, const struct pm_point_estimate *point)
{
    struct pm_point_estimate *points = calloc(estimates->space, sizeof *points);
    assert_true(database.count < MOST_SHADERS);
    assert_non_null(points);
    for (uint32_t i = 0; i < estimates->space; i++)
        points[i] = *point;
    struct pm_shader_estimates *added = &database.shaders[database.count++];
    *added = *estimates;
    added->published = true;
    added->points = points;
}

void optimized_make_large(void)
{
    struct pm_point_estimate *points = calloc((size_t)LARGE * LARGE_POINTS, sizeof *points);
    struct pm_shader_estimates *all = calloc(LARGE + MOST_SHADERS, sizeof *all);
    assert_non_null(points);
    assert_non_null(all);
    memcpy(all, database.shaders, database.count * sizeof *all);
    for (uint32_t s = 0; s < LARGE; s++) {
        struct pm_point_estimate *own = &points[(size_t)s * LARGE_POINTS];
        for (uint32_t i = 0; i < LARGE_POINTS; i++) {
            const double value = (s * 31 + i * 17) % 1000 / 1000.0;
            own[i] = (struct pm_point_estimate){
                .calls = s + i,
                .sessions = 10,
                .measures = {[PM_MEASURE_ZERO] = ratio(value, value, value),
                             [PM_MEASURE_WRITES] = ratio(value, value, value)}};
        }
        all[database.count + s] =
            (struct pm_shader_estimates){.key = pm_shader_key_compute("large", &s, 1),
                                         .environment = {.subgroup_size = SUBGROUP_SIZE},
                                         .kind = PM_KIND_ZERO,
                                         .space = LARGE_POINTS,
                                         .published = true,
                                         .points = own};
    }
    write_shaders(all, database.count + LARGE);
    free(all);
    free(points);
}

static bool is(const struct pm_stored_shader *stored, const uint32_t *words, size_t size)
{
    return stored->original_count * sizeof *words == size &&
           memcmp(stored->original, words, size) == 0;
}

static bool is_ours(const struct pm_stored_shader *stored)
{
    return is(stored, weighted_comp, sizeof weighted_comp) ||
           is(stored, weighted_casts_comp, sizeof weighted_casts_comp) ||
           is(stored, weighted_frag, sizeof weighted_frag) ||
           (database.also && is(stored, database.also, database.also_size));
}

/* All candidates of a stored shader are zero whenever they are written; but for the harness's own
 * shaders, of which nothing is known. */
static void add_zeros(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader stored;
    struct pm_zero_points points;
    struct pm_error error = {0};
    if (!pm_shader_store_read(store, key, arena, &stored, &error) ||
        !pm_points_zero(stored.canonical, stored.canonical_count, &points, &error))
        fail_msg("%s", error.message);
    const struct pm_point_estimate zero = {
        .calls = 100,
        .sessions = 10,
        .measures = {[PM_MEASURE_ZERO] = ratio(0.9, 1, 1), [PM_MEASURE_WRITES] = ratio(0.9, 1, 1)},
    };
    const struct pm_shader_estimates estimates = {
        .key = *key,
        .environment = {.subgroup_size = SUBGROUP_SIZE},
        .kind = PM_KIND_ZERO,
        .space = points.count,
    };
    if (is_ours(&stored))
        add(&estimates, &zero);
    pm_zero_points_finish(&points);
    pm_arena_destroy(arena);
}

/* Of the second block of the test's own shader. */
static struct pm_ratio second_entered, second_uniform;
/* Of a loop that is the fourth block; 0: there is none. */
static double turns_of_loop;

/* All subgroups enter each block of that whole, but for the second. */
static void add_blocks(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader stored;
    struct pm_block_points points;
    struct pm_error error = {0};
    if (!pm_shader_store_read(store, key, arena, &stored, &error) ||
        !pm_points_blocks(stored.canonical, stored.canonical_count, &points, &error))
        fail_msg("%s", error.message);
    const struct pm_ratio all = ratio(0.99, 1, 1);
    const struct pm_point_estimate entered = {
        .calls = 100, .sessions = 10, .measures = {all, all, all}};
    const struct pm_shader_estimates estimates = {
        .key = *key,
        .environment = {.subgroup_size = SUBGROUP_SIZE},
        .kind = PM_KIND_BLOCK,
        .space = points.count,
    };
    if (is(&stored, database.also, database.also_size)) {
        add(&estimates, &entered);
        struct pm_point_estimate *rare =
            (struct pm_point_estimate *)(uintptr_t)&database.shaders[database.count - 1].points[1];
        rare->measures[PM_MEASURE_FREQUENCY] = rare->measures[PM_MEASURE_SUBGROUPS] =
            second_entered;
        rare->measures[PM_MEASURE_UNIFORM] = second_uniform;
        if (turns_of_loop > 0)
            rare[2].measures[PM_MEASURE_FREQUENCY] = rare[2].measures[PM_MEASURE_SUBGROUPS] =
                ratio(turns_of_loop - 0.01, turns_of_loop, turns_of_loop + 0.01);
    }
    pm_block_points_finish(&points);
    pm_arena_destroy(arena);
}

void optimized_make_provisional(enum pm_provisional level)
{
    for (size_t i = 0; i < database.count; i++) {
        struct pm_shader_estimates *shader = &database.shaders[i];
        if (shader->kind != PM_KIND_ZERO)
            continue;
        uint8_t *levels = malloc(shader->space + (size_t)1);
        assert_non_null(levels);
        memset(levels, (int)level, shader->space);
        free((void *)(uintptr_t)shader->points);
        shader->points = NULL;
        shader->published = false;
        shader->provisional = levels;
    }
    write_database();
}

void optimized_add_timing(const struct pm_shader_key *key, double low, double high)
{
    struct pm_harness h;
    pm_layered_enable(PM_LAYER_OFF);
    pm_harness_open(&h, NULL);
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 device = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                          .pNext = &driver};
    h.vki.GetPhysicalDeviceProperties2(h.physical, &device);
    pm_harness_close(&h);
    const struct pm_point_estimate time = {
        .calls = 100,
        .sessions = 10,
        .measures = {[PM_MEASURE_TIME] = ratio(low, (low + high) / 2, high)},
    };
    const struct pm_shader_estimates estimates = {
        .key = *key,
        .environment = {.subgroup_size = SUBGROUP_SIZE,
                        .vendor_id = device.properties.vendorID,
                        .device_id = device.properties.deviceID,
                        .driver_id = (uint32_t)driver.driverID,
                        .driver_version = device.properties.driverVersion},
        .kind = PM_KIND_TIMING,
        .space = 1,
    };
    add(&estimates, &time);
    write_database();
}

void optimized_sign(bool faster, bool has_key)
{
    static const uint8_t unchecked[PM_SIGNATURE_BYTES];
    struct pm_signed_verdict verdicts[MOST_SHADERS];
    struct pm_signed_verdicts all = {
        .game = "game", .serial = 1, .expires = UINT32_MAX, .verdicts = verdicts};
    struct pm_buffer text;
    char key[200];
    for (size_t i = 0; i < database.count; i++) {
        if (database.shaders[i].kind == PM_KIND_TIMING)
            verdicts[all.count++] = (struct pm_signed_verdict){
                database.shaders[i].key, database.shaders[i].environment, faster};
    }
    assert_true(all.count > 0);
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_signed_verdicts_write(&all, &text, NULL));
    assert_true(pm_signed_verdicts_close(&text, unchecked, NULL));
    /* Nothing checks the signature here: the key is what the file is named by. */
    snprintf(key, sizeof key, "%s/operator.pub", pm_layered_home());
    assert_true(pm_file_write(key, "the key", 7, NULL));
    char *path = pm_verdicts_cache_path("game", key, NULL);
    assert_non_null(path);
    assert_true(pm_file_write(path, text.data, text.size, NULL));
    free(path);
    pm_buffer_finish(&text);
    if (has_key)
        setenv("PIECEMEAL_AGGREGATOR_VERDICT_KEY_FILE", key, 1);
    else
        unsetenv("PIECEMEAL_AGGREGATOR_VERDICT_KEY_FILE");
}

static void forget_database(void)
{
    for (size_t i = 0; i < database.count; i++) {
        free((void *)(uintptr_t)database.shaders[i].points);
        free((void *)(uintptr_t)database.shaders[i].provisional);
    }
    database.count = 0;
}

void optimized_each_stored(void (*visit)(struct pm_shader_store *store,
                                         const struct pm_shader_key *key))
{
    char folder[200];
    snprintf(folder, sizeof folder, "%s/piecemeal/shaders", pm_layered_home());
    struct pm_shader_store *store = pm_shader_store_open(folder, 0);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char text[PM_SHADER_KEY_TEXT];
        struct pm_shader_key key;
        snprintf(text, sizeof text, "%.48s", entry->d_name);
        if (strcmp(entry->d_name + strlen(text), ".pmshader") == 0 &&
            pm_shader_key_parse(text, &key))
            visit(store, &key);
    }
    closedir(directory);
    pm_shader_store_close(store);
}

void optimized_learn(void)
{
    struct pm_harness h;
    forget_database();
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    pm_harness_open(&h, NULL);
    h.vk.DestroyPipeline(h.device, optimized_compute(&h), NULL);
    h.vk.DestroyPipeline(h.device, optimized_graphics(&h), NULL);
    pm_harness_close(&h);
    optimized_each_stored(add_zeros);
    assert_int_equal(database.count, 2);
    write_database();
}

/* What visit adds of a test's own shader is all that is known. */
static void learn_by(void (*visit)(struct pm_shader_store *store, const struct pm_shader_key *key),
                     const uint32_t *words, size_t size)
{
    forget_database();
    database.also = words;
    database.also_size = size;
    optimized_each_stored(visit);
    database.also = NULL;
    assert_int_equal(database.count, 1);
    write_database();
}

void optimized_learn_of(const uint32_t *words, size_t size)
{
    learn_by(add_zeros, words, size);
}

void optimized_learn_blocks_of(const uint32_t *words, size_t size)
{
    second_entered = ratio(0, 0, 0.01);
    second_uniform = ratio(0.99, 1, 1);
    learn_by(add_blocks, words, size);
}

void optimized_learn_rare_block_of(const uint32_t *words, size_t size, double uniform)
{
    second_entered = ratio(0.0009, 0.001, 0.0011);
    second_uniform = ratio(uniform, uniform, uniform);
    learn_by(add_blocks, words, size);
}

void optimized_learn_rare_block_and_loop_of(const uint32_t *words, size_t size, double turns)
{
    turns_of_loop = turns;
    optimized_learn_rare_block_of(words, size, 1);
    turns_of_loop = 0;
}

/* ---- the journal ---- */

struct listing {
    struct pm_shader_key *keys;
    size_t count, most;
};

static void list_file(struct listing *listing, const char *path)
{
    char word[16], text[64];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%15s", word) == 1) {
        if ((strcmp(word, "new") != 0 && strcmp(word, "ran") != 0 && strcmp(word, "proven") != 0) ||
            fscanf(file, "%63s", text) != 1)
            continue;
        if (listing->count < listing->most &&
            pm_shader_key_parse(text, &listing->keys[listing->count]))
            listing->count++;
    }
    fclose(file);
}

uint64_t optimized_packed(void)
{
    char path[200];
    struct stat status;
    snprintf(path, sizeof path, "%s/game.pmpack", pm_layered_home());
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

size_t optimized_journal(struct pm_shader_key *keys, size_t most)
{
    struct listing listing = {keys, 0, most};
    char folder[200], path[500];
    snprintf(folder, sizeof folder, "%s/piecemeal/journal/game", pm_layered_home());
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            list_file(&listing, path);
    }
    if (directory)
        closedir(directory);
    return listing.count;
}

/* ---- pipelines ---- */

static VkShaderModule make_module(struct pm_harness *h, const uint32_t *words, size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module;
    PM_CHECK(h->vk.CreateShaderModule(h->device, &info, NULL, &module));
    return module;
}

const uint32_t *optimized_words(VkShaderStageFlagBits stage, size_t *size)
{
    const bool compute = stage == VK_SHADER_STAGE_COMPUTE_BIT;
    *size = compute ? sizeof weighted_comp : sizeof weighted_frag;
    return compute ? weighted_comp : weighted_frag;
}

VkPipeline optimized_compute(struct pm_harness *h)
{
    return pm_harness_compute_of(h, weighted_comp, sizeof weighted_comp, h->layout);
}

VkPipeline optimized_compute_with_casts(struct pm_harness *h)
{
    return pm_harness_compute_of(h, weighted_casts_comp, sizeof weighted_casts_comp, h->layout);
}

VkPipeline optimized_graphics(struct pm_harness *h)
{
    struct parts parts = {.vertex = h->vertex,
                          .fragment = make_module(h, weighted_frag, sizeof weighted_frag),
                          .layout = h->layout,
                          .render_pass = h->render_pass};
    const struct graphics_options options = {.parts = &parts};
    const VkPipeline pipeline = make_graphics(h, &options);
    h->vk.DestroyShaderModule(h->device, parts.fragment, NULL);
    return pipeline;
}

void optimized_open(struct pm_harness *harness)
{
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(harness, NULL);
}

void optimized_assert_calls(const struct pm_harness *harness, uint64_t since,
                            VkCommandBuffer buffer, const char *expected)
{
    char *calls = pm_calls_on(harness->driver, since, buffer);
    if (strcmp(calls, expected) != 0)
        fail_msg("the driver saw: %s\ninstead of: %s", calls, expected);
    free(calls);
}

VkPipeline optimized_bound(const struct pm_harness *harness, uint64_t since, uint32_t n)
{
    return (VkPipeline)pm_call(harness->driver, since, "vkCmdBindPipeline", n).arguments[2];
}

/* A recording with one bind of the pipeline, submitted. Returns how many the driver saw. */
static uint32_t bind_once(struct pm_harness *harness, VkPipeline pipeline,
                          VkPipelineBindPoint point, VkPipeline *bound)
{
    VkCommandBuffer buffer = pm_harness_allocate(harness, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = harness->driver->position();
    pm_harness_begin(harness, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(harness, buffer);
    if (point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        pm_harness_begin_pass(harness, buffer);
    harness->vk.CmdBindPipeline(buffer, point, pipeline);
    if (point == VK_PIPELINE_BIND_POINT_GRAPHICS) {
        harness->vk.CmdDraw(buffer, 3, 1, 0, 0);
        harness->vk.CmdEndRenderPass(buffer);
    } else {
        harness->vk.CmdDispatch(buffer, 1, 1, 1);
    }
    PM_CHECK(harness->vk.EndCommandBuffer(buffer));
    const uint32_t count = pm_calls_of(harness->driver, position, "vkCmdBindPipeline");
    *bound = optimized_bound(harness, position, 0);
    pm_harness_submit(harness, harness->queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(harness->vk.QueueWaitIdle(harness->queue));
    harness->vk.FreeCommandBuffers(harness->device, harness->pool, 1, &buffer);
    return count;
}

VkPipeline optimized_effective(struct pm_harness *harness, VkPipeline pipeline,
                               VkPipelineBindPoint point)
{
    enum { TRIES = 256 }; /* a glance binds one thing after another, and is over in fewer */
    VkPipeline bound;
    uint32_t count = 0;
    for (int i = 0; i < TRIES && count != 1; i++)
        count = bind_once(harness, pipeline, point, &bound);
    assert_int_equal(count, 1);
    return bound;
}

/* ---- the log ---- */

uint32_t optimized_logged(const char *text)
{
    char path[200], line[1024];
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    FILE *file = fopen(path, "r");
    uint32_t count = 0;
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return count;
}

void optimized_assert_logged(const char *text, uint32_t times)
{
    const uint32_t count = optimized_logged(text);
    if (count != times)
        fail_msg("\"%s\" is %u times in the log, not %u", text, count, times);
}
