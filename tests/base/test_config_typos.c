#include "base/config_typos.h"
#include "base/file.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
    unsigned count;
    char last[512];
};

static void note(void *user, const char *message)
{
    struct found *found = user;
    found->count++;
    snprintf(found->last, sizeof(found->last), "%s", message);
}

static struct found look_at(char *variable)
{
    struct found found = {0};
    char *environment[] = {"HOME=/", variable, NULL};
    pm_config_variable_typos(environment, note, &found);
    return found;
}

static void variables(void **state)
{
    (void)state;
    assert_int_equal(look_at("PIECEMEAL_SAMPLER_BATCH=3").count, 0);
    assert_int_equal(look_at("PIECEMEAL_ENABLE=1").count, 0);
    assert_int_equal(look_at("PIECEMEAL_RUN_GIVEN=1").count, 0); /* of `try` and `profile` */
    assert_int_equal(look_at("PIECEMEALS=1").count, 0);
    struct found found = look_at("PIECEMEAL_SAMPLER_BACTH=3");
    assert_string_equal(found.last,
                        "PIECEMEAL_SAMPLER_BACTH in the environment is ignored; did you "
                        "mean PIECEMEAL_SAMPLER_BATCH?");
    assert_non_null(strstr(look_at("PIECEMEAL_ENABLED=1").last, "did you mean PIECEMEAL_ENABLE?"));
    found = look_at("PIECEMEAL_QXJ=1");
    assert_string_equal(found.last,
                        "PIECEMEAL_QXJ in the environment is ignored: no key has that name");
    char longest[4096] = "PIECEMEAL_";
    memset(longest + 10, 'A', sizeof(longest) - 11);
    longest[2000] = '=';
    assert_int_equal(look_at(longest).count, 1);
}

static void make(const char *name)
{
    char *path = pm_place_path(PM_PLACE_CONFIG, name);
    assert_true(pm_file_put(path, "{}", 2, NULL));
    free(path);
}

static void note_file(void *user, const char *path, const char *right)
{
    struct found *found = user;
    found->count++;
    snprintf(found->last, sizeof(found->last), "%s: %s", strrchr(path, '/') + 1, right);
}

static void note_named(void *user, const char *path)
{
    (void)path;
    ((struct found *)user)->count += 100;
}

static void files(void **state)
{
    char folder[64], *found, *place;
    (void)state;
    temporary_make(folder, sizeof(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    assert_null(pm_config_misnamed("My Tiny Game"));
    place = pm_place_path(PM_PLACE_CONFIG, NULL);
    assert_true(pm_make_folder(place, NULL));
    free(place);
    make("My Tiny Game.json");
    make("consent.json");
    make("Quake.json");
    struct found seen = {0};
    pm_config_files(note_file, note_named, &seen);
    assert_int_equal(seen.count, 101);
    assert_string_equal(seen.last, "My Tiny Game.json: My%20Tiny%20Game.json");
    found = pm_config_misnamed("My Tiny Game");
    assert_non_null(found);
    assert_non_null(strstr(found, "/My Tiny Game.json"));
    free(found);
    found = pm_config_misnamed("quake");
    assert_non_null(strstr(found, "/Quake.json"));
    free(found);
    assert_null(pm_config_misnamed("quake 2"));
    assert_null(pm_config_misnamed("Quake")); /* it has its own */
    /* A name of signs alone is like no other. */
    assert_null(pm_config_misnamed("!!!"));
    temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(variables), cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
