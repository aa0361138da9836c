/* `piecemeal db`, run as a user would: what `show` says of zero and timing profiles, and the parts
 * that change a storage or write files. */
#include "aggregator/aggregator.h"
#include "base/random.h"
#include "profile/left_alone.h"
#include "profile/shader_store.h"
#include "profile/variant_point.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char folder[64], storage[128];

static struct pm_shader_key key_of(uint32_t number)
{
    return pm_shader_key_compute("db", &number, 1);
}

/* One shader's profiles as a session of a game sends them: six candidates, of which one is not
 * covered, one never written and the others zero in 2, 4, 6 and 8 of 10 writes, beside 167 that are
 * left out; and a timing. */
static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof(folder));
    snprintf(storage, sizeof(storage), "%s/a.sqlite", folder);
    struct pm_point_counts zeros[5],
        timed = {.calls = 12, .entry_lanes = 12, .entry_subgroups = 12, .counts = {1000, 750, 31}};
    for (uint32_t i = 0; i < 5; i++)
        zeros[i] = (struct pm_point_counts){.point = i,
                                            .calls = 1,
                                            .entry_lanes = 80,
                                            .entry_subgroups = 10,
                                            .counts = {i < 4 ? 10 : 0, i < 4 ? 2 * (i + 1) : 0}};
    const struct pm_shader_profile shaders[] = {
        {.key = key_of(1),
         .environment = {.subgroup_size = 8},
         .kind = PM_KIND_ZERO,
         .flags = PM_PROFILE_NO_QUADS,
         .space = 6,
         .candidates = 6 + 167,
         .points = zeros,
         .point_count = 5},
        {.key = key_of(2),
         .environment = {8, 0x10005, 3, 13, 0x6403},
         .kind = PM_KIND_TIMING,
         .space = 1,
         .original = key_of(1),
         .points = &timed,
         .point_count = 1},
    };
    const struct pm_profile profile = {.upload_id = {1},
                                       .game = "a game",
                                       .scene = "",
                                       .layer_version = "1",
                                       .shaders = shaders,
                                       .shader_count = 2},
                            *profiles[] = {&profile};
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_aggregator *aggregator = pm_aggregator_open(storage, &info, &error);
    if (!aggregator || !pm_aggregator_ingest(aggregator, profiles, 1, &outcome, &error) ||
        outcome.result != PM_INGEST_STORED)
        fail_msg("%s", error.message);
    pm_aggregator_destroy(aggregator);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

/* The output of `piecemeal db show`; malloc'ed. */
static char *show(const char *options)
{
    char command[512];
    const size_t most = 1 << 16;
    char *text = calloc(1, most);
    snprintf(command, sizeof(command), PIECEMEAL " db show --storage %s %s", storage, options);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_true(fread(text, 1, most - 1, pipe) > 0);
    assert_int_equal(pclose(pipe), 0);
    return text;
}

