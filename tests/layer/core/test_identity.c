#include "layer/core/identity.h"

#include "tests/cmocka_includes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void names(void **state)
{
    (void)state;
    char *name = pm_identity_name("Quake", "quake.x86_64");
    assert_string_equal(name, "Quake");
    free(name);
    name = pm_identity_name("", "quake.x86_64");
    assert_string_equal(name, "quake.x86_64");
    free(name);
    /* What no upload could carry. */
    static const char *const bad[] = {".", "..", "a\nb", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        name = pm_identity_name(bad[i], "quake.x86_64");
        assert_string_equal(name, "quake.x86_64");
        free(name);
        name = pm_identity_name(NULL, bad[i]);
        assert_string_equal(name, "unknown");
        free(name);
    }
    name = pm_identity_name(NULL, NULL);
    assert_string_equal(name, "unknown");
    free(name);
    name = pm_identity_executable();
    assert_string_equal(name, "test_layer_identity");
    free(name);
}

static void who_is_left_alone(void **state)
{
    (void)state;
    assert_non_null(pm_identity_denied("firefox"));
    assert_non_null(pm_identity_denied("chromium"));
    assert_non_null(pm_identity_denied("gnome-shell"));
    assert_non_null(pm_identity_denied("steamwebhelper"));
    assert_null(pm_identity_denied("vkcube"));
    assert_null(pm_identity_denied("firefoxish"));
    assert_null(pm_identity_denied(NULL));
}

/* A program that was upgraded while it runs starts its further processes from a file that is gone.
 */
static void a_program_whose_file_is_gone(void **state)
{
    (void)state;
    char folder[] = "/tmp/pm-identity-XXXXXX", path[64], command[256], name[64] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/firefox", folder);
    snprintf(command, sizeof command, "cp /proc/%d/exe %s && %s %s; rmdir %s", (int)getpid(), path,
             path, path, folder);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(name, sizeof name, output));
    assert_int_equal(pclose(output), 0);
    assert_string_equal(name, "firefox");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The file that PIECEMEAL_CONFIG names, else the game's own, else the defaults; the environment
 * wins. */
static void where_the_config_comes_from(void **state)
{
    (void)state;
    char folder[] = "/tmp/pm-identity-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char command[512], own[512], named[512];
    snprintf(command, sizeof command, "mkdir -p %s/piecemeal", folder);
    assert_int_equal(system(command), 0);
    snprintf(own, sizeof own, "%s/piecemeal/A%%20Game.json", folder);
    snprintf(named, sizeof named, "%s/named.json", folder);
    write_file(own, "{\"sampler\": {\"batch\": 3, \"window_frames\": 77}}");
    write_file(named, "{\"sampler\": {\"batch\": 5}}");
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("PIECEMEAL_CONFIG");

    struct pm_config config;
    struct pm_error error = {0};
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 3);
    assert_int_equal(config.sampler.window_frames, 77);
    pm_config_finish(&config);

    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "Another", &error));
    assert_int_equal(config.sampler.batch, 8);
    pm_config_finish(&config);

    setenv("PIECEMEAL_CONFIG", named, 1);
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 5);
    assert_int_equal(config.sampler.window_frames, 1024);
    pm_config_finish(&config);

    setenv("PIECEMEAL_SAMPLER_BATCH", "6", 1);
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 6);
    pm_config_finish(&config);

    write_file(named, "{\"sampler\":\n {\"batch\": true}}");
    pm_config_init(&config);
    assert_false(pm_config_load_game(&config, "A Game", &error));
    assert_non_null(strstr(error.message, "named.json:2:"));
    pm_config_finish(&config);

    unlink(named);
    pm_config_init(&config);
    assert_false(pm_config_load_game(&config, "A Game", &error)); /* what is named must be there */
    pm_config_finish(&config);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* a_program_whose_file_is_gone */
        unlink(argv[1]);
        char *name = pm_identity_executable();
        fputs(name, stdout);
        free(name);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(who_is_left_alone),
        cmocka_unit_test(a_program_whose_file_is_gone),
        cmocka_unit_test(where_the_config_comes_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
