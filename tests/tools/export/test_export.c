/* The export formats: byte by byte where they are ours to choose, and read back by the tools they
 * are for: every llvm-profdata that is installed, and protoc. */
#include "profile/shader_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tools/export/export.h"

#include "tests/cmocka_includes.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/temporary.h"
#include <cjson/cJSON.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define KEY "ff0102030405060708090a0b0c0d0e0f1011121314151617"
#define OTHER "000102030405060708090a0b0c0d0e0f1011121314151617"
/* 0xff0102030405, 32 lanes, no flags; without bit 60. */
#define HASH "17222048662017089536"

/* Quotes, separators of every format, a line break, a tab, UTF-8. */
static const char hostile[] = "a \"game\"; 100%,\r\n\t'x' \xc3\xa4";
#define ESCAPED "a \"game\"; 100%%25,%%0D%%0A%%09'x' \xc3\xa4"

static char folder[64];

static struct pm_point_estimate block(double frequency, uint32_t clusters)
{
    struct pm_point_estimate point = {.calls = 7, .sessions = clusters};
    point.measures[PM_MEASURE_FREQUENCY] = (struct pm_ratio){
        .ratio = frequency, .ratio_low = 0, .ratio_high = 2, .mean = 0.5, .clusters = clusters};
    return point;
}

/* Of which so large a share of the lanes entered with their whole subgroup. */
static struct pm_point_estimate shared_block(double frequency, double uniform)
{
    struct pm_point_estimate point = block(frequency, 3);
    point.measures[PM_MEASURE_UNIFORM] = (struct pm_ratio){.ratio = uniform, .clusters = 3};
    return point;
}

/* A whole shader, one that lacks a sample of a block, a zero profile, one without estimates. */
struct sample {
    struct pm_database database;
    struct pm_shader_estimates shaders[4];
    struct pm_point_estimate whole[3], partial[2], zeros[1];
};

static void make(struct sample *sample)
{
    *sample = (struct sample){
        .database = {.game = hostile, .curated_at = 1700000000, .shader_count = 4},
        .whole = {block(1, 3), block(0.25, 3), block(0, 3)},
        .partial = {block(1, 1), block(0, 0)},
    };
    sample->database.shaders = sample->shaders;
    sample->zeros[0].measures[PM_MEASURE_ZERO] = (struct pm_ratio){.ratio = 0.5, .clusters = 2};
    sample->shaders[0] = (struct pm_shader_estimates){.environment.subgroup_size = 32,
                                                      .kind = PM_KIND_BLOCK,
                                                      .space = 3,
                                                      .published = true,
                                                      .points = sample->whole,
                                                      .entry_lanes = 1000};
    sample->shaders[1] = (struct pm_shader_estimates){.environment.subgroup_size = 8,
                                                      .kind = PM_KIND_BLOCK,
                                                      .flags = PM_PROFILE_OCCLUDED,
                                                      .space = 2,
                                                      .points = sample->partial,
                                                      .entry_lanes = 10};
    sample->shaders[2] = (struct pm_shader_estimates){
        .kind = PM_KIND_ZERO, .space = 1, .points = sample->zeros, .entry_lanes = 10};
    sample->shaders[3] = (struct pm_shader_estimates){.kind = PM_KIND_BLOCK, .space = 9};
    for (size_t i = 0; i < 4; i++)
        assert_true(pm_shader_key_parse(i == 0 ? KEY : OTHER, &sample->shaders[i].key));
}

/* malloc'ed, and ends with a 0 byte. */
static char *exported(pm_exporter exporter, const struct sample *sample, const char *shader,
                      size_t *size)
{
    const struct pm_export export = {
        .database = &sample->database, .shader = shader, .uniform_share = 0.9};
    struct pm_error error = {0};
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!exporter(&export, out, &error))
        fail_msg("%s", error.message);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void exports(pm_exporter exporter, const struct sample *sample, const char *expected)
{
    size_t size;
    char *text = exported(exporter, sample, NULL, &size);
    assert_string_equal(text, expected);
    free(text);
}

