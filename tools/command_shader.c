#include "base/file.h"
#include "shader_rewrite/costs.h"
#include "shader_rewrite/shader_rewrite.h"
#include "shader_rewrite/zero.h"
#include "tools/tool.h"
#include "tools/zero_profile_file.h"
#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal shader PASS IN.spv [-o OUT.spv] [OPTION…]\n\n"
    "  canonicalize        the canonical module, and its key\n"
    "  points_blocks       the basic blocks of a canonical module\n"
    "  instrument_blocks   counters in the blocks of a canonical module\n"
    "  points_zero         the values of a canonical module that may be zero\n"
    "  instrument_zero     counters of those that are\n"
    "  specialize_zero     a canonical module's version that is faster where values are zero\n"
    "  validate            spirv-val for the target\n\n"
    "  -o FILE             where the module goes\n"
    "  --entry NAME        the entry point (main)\n"
    "  --stage S           fragment or compute (found from the entry point)\n"
    "  --target N          Vulkan 1.N, 0 to 3 (3)\n"
    "  --spec ID=VALUE     a specialization constant's 32 bits; may be given often\n"
    "  --points all|LIST   which points, as in 0,3,4 (all)\n"
    "  --slots N           copies of the counters, a power of two (1)\n"
    "  --no-int64          counters as two 32-bit words\n"
    "  --no-quad           for a device without quad operations\n"
    "  --early-tests       EarlyFragmentTests may be added where the shader allows it\n"
    "  --profile FILE      P(zero): a PGO database, or JSON "
    "{\"zero\":[…],\"writes\":[…],\"blocks\":[…]}\n"
    "  --game NAME         whose profile, where the file has several games\n"
    "  --float-zero WORD   permission for 0*x = 0: shader, never or allow (shader)\n"
    "  --vendor ID         the vendor whose costs count (any)\n"
    "  --transforms N      how many transforms at most (3)\n"
    "  --threshold P       the least P(zero) (0.32)\n"
    "  --fit-regions       regions begin and end where that pays best\n"
    "  --hoist-across      checks may be in an earlier block than their candidates\n"
    "  --pairs             one check may test two candidates\n"
    "  --take-all          specialize whatever can be, gain or not\n"
    "  --json              say what was done as JSON\n";

enum { SPECS_MOST = 64 };

struct options {
    const char *pass, *in, *out, *entry, *points;
    bool stage_set, json;
    enum pm_stage stage;
    struct pm_target target;
    struct pm_spec_value specs[SPECS_MOST];
    size_t spec_count;
    struct pm_instrument_info instrument;
    const char *profile, *game;
    struct pm_specialize_zero_info specialize;
};

static bool parse_spec(const char *text, struct options *options)
{
    const char *equals = strchr(text, '=');
    char id[16];
    uint64_t spec_id, bits;
    if (!equals || (size_t)(equals - text) >= sizeof(id) || options->spec_count == SPECS_MOST)
        return false;
    memcpy(id, text, (size_t)(equals - text));
    id[equals - text] = 0;
    if (!pm_tool_number(id, UINT32_MAX, &spec_id) || !pm_tool_number(equals + 1, UINT32_MAX, &bits))
        return false;
    options->specs[options->spec_count++] = (struct pm_spec_value){(uint32_t)spec_id, 4, bits};
    return true;
}

static bool parse_float_zero(const char *word, enum pm_float_zero *out)
{
    static const char *const words[] = {[PM_FLOAT_ZERO_SHADER] = "shader",
                                        [PM_FLOAT_ZERO_NEVER] = "never",
                                        [PM_FLOAT_ZERO_ALLOW] = "allow"};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(words[i], word)) {
            *out = (enum pm_float_zero)i;
            return true;
        }
    return false;
}

