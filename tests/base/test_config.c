#include "base/config.h"
#include "base/config_keys.h"
#include "base/file.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIXTEEN "0123456789abcdef"
#define SIXTYFOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN
#define LONG SIXTYFOUR SIXTYFOUR SIXTYFOUR SIXTYFOUR

/* What must be said of a text that is refused; every place was counted by hand. */
static const struct {
    const char *text, *message;
} refused[] = {
    {"", "c.json:1:1: expected a value"},
    {"[1]", "c.json:1:1: a configuration must be an object"},
    {"{", "c.json:1:2: expected a key in quotes, but the text ends"},
    {"{\"log\": {\"level\": \"info\",}}", "c.json:1:26: expected a key in quotes, found '}'"},
    {"{\n  \"log\" {}\n}", "c.json:2:9: expected ':' after a key, found '{'"},
    {"{\"log\": {}\n\"game\": {}}", "c.json:2:1: expected ',' or '}', found '\"'"},
    {"{} x", "c.json:1:4: expected nothing more after the value, found 'x'"},
    {"{\"limits\": {\"variants\": 08}}", "c.json:1:25: a number must not start with 0"},
    {"{\"limits\": {\"variants\": tru}}", "c.json:1:25: expected a value"},
    {"{\"game\": {\"name\": \"a\n\"}}", "c.json:1:21: a string must end on its line"},
    {"{\"game\": {\"name\": \"a\\u0000b\"}}", "c.json:1:21: \\u0000 is not allowed"},
    {"{\"game\": {\"name\": \"\\ud800\"}}", "c.json:1:20: half of a surrogate pair"},
    {"{\"game\": {\"name\": \"\xff\"}}", "c.json:1:20: byte 0xFF is not UTF-8"},
    {"\xEF\xBB\xBF{}", "c.json:1:1: expected a value"},
    {"{\"samplr\": {}}", "c.json:1:2: unknown section \"samplr\"; did you mean \"sampler\"?"},
    {"{\"zzzzzzzzz\": {}}", "c.json:1:2: unknown section \"zzzzzzzzz\""},
    {"{\"sampler\": 3}", "c.json:1:13: section \"sampler\" must be an object"},
    {"{\"sampler\": {\"bacth\": 3}}",
     "c.json:1:14: unknown key \"sampler.bacth\"; did you mean \"sampler.batch\"?"},
    {"{\"sampler\": {\"url\": \"x\"}}",
     "c.json:1:14: unknown key \"sampler.url\"; did you mean \"aggregator.url\"?"},
    {"{\"sampler\": {\"batch\": 3,\n \"batch\": 4}}", "c.json:2:2: sampler.batch is given twice"},
    {"{\"sampler\": {\"batch\": 3, \"b\\u0061tch\": 4}}",
     "c.json:1:26: sampler.batch is given twice"},
    {"{\"log\": {}, \"log\": {}}", "c.json:1:13: section \"log\" is given twice"},
    {"{\"sampler\": {\"batch\": \"some\"}}",
     "c.json:1:23: sampler.batch: must be a whole number from 1 to 1048576 or \"all\""},
    {"{\"sampler\": {\"batch\": 0}}", "c.json:1:23: sampler.batch: 0 is out of range"},
    {"{\"sampler\": {\"batch\": 2.5}}", "c.json:1:23: sampler.batch: 2.5 is out of range"},
    {"{\"sampler\": {\"batch\": -1}}", "c.json:1:23: sampler.batch: -1 is out of range"},
    {"{\"sampler\": {\"batch\": 99999999999999999999}}",
     "c.json:1:23: sampler.batch: 99999999999999999999 is out of range"},
    {"{\"sampler\": {\"api_probability\":\t1.5}}",
     "c.json:1:33: sampler.api_probability: 1.5 is out of range: must be from 0 to 1"},
    {"{\"sampler\": {\"api_probability\": \"0.5\"}}",
     "c.json:1:33: sampler.api_probability: must be a number from 0 to 1"},
    {"{\"sampler\": {\"seed\": 18446744073709551616}}",
     "c.json:1:22: sampler.seed: must be a whole number"},
    {"{\"sampler\": {\"kinds\": [\"zero\", \"timing\", \"zero\"]}}",
     "c.json:1:42: sampler.kinds: \"zero\" is named twice"},
    {"{\"sampler\": {\"kinds\": [\"block\", \"blokc\"]}}",
     "c.json:1:33: sampler.kinds: \"blokc\" is no kind of profile"},
    {"{\"sampler\": {\"kinds\": [\"block\", \"block\"]}}",
     "c.json:1:33: sampler.kinds: \"block\" is named twice"},
    {"{\"sampler\": {\"kinds\": [\"block\", 7]}}",
     "c.json:1:33: sampler.kinds: must be a list of strings"},
    {"{\"sampler\": {\"kinds\": \"block\"}}", "c.json:1:23: sampler.kinds: must be a list"},
    {"{\"optimize\": {\"block_passes\": [\"sink\", \"blocks\"]}}",
     "c.json:1:40: optimize.block_passes: \"blocks\" is no pass (there are \"flatten\", \"sink\", "
     "\"version\", \"unroll\", \"peel\" and \"layout\")"},
    {"{\"optimize\": {\"block_passes\": true}}",
     "c.json:1:31: optimize.block_passes: must be a list of passes, as in [\"flatten\", \"sink\"]"},
    {"{\"optimize\": {\"zero\": 1}}", "c.json:1:23: optimize.zero: must be true or false"},
    {"{\"optimize\": {\"float_zero\": \"maybe\"}}",
     "c.json:1:29: optimize.float_zero: must be \"shader\", \"never\" or \"allow\""},
    {"{\"game\": {\"name\": null}}", "c.json:1:19: game.name: must be a string"},
    {"{\"game\": {\"name\": \"a\\nb\"}}",
     "c.json:1:19: game.name: must not contain a control character"},
    {"{\"game\": {\"name\": \"..\"}}",
     "c.json:1:19: game.name: the name is \"..\", which no path can have"},
    {"{\"game\": {\"name\": \"" LONG "\"}}",
     "c.json:1:19: game.name: the name has 256 bytes, more than 255"},
    {"{\"game\": {\"scene\": \"" LONG "\"}}",
     "c.json:1:20: game.scene: the name has 256 bytes, more than 255"},
    /* A value that looks like the key must not draw the error to itself, and columns are
       characters. */
    {"{\"game\": {\"name\": \"\\\"batch\\\": 0 \xC3\xA4\xE2\x82\xAC\"}, \"sampler\": {\"batch\": "
     "0}}",
     "c.json:1:60: sampler.batch: 0 is out of range"},
};