static void test_collapsed(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    exports(pm_export_collapsed, &sample,
            "a \"game\"%3B 100%25,%0D%0A%09'x' \xc3\xa4;shader " KEY " subgroup 32;block 0 1000\n"
            "a \"game\"%3B 100%25,%0D%0A%09'x' \xc3\xa4;shader " KEY " subgroup 32;block 1 250\n"
            "a \"game\"%3B 100%25,%0D%0A%09'x' \xc3\xa4;shader " OTHER
            " subgroup 8 occluded;block 0 10\n");
}

static void test_csv(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    size_t size;
    char *text = exported(pm_export_csv, &sample, "ff", &size);
    const char *row = strstr(text, "\r\n") + 2;
    const char *const expected = "\"a \"\"game\"\"; 100%,\r\n\t'x' \xc3\xa4\"," KEY
                                 ",block,32,0,0,0,0,0,1,1000,0,7,3,frequency,3,1,0,2,0.5,0,0\r\n";
    assert_memory_equal(row, expected, strlen(expected));
    row += strlen(expected);
    const char *const uniform = "\"a \"\"game\"\"; 100%,\r\n\t'x' \xc3\xa4\"," KEY
                                ",block,32,0,0,0,0,0,1,1000,0,7,3,uniform,0,,,,,,\r\n";
    assert_memory_equal(row, uniform, strlen(uniform));
    assert_null(strstr(text, OTHER));
    /* As many fields as the head says. */
    size_t head = 0, fields = 0;
    for (const char *c = text; *c != '\r'; c++)
        head += *c == ',';
    for (const char *c = strstr(uniform, KEY) - 1; *c != '\r'; c++)
        fields += *c == ',';
    assert_int_equal(head, fields);
    free(text);
}

/* A spreadsheet computes what begins so. */
static void test_csv_formulas(void **state)
{
    static const char *const names[] = {"=1+1", "+1", "-1", "@sum"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct sample sample;
        char wanted[32];
        size_t size;
        make(&sample);
        sample.database.game = names[i];
        char *text = exported(pm_export_csv, &sample, "ff", &size);
        snprintf(wanted, sizeof(wanted), "\r\n\"'%s\",", names[i]);
        assert_non_null(strstr(text, wanted));
        free(text);
    }
}

static void test_json(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    size_t size;
    char *text = exported(pm_export_json, &sample, NULL, &size);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    assert_string_equal(cJSON_GetObjectItem(root, "game")->valuestring, hostile);
    const cJSON *shaders = cJSON_GetObjectItem(root, "shaders");
    assert_int_equal(cJSON_GetArraySize(shaders), 4);
    const cJSON *points = cJSON_GetObjectItem(cJSON_GetArrayItem(shaders, 0), "points");
    assert_int_equal(cJSON_GetArraySize(points), 3);
    const cJSON *frequency = cJSON_GetObjectItem(cJSON_GetArrayItem(points, 1), "frequency");
    assert_true(cJSON_GetObjectItem(frequency, "ratio_of_sums")->valuedouble == 0.25);
    cJSON_Delete(root);
    free(text);
}

/* What no aggregator publishes, but a file may hold. */
static void test_counts_are_bounded(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    uint64_t count;
    sample.shaders[0].entry_lanes = UINT64_MAX;
    sample.whole[0] = block(3e38, 1);
    sample.whole[1] = block(-1, 1);
    assert_true(pm_export_count(&sample.shaders[0], 0, &count));
    assert_true(count == INT64_MAX);
    assert_true(pm_export_count(&sample.shaders[0], 1, &count));
    assert_true(count == 0);
    assert_false(pm_export_count(&sample.shaders[1], 1, &count));
}

/* ---- read by others ---- */

