#include "tools/shader/shader_options.h"
#include "base/config.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal shader PASS IN [-o OUT.spv] [OPTION…]\n\n"
    "IN is a SPIR-V module, or the key of a shader in the shader store, which knows what device it "
    "was for, its\n"
    "entry point, stage and specialization constants.\n\n"
    "  canonicalize        the canonical module, and its key\n"
    "  points_blocks       the basic blocks of a canonical module\n"
    "  instrument_blocks   counters in the blocks of a canonical module\n"
    "  points_turns        the loops of a canonical module whose turns are counted\n"
    "  instrument_turns    counters of which turns are made\n"
    "  points_zero         the values of a canonical module that may be zero and could be worth "
    "it\n"
    "  instrument_zero     counters of those that are\n"
    "  specialize_zero     a canonical module's version that is faster where values are zero\n"
    "  points_constant     the words of push constants and uniform buffers that could be worth it\n"
    "  instrument_constants  counters of what those in uniform buffers are\n"
    "  specialize_constants  a canonical module's version for words that are known\n"
    "  make_variant        a canonical module's version by a recipe of A-Z testing; without "
    "--recipe what\n"
    "                      each recipe makes of it\n"
    "  optimize_blocks     a canonical module's version by how often its blocks run: all of\n"
    "                      optimize_flatten, optimize_sink, optimize_version, optimize_unroll,\n"
    "                      optimize_peel and optimize_layout, which are passes of their own too\n"
    "  partition           a large shader in several passes, into the folder that -o "
    "names\n"
    "  validate            spirv-val for the target\n\n"
    "  -o FILE             where the module goes\n"
    "  --entry NAME        the entry point (main)\n"
    "  --stage S           fragment or compute (found from the entry point)\n"
    "  --target N          Vulkan 1.N, 0 to 3 (3)\n"
    "  --relax-block-layout, --uniform-buffer-standard-layout, --scalar-block-layout,\n"
    "  --workgroup-scalar-block-layout\n"
    "                      layouts that the device allows; the last implies the one before\n"
    "  --store FOLDER      the shader store (the layer's)\n"
    "  --spec ID=VALUE     a specialization constant's 32 bits; may be given often\n"
    "  --known WORD=VALUE  a word that specialize_constants takes for known; WORD is push:BYTE, "
    "or\n"
    "                      SET.BINDING:BYTE of a uniform buffer; may be given often\n"
    "  --points all|LIST   which points, as in 0,3,4 (all)\n"
    "  --flow              instrument_blocks counts lanes alone, at as few blocks as tell those of "
    "all\n"
    "  --slots N           copies of the counters, a power of two (1)\n"
    "  --no-int64          counters as two 32-bit words\n"
    "  --no-quad           for a device without quad operations\n"
    "  --no-arithmetic     for a device without subgroup arithmetic\n"
    "  --no-copies         instrument_zero looks at the values themselves, not at copies\n"
    "  --early-tests       EarlyFragmentTests may be added where the shader allows it\n"
    "  --profile FILE      P(zero): a PGO database, or JSON "
    "{\"zero\":[…],\"writes\":[…],\"blocks\":[…]}\n"
    "                      (subgroups); of blocks also \"frequency\", \"low\", \"high\", "
    "\"uniform\",\n"
    "                      and of turns \"reached\", \"reached_uniform\"\n"
    "  --game NAME         whose profile, where the file has several games; without --profile\n"
    "                      what is known of the game on this machine\n"
    "  --uniform-share P   from which share of its lanes on a block is uniform (0.9)\n"
    "  --block-passes LIST  optimize_blocks runs these alone, as in flatten,sink (all)\n"
    "  --ignore-uniformity  rare by lanes, and sunk into divergent blocks too\n"
    "  --no-vote           for a device without subgroup vote\n"
    "  --float-zero WORD   permission for 0*x = 0: shader, never or allow (shader)\n"
    "  --vendor ID         the vendor whose costs count (any)\n"
    "  --driver ID[:VERSION]  the driver that will run it, as VkDriverId and driverVersion have "
    "it:\n"
    "                      guards against others' compilers are off (any)\n"
    "  --transforms N      how many transforms at most (3)\n"
    "  --threshold P       the least P(zero) (0.32)\n"
    "  --least-share P     the least share of the shader's cost that is saved (0.05)\n"
    "  --fit-regions       regions begin and end where that pays best\n"
    "  --hoist-across      checks may be in an earlier block than their candidates\n"
    "  --pairs             one check may test two candidates\n"
    "  --recipe NAME[+NAME]  a recipe of make_variant, or two one after the other; those called\n"
    "                      blocks-… take --profile or --game\n"
    "  --limits LIMITS     what partition lets a pass take: radeon9800-48, radeon9800-64, "
    "geforce6800,\n"
    "                      registers, a number of ALU operations, or a file of JSON, {\"alu\": "
    "64,\n"
    "                      \"outputs\": 4, …} (registers)\n"
    "  --method NAME       how partition cuts: beyond, mio or in-order (beyond)\n"
    "  --all-candidates    points are all values that may be zero\n"
    "  --take-all          specialize whatever can be, gain or not\n"
    "  --json              say what was done as JSON\n"
    "  --times             say on stderr how long each step of canonicalize, instrument_* and\n"
    "                      specialize_zero took\n";