static void says(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void people_get_a_line_a_shader(void **state)
{
    (void)state;
    char options[128], *text = show("");
    says(text, "       ?  (not on this machine)");
    says(text, "  not profiled  3 of 6        –             needs more\n");
    says(text, "          specialized: 0.75 of its time before, in one session");
    says(text, "\n1 shader, 0 with enough samples.");
    says(text, "of the 0 whose code is here");
    assert_null(strstr(text, "P(zero)"));
    free(text);
    /* The store knows its name. */
    const uint32_t words = 1;
    struct pm_error error = {0};
    const struct pm_shader_key key = key_of(words);
    const struct pm_stored_shader shader = {.key = key,
                                            .recipe = "db",
                                            .entry_point = "main",
                                            .canonical = &words,
                                            .canonical_count = 1,
                                            .original = &words,
                                            .original_count = 1};
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    assert_true(pm_shader_store_write(store, &key, &shader, &error));
    assert_true(pm_shader_store_name(store, &key, "lit opaque", &error));
    pm_shader_store_close(store);
    snprintf(options, sizeof(options), "--store %s", folder);
    text = show(options);
    says(text, "?  lit opaque        ");
    assert_null(strstr(text, "whose code is here"));
    free(text);
}

static void every_number_is_there(void **state)
{
    (void)state;
    char *text = show("--points");
    says(text, "83%");
    says(text, "needs samples, without quads too");
    says(text, "    of 173 values that may be zero 6 are measured, 167 left out as not worth it\n");
    says(text, "likeliest zeros: 3: 0.800 [");
    says(text, "], 2: 0.600 [");
    says(text, "], 1: 0.400 [");
    says(text, "], 0: 0.200 [");
    assert_null(strstr(text, "4: 0.000"));
    says(text, "time 0.750 [");
    says(text, "of the original's, a trial to ±0.031 on vendor 0x10005, device 0x3, driver 13 "
               "version 0x6403");
    char keys[2][PM_SHADER_KEY_TEXT], line[96];
    for (uint32_t i = 0; i < 2; i++) {
        const struct pm_shader_key key = key_of(1 + i);
        pm_shader_key_format(&key, keys[i]);
    }
    snprintf(line, sizeof(line), "version 0x6403, specialized from %.12s\n", keys[0]);
    says(text, line);
    snprintf(line, sizeof(line), "    specialized, as %.12s: time 0.750 [", keys[1]);
    says(text, line);
    says(text, "P(zero)");
    says(text, "WRITES");
    says(text, "TIME");
    assert_null(strstr(text, "FREQ"));
    free(text);
}

/* Also what this machine's layer could make nothing of. */
static void shaders_that_are_left_alone_are_counted(void **state)
{
    (void)state;
    const struct pm_shader_key digest = key_of(1);
    char *text = show("");
    assert_null(strstr(text, "left alone"));
    free(text);
    setenv("XDG_DATA_HOME", folder, 1);
    pm_left_alone_note(NULL, "a game", "4", &digest, "SPIR-V word 5: Invalid opcode: 9999");
    text = show("");
    says(text, "1 shader is left alone: Invalid opcode: 9999 (1)");
    free(text);
    text = show("--json");
    cJSON *root = cJSON_Parse(text);
    const cJSON *left = cJSON_GetObjectItem(root, "left_alone");
    const cJSON *reason = cJSON_GetArrayItem(cJSON_GetObjectItem(left, "reasons"), 0);
    assert_int_equal(cJSON_GetObjectItem(left, "shaders")->valueint, 1);
    assert_string_equal(cJSON_GetObjectItem(reason, "reason")->valuestring, "Invalid opcode: 9999");
    assert_int_equal(cJSON_GetObjectItem(reason, "shaders")->valueint, 1);
    cJSON_Delete(root);
    free(text);
    unsetenv("XDG_DATA_HOME");
}

/* 60 sessions found one variant of shader 1 faster and one slower; then the game is curated. */
static void add_race(void)
{
    struct pm_random random;
    struct pm_error error;
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_aggregator *aggregator = pm_aggregator_open(storage, &info, &error);
    assert_non_null(aggregator);
    pm_random_init(&random, 3);
    for (uint8_t i = 0; i < 60; i++) {
        const double noise = 0.02 * (pm_random_unit(&random) - 0.5);
        const struct pm_point_counts points[] = {pm_variant_counts(16 | 1 << 6, 16, -0.08 + noise),
                                                 pm_variant_counts(28 | 3 << 6, 16, 0.08 + noise)};
        const struct pm_shader_profile shader = {.key = key_of(1),
                                                 .environment = {8, 0x10005, 3, 13, 0x6403},
                                                 .kind = PM_KIND_VARIANT,
                                                 .space = PM_VARIANT_SPACE,
                                                 .points = points,
                                                 .point_count = 2};
        const struct pm_profile profile = {.upload_id = {2, i},
                                           .game = "a game",
                                           .scene = "",
                                           .layer_version = "1",
                                           .shaders = &shader,
                                           .shader_count = 1},
                                *profiles[] = {&profile};
        struct pm_ingest_outcome outcome;
        if (!pm_aggregator_ingest(aggregator, profiles, 1, &outcome, &error))
            fail_msg("%s", error.message);
    }
    if (!pm_aggregator_curate(aggregator, "a game", &error))
        fail_msg("%s", error.message);
    pm_aggregator_destroy(aggregator);
}

static void races_are_shown(void **state)
{
    (void)state;
    char *text = show("");
    assert_null(strstr(text, "races of variants"));
    free(text);
    add_race();
    text = show("");
    says(text, "races of variants (times over the original's):");
    says(text, "device 10005:0003, driver 13, version 6403: hoist wins with 92.");
    says(text, "1 of 2 variants lost");
    assert_null(strstr(text, "strength"));
    free(text);
    text = show("--points");
    says(text, "strength");
    says(text, "  lost\n");
    free(text);
    text = show("--json");
    cJSON *root = cJSON_Parse(text);
    const cJSON *race = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "races"), 0);
    assert_string_equal(cJSON_GetObjectItem(race, "winner")->valuestring, "hoist");
    assert_true(cJSON_GetObjectItem(race, "low")->valuedouble < 0.93);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(race, "variants")), 2);
    cJSON_Delete(root);
    free(text);
}