static void write_file(const char *name, const char *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Runs a command in the folder; its output and errors, malloc'ed. */
static char *run(const char *format, const char *tool)
{
    char command[512], all[640];
    const size_t most = 1 << 16;
    char *text = calloc(1, most);
    snprintf(command, sizeof(command), format, tool);
    snprintf(all, sizeof(all), "cd '%s' && { %s; } 2>&1", folder, command);
    FILE *pipe = popen(all, "r");
    assert_non_null(pipe);
    const size_t size = fread(text, 1, most - 1, pipe);
    text[size] = 0;
    if (pclose(pipe) != 0)
        fail_msg("%s: %s", command, text);
    return text;
}

static void says(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void test_llvm(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    char expected[1024];
    snprintf(expected, sizeof(expected),
             "# Block counts of the shaders of " ESCAPED
             "\n# Counted are invocations in sampled calls.\n"
             "# amdgpu-block-uniformity=\?\?U UniformityBits=04\n" KEY ".block\n" HASH
             "\n3\n1000\n250\n0\n\n# Left out: 1 shaders that are not sampled whole.\n");
    exports(pm_export_llvm, &sample, expected);

    write_file("one.proftext", expected, strlen(expected));
    glob_t tools;
    assert_int_equal(glob("/usr/bin/llvm-profdata-*", 0, NULL, &tools), 0);
    glob(FETCHED_LLVM "/llvm-profdata-*", GLOB_APPEND, NULL, &tools); /* scripts/fetch_llvm.sh */
    for (size_t i = 0; i < tools.gl_pathc; i++) {
        const char *tool = tools.gl_pathv[i];
        char *text = run("%s merge one.proftext one.proftext -o two.profdata", tool);
        assert_string_equal(text, ""); /* no warning either */
        free(text);
        text = run("%s show --all-functions --counts two.profdata", tool);
        says(text, KEY ".block:");
        says(text, "Hash: 0xef01020304052000");
        says(text, "Counters: 3");
        says(text, "Total functions: 1");
        says(text, "Maximum function count: 2000");
        free(text);
        text = run("%s merge --text one.proftext -o -", tool);
        says(text, KEY ".block\n# Func Hash:\n" HASH "\n");
        says(text, "# Counter Values:\n1000\n250\n0\n");
        free(text);
    }
    globfree(&tools);
}

/* Nine blocks: at the share, just below, above, one that never ran, and one whose lanes were counted
 * alone. */
static void test_llvm_uniformity(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    struct pm_point_estimate blocks[9];
    for (int i = 0; i < 9; i++)
        blocks[i] = shared_block(1, i == 2 ? 0.8999 : i == 7 ? 0 : 0.9 + i / 100.0);
    blocks[4] = block(0, 3);
    blocks[6] = block(1, 3);
    sample.shaders[0].points = blocks;
    sample.shaders[0].space = 9;
    size_t size;
    char *text = exported(pm_export_llvm, &sample, NULL, &size);
    says(text, "\n# amdgpu-block-uniformity=UUDUUU\?DU UniformityBits=3b01\n" KEY ".block\n");
    free(text);
    struct pm_export strict = {.database = &sample.database, .uniform_share = 0.95};
    FILE *out = open_memstream(&text, &size);
    assert_true(pm_export_llvm(&strict, out, NULL));
    assert_int_equal(fclose(out), 0);
    says(text, "=DDDDUU\?DU UniformityBits=3001\n");
    free(text);
}

/* Half of each workgroup enters the middle one of three blocks, or with WorkgroupId all or none. */
static struct pm_words selecting(const char *builtin)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
        "OpEntryPoint GLCompute %%main \"main\" %%id\nOpExecutionMode %%main LocalSize 64 1 1\n"
        "OpDecorate %%id BuiltIn %s\n"
        "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n"
        "%%uint3 = OpTypeVector %%uint 3\n%%p = OpTypePointer Input %%uint3\n"
        "%%u32 = OpConstant %%uint 32\n%%id = OpVariable %%p Input\n"
        "%%function = OpTypeFunction %%void\n%%main = OpFunction %%void None %%function\n"
        "%%entry = OpLabel\n%%v = OpLoad %%uint3 %%id\n%%x = OpCompositeExtract %%uint %%v 0\n"
        "%%less = OpULessThan %%bool %%x %%u32\nOpSelectionMerge %%end None\n"
        "OpBranchConditional %%less %%half %%end\n%%half = OpLabel\nOpBranch %%end\n"
        "%%end = OpLabel\nOpReturn\nOpFunctionEnd\n",
        builtin);
    return pm_test_assemble(text, 3);
}