static bool parse_spec(const char *text, struct pm_shader_options *options)
{
    const char *equals = strchr(text, '=');
    char id[16];
    uint64_t spec_id, bits;
    if (!equals || (size_t)(equals - text) >= sizeof(id) || options->spec_count == PM_SHADER_SPECS)
        return false;
    memcpy(id, text, (size_t)(equals - text));
    id[equals - text] = 0;
    if (!pm_tool_number(id, UINT32_MAX, &spec_id) || !pm_tool_number(equals + 1, UINT32_MAX, &bits))
        return false;
    options->specs[options->spec_count++] = (struct pm_spec_value){(uint32_t)spec_id, 4, bits};
    return true;
}

/* "push:BYTE=VALUE", or "SET.BINDING:BYTE=VALUE". */
static bool parse_known(const char *text, struct pm_constant_known *known)
{
    unsigned offset, value, set, binding;
    int end = -1;
    *known = (struct pm_constant_known){0};
    if (sscanf(text, "push:%u=%i%n", &offset, (int *)&value, &end) == 2 && end > 0 && !text[end]) {
        known->point = (struct pm_constant_point){.source = PM_CONSTANT_PUSH, .offset = offset};
    } else if (sscanf(text, "%u.%u:%u=%i%n", &set, &binding, &offset, (int *)&value, &end) == 4 &&
               end > 0 && !text[end]) {
        known->point = (struct pm_constant_point){
            .source = PM_CONSTANT_UNIFORM, .set = set, .binding = binding, .offset = offset};
    } else {
        return false;
    }
    known->value = value;
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

/* Options as they were given, where they are not what they mean. */
struct given {
    const char *stage, *float_zero, *driver, *threshold, *least_share, *uniform_share,
        *block_passes, *specs[PM_SHADER_SPECS];
    const char *known[PM_SHADER_KNOWN];
    const char *method;
    size_t spec_count, known_count;
    uint64_t target, slots, vendor, transforms;
    bool narrow, no_quad, no_arithmetic, no_copies;
};

static int read_module_options(const struct given *given, struct pm_shader_options *options)
{
    if (given->stage && strcmp(given->stage, "compute") && strcmp(given->stage, "fragment"))
        return pm_tool_usage("shader", "--stage: '%s' is neither fragment nor compute",
                             given->stage);
    options->stage_set = given->stage;
    options->stage =
        given->stage && !strcmp(given->stage, "compute") ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT;
    options->target_set = given->target <= PM_SHADER_TARGET;
    options->target.vulkan_minor = options->target_set ? (uint32_t)given->target : PM_SHADER_TARGET;
    options->target.scalar_block_layout |= options->target.workgroup_explicit_layout;
    options->entry_set = options->entry != NULL;
    if (!options->entry_set)
        options->entry = "main";
    for (size_t i = 0; i < given->spec_count; i++)
        if (!parse_spec(given->specs[i], options))
            return pm_tool_usage("shader", "--spec: '%s' is not ID=VALUE", given->specs[i]);
    options->known_count = given->known_count;
    for (size_t i = 0; i < given->known_count; i++)
        if (!parse_known(given->known[i], &options->known[i]))
            return pm_tool_usage("shader",
                                 "--known: '%s' is not push:BYTE=VALUE or SET.BINDING:BYTE=VALUE",
                                 given->known[i]);
    if (given->method && !pm_partition_method_parse(given->method, &options->method))
        return pm_tool_usage("shader", "--method: '%s' is not beyond, mio or in-order",
                             given->method);
    if (given->slots == 0 || (given->slots & (given->slots - 1)))
        return pm_tool_usage("shader", "--slots: '%llu' is not a power of two up to 256",
                             (unsigned long long)given->slots);
    options->instrument.slot_count = (uint32_t)given->slots;
    options->instrument.int64_atomics = !given->narrow;
    options->instrument.subgroup_quad = !given->no_quad;
    options->instrument.subgroup_arithmetic = !given->no_arithmetic;
    options->instrument.count_copies = !given->no_copies;
    return -1;
}

/* ID, or ID:VERSION. -1: it is; else the status to end with. */
static int read_driver(const char *text, struct pm_driver *driver)
{
    char id_text[16];
    uint64_t id, version = 0;
    const size_t length = strcspn(text, ":");
    if (length < sizeof(id_text)) {
        memcpy(id_text, text, length);
        id_text[length] = 0;
        if (pm_tool_number(id_text, UINT32_MAX, &id) &&
            (!text[length] || pm_tool_number(text + length + 1, UINT32_MAX, &version))) {
            *driver = (struct pm_driver){(uint32_t)id, (uint32_t)version};
            return -1;
        }
    }
    return pm_tool_usage("shader", "--driver: '%s' is not ID or ID:VERSION", text);
}

/* -1: it is; else the status to end with. */
static int read_share(const char *name, const char *text, double *share)
{
    char *rest;
    if (!text)
        return -1;
    *share = strtod(text, &rest);
    if (rest == text || *rest || !(*share > 0) || *share > 1)
        return pm_tool_usage("shader", "--%s: '%s' is not above 0 and up to 1", name, text);
    return -1;
}

/* As the key of the config. */
static int read_block_passes(const char *text, uint32_t *passes)
{
    struct pm_config config;
    struct pm_error error = {0};
    pm_config_init(&config);
    const bool ok =
        !text || pm_config_set(&config, "optimize.block_passes", text, "--block-passes", &error);
    *passes = config.optimize.block_passes;
    pm_config_finish(&config);
    return ok ? -1 : pm_tool_usage("shader", "%s", error.message);
}

static int read_specialize_options(const struct given *given, struct pm_shader_options *options)
{
    struct pm_specialize_zero_info *specialize = &options->specialize;
    if (given->float_zero && !parse_float_zero(given->float_zero, &specialize->float_zero))
        return pm_tool_usage("shader", "--float-zero: '%s' is not shader, never or allow",
                             given->float_zero);
    if (given->vendor)
        specialize->costs = pm_costs_of((uint32_t)given->vendor);
    if (given->driver) {
        const int status = read_driver(given->driver, &options->driver);
        if (status >= 0)
            return status;
        specialize->driver = &options->driver;
    }
    if (given->transforms == 0)
        return pm_tool_usage("shader", "--transforms: '0' is not 1 to 1000");
    specialize->most_transforms = (uint32_t)given->transforms;
    options->uniform_share = PM_UNIFORM_SHARE;
    int status = read_share("uniform-share", given->uniform_share, &options->uniform_share);
    if (status < 0)
        status = read_block_passes(given->block_passes, &options->block_passes);
    if (status >= 0)
        return status;
    status = read_share("threshold", given->threshold, &specialize->threshold);
    return status >= 0 ? status
                       : read_share("least-share", given->least_share, &specialize->least_share);
}

int pm_shader_options(int argc, char **argv, struct pm_shader_options *options)
{
    struct given given = {.target = UINT64_MAX, .slots = 1, .transforms = 3};
    *options = (struct pm_shader_options){.points = "all", .limits = "registers"};
    struct pm_zero_beyond *beyond = &options->specialize.beyond;
    struct pm_target *target = &options->target;
    const struct pm_option known[] = {
        {.letter = 'o', .text = &options->out},
        PM_OPTION_TEXT("entry", &options->entry),
        PM_OPTION_TEXT("stage", &given.stage),
        PM_OPTION_NUMBER("target", &given.target, PM_SHADER_TARGET),
        PM_OPTION_FLAG("relax-block-layout", &target->relaxed_block_layout),
        PM_OPTION_FLAG("uniform-buffer-standard-layout", &target->uniform_buffer_standard_layout),
        PM_OPTION_FLAG("scalar-block-layout", &target->scalar_block_layout),
        PM_OPTION_FLAG("workgroup-scalar-block-layout", &target->workgroup_explicit_layout),
        PM_OPTION_TEXT("store", &options->store),
        PM_OPTION_TEXTS("spec", given.specs, &given.spec_count, PM_SHADER_SPECS),
        PM_OPTION_TEXTS("known", given.known, &given.known_count, PM_SHADER_KNOWN),
        PM_OPTION_TEXT("points", &options->points),
        PM_OPTION_FLAG("flow", &options->flow),
        PM_OPTION_NUMBER("slots", &given.slots, 256),
        PM_OPTION_FLAG("no-int64", &given.narrow),
        PM_OPTION_FLAG("no-quad", &given.no_quad),
        PM_OPTION_FLAG("no-arithmetic", &given.no_arithmetic),
        PM_OPTION_FLAG("no-copies", &given.no_copies),
        PM_OPTION_FLAG("early-tests", &options->instrument.may_force_early_tests),
        PM_OPTION_TEXT("profile", &options->profile),
        PM_OPTION_TEXT("game", &options->game),
        PM_OPTION_TEXT("uniform-share", &given.uniform_share),
        PM_OPTION_TEXT("block-passes", &given.block_passes),
        PM_OPTION_FLAG("ignore-uniformity", &options->ignore_uniformity),
        PM_OPTION_FLAG("no-vote", &options->no_vote),
        PM_OPTION_TEXT("float-zero", &given.float_zero),
        PM_OPTION_NUMBER("vendor", &given.vendor, UINT32_MAX),
        PM_OPTION_TEXT("driver", &given.driver),
        PM_OPTION_NUMBER("transforms", &given.transforms, 1000),
        PM_OPTION_TEXT("threshold", &given.threshold),
        PM_OPTION_TEXT("least-share", &given.least_share),
        PM_OPTION_FLAG("fit-regions", &beyond->fit_regions),
        PM_OPTION_FLAG("hoist-across", &beyond->hoist_across),
        PM_OPTION_FLAG("pairs", &beyond->pairs),
        PM_OPTION_TEXT("recipe", &options->recipe),
        PM_OPTION_TEXT("limits", &options->limits),
        PM_OPTION_TEXT("method", &given.method),
        PM_OPTION_FLAG("all-candidates", &options->all_candidates),
        PM_OPTION_FLAG("take-all", &options->specialize.take_all),
        PM_OPTION_FLAG("json", &options->json),
        PM_OPTION_FLAG("times", &options->timed),
    };
    int operands, status = pm_tool_options("shader", help, known, sizeof(known) / sizeof(known[0]),
                                           argc, argv, &operands);
    if (status < 0 && operands + 2 != argc)
        status = pm_tool_usage("shader", "takes a pass and a module");
    if (status < 0)
        status = read_module_options(&given, options);
    if (status < 0)
        status = read_specialize_options(&given, options);
    if (status >= 0)
        return status;
    options->pass = argv[operands];
    options->in = argv[operands + 1];
    return -1;
}