static void refuses_with_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct pm_config config;
        struct pm_error error;
        pm_config_init(&config);
        assert_true(pm_config_set(&config, "game.name", "kept", "test", &error));
        config.sampler.batch = 77;
        bool parsed =
            pm_config_parse(&config, "c.json", refused[i].text, strlen(refused[i].text), &error);
        if (parsed)
            fail_msg("accepted: %s", refused[i].text);
        if (strncmp(error.message, refused[i].message, strlen(refused[i].message)) != 0)
            fail_msg("%s\n said: %s\n must: %s", refused[i].text, error.message,
                     refused[i].message);
        assert_int_equal(error.code, PM_ERROR_INPUT);
        assert_string_equal(config.game_name, "kept");
        assert_int_equal(config.sampler.batch, 77);
        pm_config_finish(&config);
    }
}

static void a_failed_parse_changes_nothing(void **state)
{
    (void)state;
    struct pm_config config;
    struct pm_error error;
    pm_config_init(&config);
    const char text[] =
        "{\"game\": {\"name\": \"new\"}, \"sampler\": {\"batch\": 3, \"seed\": 4, \"x\": 1}}";
    assert_false(pm_config_parse(&config, "c", text, strlen(text), &error));
    assert_null(config.game_name);
    assert_int_equal(config.sampler.batch, 8);
    assert_false(config.sampler.seed_set);
    pm_config_finish(&config);
}