/* Where this machine has the code, it says which blocks whole workgroups enter. */
static void test_llvm_workgroups(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s/store", folder);
    static const char *const builtins[] = {"LocalInvocationId", "WorkgroupId"},
                             *const said[] = {"\n# workgroup-uniformity=W-W\n",
                                              "\n# workgroup-uniformity=WWW\n"};
    for (int i = 0; i < 2; i++) {
        struct pm_words words = selecting(builtins[i]);
        const struct pm_stored_shader stored = {
            .key = pm_shader_key_compute(pm_canonicalize_recipe(), words.data, words.count),
            .recipe = pm_canonicalize_recipe(),
            .stage = PM_STAGE_COMPUTE,
            .name = "",
            .entry_point = "main",
            .original = words.data,
            .original_count = words.count,
            .canonical = words.data,
            .canonical_count = words.count};
        struct pm_error error = {0};
        struct pm_shader_store *store = pm_shader_store_open(path, 1 << 20);
        if (!pm_shader_store_write(store, &stored.key, &stored, &error))
            fail_msg("%s", error.message);
        pm_shader_store_close(store);
        struct sample sample;
        make(&sample);
        sample.shaders[0].key = stored.key;
        const struct pm_export export = {
            .database = &sample.database, .store = path, .uniform_share = 0.9};
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_true(pm_export_llvm(&export, out, NULL));
        assert_int_equal(fclose(out), 0);
        says(text, said[i]);
        free(text);
        pm_words_finish(&words);
    }
}

static void test_pprof(void **state)
{
    (void)state;
    struct sample sample;
    make(&sample);
    size_t size;
    char *packed = exported(pm_export_pprof, &sample, NULL, &size);
    assert_memory_equal(packed, "\x1f\x8b", 2);
    write_file("one.pb.gz", packed, size);
    free(packed);
    char *text = run("gzip -dc one.pb.gz | %s --decode_raw", PROTOC);
    /* Fields by number, as pprof's own description has them: a sample type, three samples. */
    says(text, "1 {\n  1: 1\n  2: 2\n}\n");
    says(text, "6: \"invocations\"\n6: \"count\"\n");
    says(text, "6: \"" KEY "\"\n6: \"" KEY ".spv\"\n");
    says(text, "6: \"a \\\"game\\\"; 100%,\\r\\n\\t\\'x\\' \\303\\244\"\n");
    says(text, "9: 1700000000000000000\n");
    free(text);

    char path[256];
    snprintf(path, sizeof(path), "-I%s --decode=pprof.Profile pprof.proto", PPROF_PROTO);
    char command[512];
    snprintf(command, sizeof(command), "gzip -dc one.pb.gz | %%s %s", path);
    text = run(command, PROTOC);
    says(text, "sample {\n  location_id: 2\n  location_id: 1\n  value: 1000\n  label {\n");
    says(text, "sample {\n  location_id: 3\n  location_id: 1\n  value: 250\n");
    says(text, "sample {\n  location_id: 4\n  location_id: 1\n  value: 0\n");
    says(text, "sample {\n  location_id: 5\n  location_id: 1\n  value: 10\n");
    says(text, "location {\n  id: 3\n  line {\n    function_id: 2\n    line: 1\n  }\n}\n");
    says(text, "function {\n  id: 2\n");
    free(text);
}

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof(folder));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collapsed),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_formulas),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_counts_are_bounded),
        cmocka_unit_test(test_llvm),
        cmocka_unit_test(test_llvm_uniformity),
        cmocka_unit_test(test_llvm_workgroups),
        cmocka_unit_test(test_pprof),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