static int parse(int argc, char **argv, struct options *options)
{
    enum {
        ENTRY = 256,
        STAGE,
        TARGET,
        SPEC,
        POINTS,
        SLOTS,
        NARROW,
        NO_QUAD,
        EARLY,
        PROFILE,
        GAME,
        FLOAT_ZERO,
        VENDOR,
        TRANSFORMS,
        THRESHOLD,
        FIT_REGIONS,
        HOIST_ACROSS,
        PAIRS,
        TAKE_ALL,
        JSON
    };
    static const struct option known[] = {{"entry", 1, 0, ENTRY},
                                          {"stage", 1, 0, STAGE},
                                          {"target", 1, 0, TARGET},
                                          {"spec", 1, 0, SPEC},
                                          {"points", 1, 0, POINTS},
                                          {"slots", 1, 0, SLOTS},
                                          {"no-int64", 0, 0, NARROW},
                                          {"no-quad", 0, 0, NO_QUAD},
                                          {"early-tests", 0, 0, EARLY},
                                          {"profile", 1, 0, PROFILE},
                                          {"game", 1, 0, GAME},
                                          {"float-zero", 1, 0, FLOAT_ZERO},
                                          {"vendor", 1, 0, VENDOR},
                                          {"transforms", 1, 0, TRANSFORMS},
                                          {"threshold", 1, 0, THRESHOLD},
                                          {"fit-regions", 0, 0, FIT_REGIONS},
                                          {"hoist-across", 0, 0, HOIST_ACROSS},
                                          {"pairs", 0, 0, PAIRS},
                                          {"take-all", 0, 0, TAKE_ALL},
                                          {"json", 0, 0, JSON},
                                          {"help", 0, 0, 'h'},
                                          {0}};
    char *rest;
    uint64_t number;
    int option;
    while ((option = getopt_long(argc, argv, "ho:", known, NULL)) != -1) {
        switch (option) {
        case 'o':
            options->out = optarg;
            break;
        case ENTRY:
            options->entry = optarg;
            break;
        case STAGE:
            options->stage_set = true;
            options->stage = strcmp(optarg, "compute") ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE;
            if (strcmp(optarg, "compute") != 0 && strcmp(optarg, "fragment") != 0)
                return pm_tool_usage("shader", "--stage: '%s' is neither fragment nor compute",
                                     optarg);
            break;
        case TARGET:
            if (!pm_tool_number(optarg, 3, &number))
                return pm_tool_usage("shader", "--target: '%s' is not 0 to 3", optarg);
            options->target.vulkan_minor = (uint32_t)number;
            break;
        case SPEC:
            if (!parse_spec(optarg, options))
                return pm_tool_usage("shader", "--spec: '%s' is not ID=VALUE", optarg);
            break;
        case POINTS:
            options->points = optarg;
            break;
        case SLOTS:
            if (!pm_tool_number(optarg, 256, &number) || number == 0 || (number & (number - 1)))
                return pm_tool_usage("shader", "--slots: '%s' is not a power of two up to 256",
                                     optarg);
            options->instrument.slot_count = (uint32_t)number;
            break;
        case NARROW:
            options->instrument.int64_atomics = false;
            break;
        case NO_QUAD:
            options->instrument.subgroup_quad = false;
            break;
        case EARLY:
            options->instrument.may_force_early_tests = true;
            break;
        case PROFILE:
            options->profile = optarg;
            break;
        case GAME:
            options->game = optarg;
            break;
        case FLOAT_ZERO:
            if (!parse_float_zero(optarg, &options->specialize.float_zero))
                return pm_tool_usage("shader", "--float-zero: '%s' is not shader, never or allow",
                                     optarg);
            break;
        case VENDOR:
            if (!pm_tool_number(optarg, UINT32_MAX, &number))
                return pm_tool_usage("shader", "--vendor: '%s' is no vendor id", optarg);
            options->specialize.costs = pm_costs_of((uint32_t)number);
            break;
        case TRANSFORMS:
            if (!pm_tool_number(optarg, 1000, &number) || number == 0)
                return pm_tool_usage("shader", "--transforms: '%s' is not 1 to 1000", optarg);
            options->specialize.most_transforms = (uint32_t)number;
            break;
        case THRESHOLD:
            options->specialize.threshold = strtod(optarg, &rest);
            if (*rest || !(options->specialize.threshold > 0) || options->specialize.threshold > 1)
                return pm_tool_usage("shader", "--threshold: '%s' is not above 0 and up to 1",
                                     optarg);
            break;
        case FIT_REGIONS:
            options->specialize.beyond.fit_regions = true;
            break;
        case HOIST_ACROSS:
            options->specialize.beyond.hoist_across = true;
            break;
        case PAIRS:
            options->specialize.beyond.pairs = true;
            break;
        case TAKE_ALL:
            options->specialize.take_all = true;
            break;
        case JSON:
            options->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return PM_EXIT_OK;
        default:
            return pm_tool_usage("shader", "see above");
        }
    }
    if (optind + 2 != argc)
        return pm_tool_usage("shader", "takes a pass and a module");
    options->pass = argv[optind];
    options->in = argv[optind + 1];
    return -1;
}