static void reads_every_kind_of_value(void **state)
{
    (void)state;
    const char text[] =
        "{ \"$schema\": \"config.schema.json\",\n"
        " \"game\": {\"name\": \"G\\u00e4me \\ud83d\\ude00\", \"scene\": \"s\"},\n"
        " \"sampler\": {\"window_probability\": 1e-3, \"window_frames\": 10, \"api_probability\": "
        "0.25,\n"
        "  \"batch\": \"all\", \"kinds\": [\"zero\", \"block\"], \"seed\": 18446744073709551615},\n"
        " \"optimize\": {\"zero\": false, \"float_zero\": \"allow\"},\n"
        " \"aggregator\": {\"url\": \"https://example.org\"},\n"
        " \"consent\": {\"upload\": false},\n"
        " \"limits\": {\"compile_threads\": 2, \"spool_mib\": 7},\n"
        " \"log\": {\"level\": \"debug\", \"file\": \"/l\"},\n"
        " \"debug\": {\"synchronous\": true, \"trust_variants\": true, \"slow_variants\": true, "
        "\"slow_guards\": true, \"slow_from\": 7, "
        "\"specialize\": \"canonical\", \"recipe\": \"any\", \"checkpoint_heartbeats\": "
        "5, \"settle_seconds\": 6}}\n";
    struct pm_config config;
    struct pm_error error = {0};
    pm_config_init(&config);
    if (!pm_config_parse(&config, "c", text, strlen(text), &error))
        fail_msg("%s", error.message);
    assert_string_equal(config.game_name, "G\xC3\xA4me \xF0\x9F\x98\x80");
    assert_string_equal(config.game_scene, "s");
    assert_true(config.sampler.window_probability == 1e-3);
    assert_int_equal(config.sampler.window_frames, 10);
    assert_true(config.sampler.api_probability == 0.25);
    assert_int_equal(config.sampler.batch, PM_BATCH_ALL);
    assert_int_equal(config.sampler.kinds, PM_KIND_BIT_BLOCK | PM_KIND_BIT_ZERO);
    assert_true(config.sampler.seed_set);
    assert_true(config.sampler.seed == UINT64_MAX);
    assert_false(config.optimize.zero);
    assert_true(config.optimize.blocks);
    assert_int_equal(config.optimize.block_passes, PM_BLOCK_PASS_BITS_ALL);
    assert_int_equal(config.optimize.float_zero, PM_FLOAT_ZERO_ALLOW);
    assert_string_equal(config.aggregator.url, "https://example.org");
    assert_true(config.consent_withheld);
    assert_int_equal(config.limits.compile_threads, 2);
    assert_int_equal(config.limits.counter_memory_mib, 8);
    assert_int_equal(config.limits.spool_mib, 7);
    assert_int_equal(config.log.level, PM_LOG_DEBUG);
    assert_string_equal(config.log.file, "/l");
    assert_true(config.debug.synchronous);
    assert_true(config.debug.trust_variants);
    assert_true(config.debug.slow_variants);
    assert_true(config.debug.slow_guards);
    assert_int_equal(config.debug.slow_from, 7);
    assert_int_equal(config.debug.specialize, PM_SPECIALIZE_CANONICAL);
    assert_string_equal(config.debug.recipe, "any");
    assert_int_equal(config.limits.pipeline_cache_mib, 64);
    assert_int_equal(config.limits.variants_per_minute, 240);
    assert_int_equal(config.debug.checkpoint_heartbeats, 5);
    assert_int_equal(config.debug.settle_seconds, 6);
    pm_config_finish(&config);
}