static void json_has_every_measure(void **state)
{
    (void)state;
    char *text = show("--json");
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    const cJSON *shader, *shaders = cJSON_GetObjectItem(root, "shaders");
    assert_int_equal(cJSON_GetArraySize(shaders), 2);
    cJSON_ArrayForEach(shader, shaders)
    {
        const cJSON *points = cJSON_GetObjectItem(shader, "points");
        if (strcmp(cJSON_GetObjectItem(shader, "kind")->valuestring, "zero") == 0) {
            assert_true(cJSON_IsTrue(cJSON_GetObjectItem(shader, "no_quads")));
            assert_int_equal(cJSON_GetObjectItem(shader, "left_out")->valueint, 167);
            assert_int_equal(cJSON_GetObjectItem(shader, "covered")->valueint, 5);
            assert_int_equal(cJSON_GetArraySize(points), 6);
            const cJSON *point = cJSON_GetArrayItem(points, 3);
            const cJSON *zero = cJSON_GetObjectItem(point, "zero");
            assert_true(cJSON_GetObjectItem(zero, "ratio_of_sums")->valuedouble == 0.8);
            assert_true(cJSON_GetObjectItem(zero, "ratio_of_sums_high")->valuedouble <= 1);
            const cJSON *writes = cJSON_GetObjectItem(point, "writes");
            assert_true(cJSON_GetObjectItem(writes, "ratio_of_sums")->valuedouble == 1);
        } else {
            assert_string_equal(cJSON_GetObjectItem(shader, "kind")->valuestring, "timing");
            assert_null(cJSON_GetObjectItem(shader, "left_out"));
            assert_int_equal(cJSON_GetObjectItem(shader, "driver_version")->valueint, 0x6403);
            const struct pm_shader_key original = key_of(1);
            char key[PM_SHADER_KEY_TEXT];
            pm_shader_key_format(&original, key);
            assert_string_equal(cJSON_GetObjectItem(shader, "original")->valuestring, key);
            const cJSON *point = cJSON_GetArrayItem(points, 0);
            assert_int_equal(cJSON_GetObjectItem(point, "calls")->valueint, 12);
            const cJSON *time = cJSON_GetObjectItem(point, "time");
            assert_true(cJSON_GetObjectItem(time, "ratio_of_sums")->valuedouble == 0.75);
            const cJSON *spread = cJSON_GetObjectItem(point, "spread");
            assert_true(cJSON_GetObjectItem(spread, "mean_of_ratios")->valuedouble > 0.0309);
            assert_true(cJSON_GetObjectItem(spread, "mean_of_ratios")->valuedouble < 0.0311);
        }
    }
    cJSON_Delete(root);
}