static bool read_words(const char *path, struct pm_words *words, struct pm_error *error)
{
    struct pm_buffer bytes;
    pm_buffer_init(&bytes, (size_t)64 << 20);
    bool ok = pm_file_read(path, &bytes, error);
    if (ok && (bytes.size == 0 || bytes.size % 4 != 0))
        ok = pm_fail(error, PM_ERROR_INPUT,
                     "%s: %zu bytes are no SPIR-V module: its size is a multiple of 4", path,
                     bytes.size);
    words->count = bytes.size / 4;
    words->data = ok ? malloc(bytes.size) : NULL;
    if (ok && !words->data)
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (ok)
        memcpy(words->data, bytes.data, bytes.size);
    pm_buffer_finish(&bytes);
    return ok;
}

static bool write_words(const struct options *options, const struct pm_words *words,
                        struct pm_error *error)
{
    return !options->out || pm_file_write(options->out, words->data, words->count * 4, error);
}

/* The stage of the entry point called so, from the module's own OpEntryPoint. */
static bool find_stage(const struct pm_words *words, const char *entry, enum pm_stage *stage,
                       struct pm_error *error)
{
    enum {
        OP_ENTRY_POINT = 15,
        OP_FUNCTION = 54,
        MODEL_FRAGMENT = 4,
        MODEL_COMPUTE = 5,
        HEADER = 5
    };
    for (size_t at = HEADER; at < words->count;) {
        uint32_t size = words->data[at] >> 16, opcode = words->data[at] & 0xffff;
        if (size == 0 || size > words->count - at || opcode == OP_FUNCTION)
            break;
        if (opcode == OP_ENTRY_POINT && size > 3 &&
            !strncmp((const char *)&words->data[at + 3], entry, (size - 3) * 4u)) {
            uint32_t model = words->data[at + 1];
            if (model != MODEL_FRAGMENT && model != MODEL_COMPUTE)
                return pm_fail(error, PM_ERROR_UNSUPPORTED,
                               "entry point '%s' is neither a fragment nor a compute shader",
                               entry);
            *stage = model == MODEL_COMPUTE ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT;
            return true;
        }
        at += size;
    }
    return pm_fail(error, PM_ERROR_INPUT, "no entry point '%s' in it", entry);
}

static void print_json(cJSON *json)
{
    char *text = cJSON_Print(json);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
}

static bool canonicalize(struct options *options, const struct pm_words *in, struct pm_error *error)
{
    if (!options->stage_set && !find_stage(in, options->entry, &options->stage, error))
        return false;
    struct pm_canonicalize_info info = {
        .words = in->data,
        .word_count = in->count,
        .stage = options->stage,
        .entry_point = options->entry,
        .spec_values = options->specs,
        .spec_value_count = options->spec_count,
        .target = options->target,
    };
    struct pm_words out = {0};
    bool ok = pm_canonicalize(&info, &out, error) && write_words(options, &out, error);
    if (ok) {
        struct pm_shader_key key =
            pm_shader_key_compute(pm_canonicalize_recipe(), out.data, out.count);
        char text[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&key, text);
        if (options->json) {
            cJSON *json = cJSON_CreateObject();
            cJSON_AddStringToObject(json, "key", text);
            cJSON_AddStringToObject(json, "recipe", pm_canonicalize_recipe());
            cJSON_AddNumberToObject(json, "words", (double)out.count);
            print_json(json);
        } else {
            printf("%s\n", text);
        }
    }
    pm_words_finish(&out);
    return ok;
}

static bool points_blocks(const struct options *options, const struct pm_words *in,
                          struct pm_error *error)
{
    struct pm_block_points points = {0};
    if (!pm_points_blocks(in->data, in->count, &points, error))
        return false;
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < points.count; i++) {
        if (!options->json) {
            printf("%u: %%%u%s\n", i, points.points[i].label,
                   points.points[i].at_most_once ? "" : " (in a loop)");
            continue;
        }
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "label", points.points[i].label);
        cJSON_AddBoolToObject(point, "at_most_once", points.points[i].at_most_once);
        cJSON_AddItemToArray(list, point);
    }
    if (options->json)
        print_json(list);
    else
        cJSON_Delete(list);
    pm_block_points_finish(&points);
    return true;
}

