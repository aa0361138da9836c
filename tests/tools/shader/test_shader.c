/* `piecemeal shader PASS KEY`, run as a user would: a shader of the store, with what the store
 * knows of it. */
#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"
#include "profile/profile.h"
#include "profile/shader_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char folder[64];
static struct pm_words original, canonical;
static const struct pm_target scalar = {.vulkan_minor = 1, .scalar_block_layout = true};

static void canonicalize(const struct pm_target *target)
{
    struct pm_buffer bytes;
    struct pm_error error = {0};
    pm_buffer_init(&bytes, 1 << 20);
    assert_true(pm_file_read(SCALAR, &bytes, &error));
    original = (struct pm_words){malloc(bytes.size), bytes.size / 4};
    memcpy(original.data, bytes.data, bytes.size);
    pm_buffer_finish(&bytes);
    const struct pm_canonicalize_info info = {
        .words = original.data,
        .word_count = original.count,
        .stage = PM_STAGE_COMPUTE,
        .entry_point = "main",
        .target = *target,
    };
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s", error.message);
}

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("PIECEMEAL_DATABASES");
    canonicalize(&scalar);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pm_words_finish(&original);
    pm_words_finish(&canonical);
    temporary_remove(folder);
    return 0;
}

/* As a layer on such a device keeps it. */
static struct pm_shader_key keep(const struct pm_target *target)
{
    const struct pm_stored_shader shader = {
        .key = pm_shader_key_compute(pm_canonicalize_recipe(), canonical.data, canonical.count),
        .recipe = pm_canonicalize_recipe(),
        .stage = PM_STAGE_COMPUTE,
        .target = pm_target_bits(target),
        .entry_point = "main",
        .original = original.data,
        .original_count = original.count,
        .canonical = canonical.data,
        .canonical_count = canonical.count,
    };
    const struct pm_shader_key digest =
        pm_raw_digest_compute(original.data, original.count, PM_STAGE_COMPUTE, "main", NULL, 0);
    struct pm_shader_store *store = pm_shader_store_open(NULL, 1 << 20);
    struct pm_error error = {0};
    if (!pm_shader_store_write(store, &digest, &shader, &error))
        fail_msg("%s", error.message);
    pm_shader_store_close(store);
    return shader.key;
}

/* A database of the game that says of every value that it is zero. */
static void publish(const char *game, const struct pm_shader_key *key)
{
    struct pm_zero_points candidates;
    struct pm_error error = {0};
    assert_true(pm_points_zero(canonical.data, canonical.count, &candidates, &error));
    struct pm_point_estimate *points = calloc(candidates.count, sizeof *points);
    for (uint32_t i = 0; i < candidates.count; i++) {
        const struct pm_ratio always = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, .clusters = 10};
        points[i] = (struct pm_point_estimate){
            .calls = 100,
            .sessions = 10,
            .measures = {[PM_MEASURE_ZERO] = always, [PM_MEASURE_WRITES] = always}};
    }
    const struct pm_shader_estimates zeros = {.key = *key,
                                              .environment = {.subgroup_size = 32},
                                              .kind = PM_KIND_ZERO,
                                              .space = candidates.count,
                                              .published = true,
                                              .points = points};
    const struct pm_database database = {.game = game, .shaders = &zeros, .shader_count = 1};
    struct pm_buffer encoded, body;
    char *path = pm_database_cache_path(game), databases[100];
    pm_buffer_init(&encoded, 1 << 20);
    pm_buffer_init(&body, 1 << 20);
    snprintf(databases, sizeof databases, "%s/piecemeal/databases", folder);
    if (!pm_database_encode(&database, &encoded, &error) ||
        !pm_compress(encoded.data, encoded.size, &body, &error) ||
        !pm_make_folder(databases, &error) || !pm_file_write(path, body.data, body.size, &error))
        fail_msg("%s", error.message);
    free(path);
    pm_buffer_finish(&encoded);
    pm_buffer_finish(&body);
    free(points);
    pm_zero_points_finish(&candidates);
}

/* Runs a pass over the shader; what it says must have a text. */
static void expect(int status, const char *text, const char *pass, const struct pm_shader_key *key,
                   const char *options)
{
    char command[700], said[4096], name[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(key, name);
    snprintf(command, sizeof command, "%s shader %s %s %s 2>&1", PIECEMEAL, pass, name, options);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = 0;
    const int got = pclose(pipe);
    if (!WIFEXITED(got) || WEXITSTATUS(got) != status || !strstr(said, text))
        fail_msg("%s: %d, wanted %d and '%s': %s", command, got, status, text, said);
}

static void the_device_is_known(void **state)
{
    (void)state;
    char name[PM_SHADER_KEY_TEXT];
    const struct pm_shader_key key = keep(&scalar);
    pm_shader_key_format(&key, name);
    expect(0, "", "validate", &key, "");
    expect(0, name, "canonicalize", &key, "");
    expect(0, "block 0", "points_zero", &key, "");
    expect(0, "counter bytes", "instrument_blocks", &key, "");
    expect(0, "counter bytes", "instrument_zero", &key, "");
}

static void an_option_adds_to_it(void **state)
{
    (void)state;
    const struct pm_shader_key key = keep(&(struct pm_target){.vulkan_minor = 1});
    expect(1, "with --scalar-block-layout it is valid", "validate", &key, "");
    expect(1, "with --scalar-block-layout it is valid", "instrument_blocks", &key, "");
    publish("a game", &key);
    expect(1, "with --scalar-block-layout it is valid", "specialize_zero", &key, "--game 'a game'");
    expect(0, "transforms", "specialize_zero", &key, "--game 'a game' --scalar-block-layout");
    expect(0, "", "validate", &key, "--scalar-block-layout");
    expect(1, "no compute entry point", "canonicalize", &key,
           "--scalar-block-layout --entry other");
}

static void the_games_profile_is_found(void **state)
{
    (void)state;
    const struct pm_shader_key key = keep(&scalar);
    expect(1, "it needs --profile or --game", "specialize_zero", &key, "");
    expect(1, "nothing is known of a game", "specialize_zero", &key, "--game 'a game'");
    publish("a game", &key);
    expect(0, "transforms", "specialize_zero", &key, "--game 'a game'");
}

static void passes_have_the_names_of_the_config(void **state)
{
    (void)state;
    const struct pm_shader_key key = keep(&scalar);
    expect(2, "\"blocks\" is no pass", "optimize_blocks", &key, "--block-passes sink,blocks");
    expect(1, "it needs --profile or --game", "optimize_blocks", &key, "--block-passes sink,peel");
}

static void one_that_is_not_stored(void **state)
{
    (void)state;
    const struct pm_shader_key key = {.bytes = {1, 2, 3}};
    expect(1, "not in the shader store", "validate", &key, "");
    const struct pm_shader_key stored = keep(&scalar);
    expect(1, "not in the shader store", "validate", &stored, "--store /nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_device_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_option_adds_to_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_games_profile_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(passes_have_the_names_of_the_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_not_stored, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