/* Runs `piecemeal db WORDS` in the folder; its output and errors, malloc'ed. */
static char *db(int status, const char *words)
{
    char command[768];
    const size_t most = 1 << 16;
    char *text = calloc(1, most);
    snprintf(command, sizeof(command), "{ cd %s && " PIECEMEAL " db %s; } 2>&1", folder, words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    fread(text, 1, most - 1, pipe);
    const int got = pclose(pipe);
    if (!WIFEXITED(got) || WEXITSTATUS(got) != status)
        fail_msg("%s: %d, wanted %d: %s", words, got, status, text);
    return text;
}

static void db_says(int status, const char *words, const char *what)
{
    char *text = db(status, words);
    says(text, what);
    free(text);
}

/* Both hold the same, but for the time. */
static void assert_same(const char *one, const char *other)
{
    char words[64];
    snprintf(words, sizeof(words), "show --storage %s --json", one);
    char *first = db(0, words);
    snprintf(words, sizeof(words), "show --storage %s --json", other);
    char *second = db(0, words);
    assert_string_equal(strstr(first, "\"shaders\""), strstr(second, "\"shaders\""));
    free(first);
    free(second);
}

static void exports_and_imports(void **state)
{
    (void)state;
    db_says(0, "export --storage a.sqlite --format piecemeal -o a.pm", "");
    db_says(2, "export --storage a.sqlite --format piecemeal -o a.pm", "is there already");
    db_says(2, "export --storage a.sqlite --format piecemeal --scene x -o b.pm", "whole game");
    db_says(2, "export --storage a.sqlite --format paper", "is not json");
    db_says(0, "import a.pm --storage b.sqlite", "a game: 1 uploads");
    assert_same("a.sqlite", "b.sqlite");
    db_says(1, "import a.pm --storage b.sqlite", "counted here already");
    db_says(1, "import a.sqlite --storage b.sqlite", "counted here already");
    db_says(1, "import nothing --storage b.sqlite", "no aggregator database");
    db_says(1, "import a.pm --game other --storage b.sqlite", "not known there");
}

static void exports_a_file_whole(void **state)
{
    (void)state;
    db_says(0, "export --storage a.sqlite --format csv -o a.csv", "");
    char *text = db(0, "export --storage a.sqlite --format csv | cmp - a.csv && ls");
    says(text, "a.csv");
    assert_null(strstr(text, "a.csv."));
    free(text);
    db_says(1, "export --storage a.sqlite --format csv --game other -o b.csv; s=$?; ls; exit $s",
            "not known");
    text = db(0, "--help; ls");
    assert_null(strstr(text, "b.csv"));
    free(text);
    db_says(1, "export --storage a.sqlite --format csv -o ./a.sqlite",
            "is what is read, and would be lost");
    db_says(1, "export --storage a.sqlite --format csv >/dev/full", "cannot be written");
    db_says(1, "export --storage a.sqlite --format csv -o /dev/full", "cannot be written");
    db_says(1, "export --storage a.sqlite --format csv -o no/such/folder", "No such file");
}

/* Whatever the storage is called, an export makes no file in its place. */
static void export_spares_what_it_reads(void **state)
{
    (void)state;
    db_says(0, "--help && cp a.sqlite x.partial", "");
    db_says(0, "export --storage x.partial --format csv -o x", "");
    db_says(0, "export --storage x.partial --game 'a game' --format csv -o x", "");
    db_says(0, "--help && rm x", "");
    db_says(0, "export --storage x.partial --format piecemeal -o x", "");
    assert_same("a.sqlite", "x.partial");
    char *text = db(0, "--help; ls");
    assert_null(strstr(text, ".new-"));
    free(text);
}

/* What is published is what the API serves, and not what would be under other rules. */
static void published_is_what_is_served(void **state)
{
    (void)state;
    db_says(0, "--help && cp a.sqlite p.sqlite", "");
    db_says(0, "curate --storage p.sqlite", "a game: ");
    char *text = db(0, "export --storage p.sqlite --format csv");
    assert_non_null(strstr(text, ",25603,0,0,")); /* no flags, not published */
    free(text);
    db_says(0, "curate --storage p.sqlite --dev", "a game: ");
    text = db(0, "export --storage p.sqlite --format csv");
    assert_non_null(strstr(text, ",25603,0,1,"));
    free(text);
}

static void put_pulled(const struct pm_database *database)
{
    struct pm_buffer plain, body;
    struct pm_error error;
    char path[160];
    pm_buffer_init(&plain, 1 << 16);
    pm_buffer_init(&body, 1 << 16);
    if (!pm_database_encode(database, &plain, &error) ||
        !pm_compress(plain.data, plain.size, &body, &error))
        fail_msg("%s", error.message);
    snprintf(path, sizeof(path), "%s/pulled", folder);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(body.data, 1, body.size, file), body.size);
    assert_int_equal(fclose(file), 0);
    pm_buffer_finish(&plain);
    pm_buffer_finish(&body);
}