static cJSON *json_of_candidate(const struct pm_zero_candidate *candidate)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (uint32_t i = 0; i < candidate->value_count; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(candidate->values[i]));
    cJSON_AddNumberToObject(json, "components", candidate->components);
    cJSON_AddNumberToObject(json, "block", candidate->block);
    cJSON_AddBoolToObject(json, "at_most_once", candidate->at_most_once);
    cJSON_AddBoolToObject(json, "is_float", candidate->is_float);
    cJSON_AddBoolToObject(json, "quad", candidate->quad);
    return json;
}

static void print_candidate(uint32_t number, const struct pm_zero_candidate *candidate)
{
    printf("%u: block %u:", number, candidate->block);
    for (uint32_t i = 0; i < candidate->value_count; i++)
        printf(" %%%u", candidate->values[i]);
    if (candidate->components > 1)
        printf(".%.*s", (int)candidate->components, "xyzw");
    printf(" %s%s%s\n", candidate->is_float ? "float" : "integer", candidate->quad ? ", quad" : "",
           candidate->at_most_once ? "" : " (in a loop)");
}

static bool points_zero(const struct options *options, const struct pm_words *in,
                        struct pm_error *error)
{
    struct pm_zero_points points = {0};
    if (!pm_points_zero(in->data, in->count, &points, error))
        return false;
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < points.count; i++) {
        if (options->json)
            cJSON_AddItemToArray(list, json_of_candidate(&points.candidates[i]));
        else
            print_candidate(i, &points.candidates[i]);
    }
    if (options->json)
        print_json(list);
    else
        cJSON_Delete(list);
    pm_zero_points_finish(&points);
    return true;
}

/* "all", or numbers in ascending order with commas between. */
static bool choose_points(const char *text, uint32_t space, uint32_t *chosen, uint32_t *count,
                          struct pm_error *error)
{
    *count = 0;
    if (!strcmp(text, "all")) {
        for (; *count < space; ++*count)
            chosen[*count] = *count;
        return true;
    }
    for (const char *at = text; *at;) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        bool ascending = *count == 0 || value > chosen[*count - 1];
        if (end == at || *at < '0' || *at > '9' || (*end && *end != ',') || value >= space ||
            !ascending)
            return pm_fail(error, PM_ERROR_INPUT,
                           "--points %s: character %zu: wanted ascending numbers below %u, or all",
                           text, (size_t)(at - text) + 1, space);
        chosen[(*count)++] = (uint32_t)value;
        at = *end ? end + 1 : end;
    }
    return true;
}

static void say_instrumented(const struct options *options, const struct pm_instrumented *out,
                             uint32_t points)
{
    if (!options->json) {
        printf("%u points, %llu counter bytes, address in SpecIds %u and %u%s%s\n", points,
               (unsigned long long)out->counter_bytes, out->spec_id_low, out->spec_id_high,
               out->forced_early_tests ? ", early fragment tests added" : "",
               out->counts_occluded ? ", occluded pixels counted too" : "");
        return;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "points", points);
    cJSON_AddNumberToObject(json, "spec_id_low", out->spec_id_low);
    cJSON_AddNumberToObject(json, "spec_id_high", out->spec_id_high);
    cJSON_AddNumberToObject(json, "slot_stride", out->slot_stride);
    cJSON_AddNumberToObject(json, "counter_bytes", (double)out->counter_bytes);
    cJSON_AddBoolToObject(json, "forced_early_tests", out->forced_early_tests);
    cJSON_AddBoolToObject(json, "counts_occluded", out->counts_occluded);
    print_json(json);
}

typedef bool (*instrument_pass)(const uint32_t *words, size_t count,
                                const struct pm_instrument_info *info, struct pm_instrumented *out,
                                struct pm_error *error);

/* space: how many points the module has. */
static bool instrument(struct options *options, const struct pm_words *in, instrument_pass pass,
                       uint32_t space, struct pm_error *error)
{
    struct pm_instrumented out = {0};
    uint32_t *chosen = calloc(space + 1u, sizeof(*chosen));
    bool ok = chosen || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    options->instrument.points = chosen;
    options->instrument.target = options->target;
    ok = ok &&
         choose_points(options->points, space, chosen, &options->instrument.point_count, error) &&
         pass(in->data, in->count, &options->instrument, &out, error) &&
         write_words(options, &out.words, error);
    if (ok)
        say_instrumented(options, &out, options->instrument.point_count);
    pm_instrumented_finish(&out);
    free(chosen);
    return ok;
}