static void consent_can_only_be_withheld(void **state)
{
    (void)state;
    struct pm_config config;
    struct pm_error error;
    pm_config_init(&config);
    assert_false(config.consent_withheld);
    assert_true(pm_config_set(&config, "consent.upload", "true", "t", &error));
    assert_false(config.consent_withheld);
    assert_true(pm_config_set(&config, "consent.upload", "false", "t", &error));
    assert_true(pm_config_set(&config, "consent.upload", "true", "t", &error));
    assert_true(config.consent_withheld);
    pm_config_finish(&config);
}

static void environment_wins_and_leaves_others_alone(void **state)
{
    (void)state;
    struct pm_config config;
    struct pm_error error = {0};
    pm_config_init(&config);
    assert_true(pm_config_parse(&config, "c", "{\"sampler\": {\"batch\": 3}}", 25, &error));
    char *environment[] = {(char[]){"PATH=/bin"},
                           (char[]){"PIECEMEAL_ENABLE=1"},
                           (char[]){"PIECEMEAL_CONFIG=/x"},
                           (char[]){"PIECEMEAL_SAMPLER_BATCHES=9"},
                           (char[]){"PIECEMEAL_SAMPLER_BATCH=5"},
                           (char[]){"PIECEMEAL_SAMPLER_BATCH=6"},
                           (char[]){"PIECEMEAL_SAMPLER_KINDS=block"},
                           (char[]){"PIECEMEAL_SAMPLER_API_PROBABILITY=0.5"},
                           (char[]){"PIECEMEAL_DEBUG_SYNCHRONOUS=1"},
                           (char[]){"PIECEMEAL_GAME_NAME=a=b"},
                           NULL};
    assert_true(pm_config_apply_environment(&config, environment, &error));
    assert_int_equal(config.sampler.batch, 5);
    assert_true(config.sampler.api_probability == 0.5);
    assert_true(config.debug.synchronous);
    assert_string_equal(config.game_name, "a=b");

    char *empty[] = {(char[]){"PIECEMEAL_GAME_NAME="}, NULL};
    assert_true(pm_config_apply_environment(&config, empty, &error));
    assert_null(config.game_name);

    char *bad[] = {(char[]){"PIECEMEAL_LOG_FILE=/f"}, (char[]){"PIECEMEAL_SAMPLER_BATCH=none"},
                   NULL};
    assert_false(pm_config_apply_environment(&config, bad, &error));
    assert_string_equal(error.message,
                        "PIECEMEAL_SAMPLER_BATCH in the environment: must be a whole "
                        "number from 1 to 1048576 or \"all\"");
    assert_null(config.log.file);
    pm_config_finish(&config);
}

static void set_refuses_with_the_source(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *message;
    } cases[] = {
        {"sampler.bathc", "1",
         "--set: unknown key \"sampler.bathc\"; did you mean \"sampler.batch\"?"},
        {"batch", "1", "--set: unknown key \"batch\""},
        {"sampler.seed", " 1", "--set: sampler.seed: must be a whole number"},
        {"sampler.seed", "1 ", "--set: sampler.seed: must be a whole number"},
        {"sampler.api_probability", "nan", "--set: sampler.api_probability: must be a number"},
        {"sampler.api_probability", "0,5", "--set: sampler.api_probability: must be a number"},
        {"sampler.api_probability", "", "--set: sampler.api_probability: must be a number"},
        {"sampler.kinds", "block,times", "--set: sampler.kinds: \"times\" is no kind of profile"},
        {"log.level", "loud",
         "--set: log.level: must be \"error\", \"warning\", \"info\" or \"debug\""},
        {"debug.synchronous", "yes", "--set: debug.synchronous: must be true or false"},
        {"game.name", "\xff", "--set: game.name: must be UTF-8"},
        {"game.name", ".", "--set: game.name: the name is \".\", which no path can have"},
    };
    struct pm_config config;
    pm_config_init(&config);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pm_error error;
        assert_false(pm_config_set(&config, cases[i].key, cases[i].value, "--set", &error));
        if (strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("said: %s\nmust: %s", error.message, cases[i].message);
    }
    pm_config_finish(&config);
}