/* Of a database that was pulled. An upper bound is rounded up. */
static void who_may_lie_is_said(void **state)
{
    (void)state;
    struct pm_point_estimate point = {.calls = 9, .sessions = 9};
    point.measures[0] = (struct pm_ratio){0.5, 0.45, 0.55, 0.5, 0.45, 0.55, 9};
    struct pm_shader_estimates shader = {.key = key_of(1),
                                         .environment = {.subgroup_size = 8},
                                         .kind = PM_KIND_BLOCK,
                                         .space = 1,
                                         .published = true,
                                         .points = &point,
                                         .lying = {17, 0.0625}};
    const struct pm_database database = {"g", 1, &shader, 1};
    put_pulled(&database);
    db_says(0, "show --database pulled --points",
            "published, off by 0.063 at most if 17 of a day's tokens lie\n");
    char *text = db(0, "show --database pulled --json");
    cJSON *root = cJSON_Parse(text);
    const cJSON *lying =
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "shaders"), 0), "lying");
    assert_int_equal(cJSON_GetObjectItem(lying, "tokens")->valueint, 17);
    assert_true(cJSON_GetObjectItem(lying, "error")->valuedouble == 0.0625);
    cJSON_Delete(root);
    free(text);
    shader.lying = (struct pm_lying){1, 0.25};
    put_pulled(&database);
    db_says(0, "show --database pulled --points",
            "published, off by 0.250 at most if 1 of a day's tokens lies\n");
}

/* The verdicts of published timings, for clients to believe. */
static void signs_verdicts(void **state)
{
    (void)state;
    char key[PM_SHADER_KEY_TEXT], line[128];
    const struct pm_shader_key timing = key_of(2);
    pm_shader_key_format(&timing, key);
    db_says(0, "curate --storage a.sqlite --dev && openssl genpkey -algorithm ed25519 -out key.pem",
            "a game: ");
    db_says(2, "sign --storage a.sqlite -o v", "--key is needed");
    db_says(2, "sign --storage a.sqlite --key key.pem", "-o is needed");
    db_says(2, "sign --storage a.sqlite --key key.pem -o v --days 0", "--days");
    db_says(1, "sign --storage a.sqlite --key a.sqlite -o v", "");
    char *text = db(0, "sign --storage a.sqlite --key key.pem --serial 3 -o v; cat v");
    says(text, "piecemeal verdicts 1\ngame a game\nserial 3\nexpires ");
    says(text, "\nsignature ");
    snprintf(line, sizeof(line), "\nfaster %s 8 65541 3 13 25603\n", key);
    /* One session alone has no interval below 1. */
    says(text, strstr(text, ": 0 verdicts") ? ": 0 verdicts" : line);
    free(text);
}

/* Keeps a shader that does nothing, of a key of its own, beside what its program calls it. */
static struct pm_shader_key keep(const char *recipe, const char *entry_point, const char *name)
{
    /* SPIR-V of a fragment shader, main. */
    static const uint32_t words[] = {
        0x07230203, 0x00010300, 0x00000000, 0x00000005, 0x00000000, 0x00020011, 0x00000001,
        0x0003000e, 0x00000000, 0x00000001, 0x0005000f, 0x00000004, 0x00000001, 0x6e69616d,
        0x00000000, 0x00030010, 0x00000001, 0x00000007, 0x00020013, 0x00000002, 0x00030021,
        0x00000003, 0x00000002, 0x00050036, 0x00000002, 0x00000001, 0x00000000, 0x00000003,
        0x000200f8, 0x00000004, 0x000100fd, 0x00010038};
    enum { COUNT = sizeof(words) / sizeof(*words) };
    const struct pm_shader_key key = pm_shader_key_compute(recipe, words, COUNT);
    const struct pm_stored_shader shader = {.key = key,
                                            .recipe = recipe,
                                            .entry_point = entry_point,
                                            .canonical = words,
                                            .canonical_count = COUNT,
                                            .original = words,
                                            .original_count = COUNT};
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    struct pm_buffer text;
    pm_buffer_init(&text, 64);
    assert_true(pm_buffer_append(&text, name, strlen(name)));
    assert_true(pm_shader_store_write(store, &key, &shader, NULL));
    assert_true(!*name || pm_shader_store_put(store, &key, ".name", &text, NULL));
    pm_buffer_finish(&text);
    pm_shader_store_close(store);
    return key;
}