static bool instrument_blocks(struct options *options, const struct pm_words *in,
                              struct pm_error *error)
{
    struct pm_block_points points = {0};
    bool ok = pm_points_blocks(in->data, in->count, &points, error) &&
              instrument(options, in, pm_instrument_blocks, points.count, error);
    pm_block_points_finish(&points);
    return ok;
}

static bool instrument_zero(struct options *options, const struct pm_words *in,
                            struct pm_error *error)
{
    struct pm_zero_points points = {0};
    bool ok = pm_points_zero(in->data, in->count, &points, error) &&
              instrument(options, in, pm_instrument_zero, points.count, error);
    pm_zero_points_finish(&points);
    return ok;
}

/* The profile, by the module's key and its numbers of points. */
static bool load_profile(const struct options *options, const struct pm_words *in,
                         struct pm_zero_profile *profile, struct pm_error *error)
{
    struct pm_shader_key key = pm_shader_key_compute(pm_canonicalize_recipe(), in->data, in->count);
    struct pm_zero_points candidates = {0};
    struct pm_block_points blocks = {0};
    if (!options->profile)
        return pm_fail(error, PM_ERROR_INPUT, "it needs --profile");
    bool ok = pm_points_zero(in->data, in->count, &candidates, error) &&
              pm_points_blocks(in->data, in->count, &blocks, error) &&
              pm_zero_profile_load(options->profile, options->game, &key, candidates.count,
                                   blocks.count, profile, error);
    pm_zero_points_finish(&candidates);
    pm_block_points_finish(&blocks);
    return ok;
}

static bool specialize_zero(struct options *options, const struct pm_words *in,
                            struct pm_error *error)
{
    struct pm_zero_profile profile;
    if (!load_profile(options, in, &profile, error))
        return false;
    struct pm_specialized out;
    options->specialize.profile = &profile;
    options->specialize.subgroup_quad = options->instrument.subgroup_quad;
    options->specialize.target = options->target;
    bool ok = pm_specialize_zero(in->data, in->count, &options->specialize, &out, error);
    pm_zero_profile_finish(&profile);
    if (!ok)
        return false;
    if (options->json)
        puts(out.report);
    else if (out.transforms)
        printf("%u transforms, %zu words for %zu\n", out.transforms, out.words.count, in->count);
    else
        puts("nothing to specialize");
    ok = write_words(options, out.transforms ? &out.words : in, error);
    pm_specialized_finish(&out);
    return ok;
}

int pm_command_shader(int argc, char **argv)
{
    struct options options = {
        .entry = "main",
        .points = "all",
        .target.vulkan_minor = 3,
        .instrument = {.slot_count = 1, .int64_atomics = true, .subgroup_quad = true},
    };
    struct pm_error error = {0};
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    struct pm_words in = {0};
    bool ok = read_words(options.in, &in, &error);
    if (!ok)
        return pm_tool_failed("shader", &error);
    if (!strcmp(options.pass, "canonicalize"))
        ok = canonicalize(&options, &in, &error);
    else if (!strcmp(options.pass, "points_blocks"))
        ok = points_blocks(&options, &in, &error);
    else if (!strcmp(options.pass, "instrument_blocks"))
        ok = instrument_blocks(&options, &in, &error);
    else if (!strcmp(options.pass, "points_zero"))
        ok = points_zero(&options, &in, &error);
    else if (!strcmp(options.pass, "instrument_zero"))
        ok = instrument_zero(&options, &in, &error);
    else if (!strcmp(options.pass, "specialize_zero"))
        ok = specialize_zero(&options, &in, &error);
    else if (!strcmp(options.pass, "validate"))
        ok = pm_validate(in.data, in.count, &options.target, &error);
    else
        status = pm_tool_usage("shader", "unknown pass '%s'", options.pass);
    pm_words_finish(&in);
    if (!ok) {
        pm_fail_prefix(&error, "%s: %s", options.pass, options.in);
        return pm_tool_failed("shader", &error);
    }
    return status >= 0 ? status : PM_EXIT_OK;
}