static void variables_and_keys(void **state)
{
    (void)state;
    char out[64], small[24];
    assert_true(pm_config_variable("sampler.batch", out, sizeof(out)));
    assert_string_equal(out, "PIECEMEAL_SAMPLER_BATCH");
    assert_true(pm_config_variable("sampler.batch", small, 24));
    assert_false(pm_config_variable("sampler.batch", small, 23));
    size_t count = 0;
    while (pm_config_key(count))
        count++;
    assert_int_equal(count, 62);
    assert_string_equal(pm_config_key(0), "game.name");
    assert_null(pm_config_key(count + 7));
}

/* A process may have set a locale that writes 0,5. It is made here, since few machines have one. */
static void numbers_do_not_follow_the_locale(void **state)
{
    (void)state;
    char folder[64], command[256];
    temporary_make(folder, sizeof(folder));
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    setenv("LOCPATH", folder, 1);
    bool made = system(command) == 0 && setlocale(LC_NUMERIC, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    temporary_remove(folder);
    if (!made) {
        print_message("no locale can be made on this machine\n");
        skip();
    }
    char text[16];
    snprintf(text, sizeof(text), "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    struct pm_config config;
    struct pm_error error;
    pm_config_init(&config);
    assert_true(pm_config_set(&config, "sampler.api_probability", "0.25", "t", &error));
    assert_true(config.sampler.api_probability == 0.25);
    static const char json[] = "{\"sampler\": {\"window_probability\": 0.125}}";
    assert_true(pm_config_parse(&config, "c", json, sizeof(json) - 1, &error));
    assert_true(config.sampler.window_probability == 0.125);
    setlocale(LC_NUMERIC, "C");
    pm_config_finish(&config);
}

static void a_game_has_a_file_of_its_own(void **state)
{
    (void)state;
    char folder[64], path[256];
    struct pm_error error = {0};
    struct pm_config config;
    temporary_make(folder, sizeof(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("PIECEMEAL_CONFIG");
    snprintf(path, sizeof(path), "%s/piecemeal", folder);
    assert_true(pm_make_folder(path, &error));
    snprintf(path, sizeof(path), "%s/piecemeal/A%%20Game.json", folder);
    static const char own[] = "{\"sampler\": {\"batch\": 3, \"window_frames\": 9}}";
    assert_true(pm_file_write(path, own, sizeof(own) - 1, &error));
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "5", 1);
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "Another", &error));
    assert_int_equal(config.sampler.batch, 8);
    assert_int_equal(config.sampler.window_frames, 5);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 3);
    assert_int_equal(config.sampler.window_frames, 5);

    static const char named[] = "{\"sampler\": {\"batch\": 4}}";
    snprintf(path, sizeof(path), "%s/named.json", folder);
    assert_true(pm_file_write(path, named, sizeof(named) - 1, &error));
    setenv("PIECEMEAL_CONFIG", path, 1);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 4);
    assert_true(pm_config_load_game(&config, NULL, &error));
    setenv("PIECEMEAL_CONFIG", "/nonexistent", 1);
    assert_false(pm_config_load_game(&config, "A Game", &error));
    unsetenv("PIECEMEAL_CONFIG");
    unsetenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES");
    unsetenv("XDG_CONFIG_HOME");
    pm_config_finish(&config);
    temporary_remove(folder);
}

static bool load_waiting(struct pm_config *config, const char *game, struct pm_error *error)
{
    return pm_config_load_waiting(config, game, environ, error);
}

/* Of the name that many games share a game has what is withheld there, and nothing else: neither
 * where it has a file of its own nor where it has none. */