struct named {
    struct pm_shader_key key;
    const char *name; /* what it should be; NULL: none */
    bool seen;
};

static bool see_name(void *user, const struct pm_shader_key *key, const char *name,
                     struct pm_error *error)
{
    (void)error;
    for (struct named *named = user; named->name; named++)
        if (pm_shader_key_equal(&named->key, key)) {
            assert_string_equal(name, named->name);
            named->seen = true;
            return true;
        }
    fail_msg("\"%s\" is no name", name);
    return false;
}

/* Whatever the words and files of some say, all are imported. */
static void imports_what_shaders_are_called(void **state)
{
    (void)state;
    char entry[301], cut[255] = "";
    memset(entry, 'n', 300);
    memcpy(&entry[254], "\xc3\xa4", 2); /* over the edge */
    entry[300] = '\0';
    memcpy(cut, entry, 254);
    struct named named[] = {{.key = keep("long", entry, ""), .name = cut},
                            {.key = keep("damaged", "main", "lit\xff\n"), .name = "lit"},
                            {.key = keep("plain", "ps_lit", ""), .name = "ps_lit"},
                            {.name = NULL}};
    keep("unnamed", "main", "");
    keep("rubbish", "main", "\xff");
    db_says(0, "import-shaders --storage a.sqlite --game 'a game' --store .", "5 shaders: ");
    struct pm_error error;
    const struct pm_aggregator_info info = {.publish_all = true};
    struct pm_aggregator *aggregator = pm_aggregator_open(storage, &info, &error);
    if (!aggregator)
        fail_msg("%s", error.message);
    struct pm_storage *kept = pm_aggregator_storage(aggregator);
    assert_true(kept->operations->read_names(kept, "a game", see_name, named, &error));
    assert_true(named[0].seen && named[1].seen && named[2].seen);
    pm_aggregator_destroy(aggregator);
}

static void curates_and_drops(void **state)
{
    (void)state;
    char key[PM_SHADER_KEY_TEXT], words[256];
    const struct pm_shader_key timing = key_of(2);
    pm_shader_key_format(&timing, key);
    db_says(0, "curate --storage a.sqlite --dev", "a game: ");
    db_says(1, "curate --storage a.sqlite --game other", "not known");
    db_says(2, "drop --storage a.sqlite --game 'a game'", "--yes");
    db_says(2, "drop --storage a.sqlite --yes", "--game");
    db_says(2, "drop --storage a.sqlite --yes --game 'a game' --shader 12", "not a shader's key");
    snprintf(words, sizeof(words), "drop --storage a.sqlite --yes --game 'a game' --shader %s",
             key);
    db_says(0, words, "dropped 1 statistics");
    db_says(1, words, "nothing is known of shader");
    char *text = db(0, "show --storage a.sqlite");
    assert_null(strstr(text, "timing"));
    free(text);
    db_says(1, "drop --storage a.sqlite --yes --game other", "not known");
    db_says(0, "drop --storage a.sqlite --yes --game 'a game'", "dropped 1 statistics");
    db_says(1, "show --storage a.sqlite", "no game");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(people_get_a_line_a_shader, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_number_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shaders_that_are_left_alone_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(races_are_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_has_every_measure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exports_and_imports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exports_a_file_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(export_spares_what_it_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(published_is_what_is_served, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_may_lie_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(signs_verdicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(imports_what_shaders_are_called, set_up, tear_down),
        cmocka_unit_test_setup_teardown(curates_and_drops, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