static void of_a_shared_name_a_consent_is_withheld_and_nothing_else(void **state)
{
    (void)state;
    static const char file[] = "{\"consent\": {\"upload\": false}, \"sampler\": {\"batch\": 3}}";
    static const char granted[] = "{\"consent\": {\"upload\": true}, \"sampler\": {\"batch\": 4}}";
    static const char bad[] = "{\"sampler\": {\"batch\": -3}}";
    static const struct {
        const char *game;
        uint32_t batch; /* 8 is the default */
        bool withheld;
    } cases[] = {
        {"wgpu (dungeon, Dungeon)", 8, true},
        {"wgpu (maze)", 4, true}, /* which no file can grant */
        {"wgpu", 3, true},
        {"wgpu (dungeon", 8, false},
        {"hl2.exe (maze)", 8, true},
        {"bgfx (maze)", 8, false},
        {"Maze (demo)", 8, false},
        {"Maze", 3, true},
        {"", 8, false},
        {" (maze)", 8, false},
        {")", 8, false},
        {"Dungeon (wgpu)", 8, false},
    };
    static const struct {
        const char *name, *text;
    } files[] = {
        {"wgpu", file},    {"hl2.exe", file},          {"Maze", file},
        {"Dungeon", file}, {"bgfx", granted},          {"wgpu%20%28maze%29", granted},
        {"godot", bad},    {"wgpu%20%28cave%29", bad},
    };
    char folder[64], path[256];
    struct pm_error error = {0};
    temporary_make(folder, sizeof(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("PIECEMEAL_CONFIG");
    snprintf(path, sizeof(path), "%s/piecemeal", folder);
    assert_true(pm_make_folder(path, &error));
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), "%s/piecemeal/%s.json", folder, files[i].name);
        assert_true(pm_file_write(path, files[i].text, strlen(files[i].text), &error));
    }
    for (int waits = 0; waits < 2; waits++) {
        bool (*const load)(struct pm_config *, const char *, struct pm_error *) =
            waits ? load_waiting : pm_config_load_game;
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            struct pm_config config;
            pm_config_init(&config);
            assert_true(load(&config, cases[i].game, &error));
            if (config.sampler.batch != cases[i].batch ||
                config.consent_withheld != cases[i].withheld)
                fail_msg("%s: batch %u, %s", cases[i].game, config.sampler.batch,
                         config.consent_withheld ? "withheld" : "not withheld");
            pm_config_finish(&config);
        }
        /* A file that cannot be read may be the one that withholds it. */
        struct pm_config config;
        pm_config_init(&config);
        assert_false(load(&config, "godot (maze)", &error));
        assert_non_null(strstr(error.message, "godot.json:1:"));
        assert_true(config.consent_withheld);
        pm_config_finish(&config);
        /* Where its own cannot be read another config may stand for that, but not for this. */
        pm_config_init(&config);
        assert_false(load(&config, "wgpu (cave)", &error));
        assert_non_null(strstr(error.message, "cave"));
        assert_true(config.consent_withheld);
        pm_config_finish(&config);
    }
    snprintf(path, sizeof(path), "%s/piecemeal/away.json", folder);
    assert_int_equal(symlink("/nonexistent/away.json", path), 0);
    struct pm_config away;
    pm_config_init(&away);
    assert_false(pm_config_load_game(&away, "away", &error));
    pm_config_finish(&away);
    unsetenv("XDG_CONFIG_HOME");
    temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(a_failed_parse_changes_nothing),
        cmocka_unit_test(reads_every_kind_of_value),
        cmocka_unit_test(consent_can_only_be_withheld),
        cmocka_unit_test(environment_wins_and_leaves_others_alone),
        cmocka_unit_test(set_refuses_with_the_source),
        cmocka_unit_test(variables_and_keys),
        cmocka_unit_test(numbers_do_not_follow_the_locale),
        cmocka_unit_test(a_game_has_a_file_of_its_own),
        cmocka_unit_test(of_a_shared_name_a_consent_is_withheld_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
