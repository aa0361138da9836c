#include "tests/layer/hooks/recorded_world.h"

#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/memory/predicates.h"
#include "layer/shader/optimize.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/shader_record.h"
#include "layer/shader/standing.h"
#include "layer/shader/variant.h"

#include <string.h>

/* By pipeline: with a variant that may stand anywhere, the words that a folded one watches, whether
 * there is an instrumented one, and the lot by which recordings hold calls of it twice. */
static const bool has_best[PIPELINES] = {[WITH_BEST] = true, [3] = true};
static const uint32_t watched[PIPELINES] = {[2] = 0x6, [3] = 0xc, [4] = 0x10};
static const bool is_instrumented[PIPELINES] = {[1] = true, [2] = true, [3] = true, [4] = true};
static const double lots[PIPELINES] = {[1] = 0.5, [2] = 1, [3] = 0.5};
const uint64_t watched_words = 0x6 | 0xc | 0x10;

static const int key, second_key;
static struct dispatchable device_handle = {&key}, second_handle = {&second_key};
static struct pm_instance instance;
static struct pm_device second;
static struct pm_pipelines pipelines;
static struct pm_pipeline known[PIPELINES];
static struct pm_optimized best[PIPELINES], folded[PIPELINES];
static struct pm_shader_record records[PIPELINES];
static struct pm_batch_use uses[PIPELINES];
static struct pm_pipeline_batch batches[PIPELINES];
static struct pm_variant variants[PIPELINES];

VkCommandBuffer buffers[BUFFERS];
struct pm_device device;
VkPipelineLayout layout, other_layout;

uint64_t handle_of(int pipeline)
{
    return (uint64_t)(pipeline + 1) * HANDLES;
}

bool world_has(int pipeline, int variant)
{
    return variant == BEST ? has_best[pipeline] : is_instrumented[pipeline];
}

const struct pm_watch *world_watch(int pipeline)
{
    return &folded[pipeline].watch;
}

/* ---- devices ---- */

static VkPipelineLayout make_layout(uintptr_t handle, uint32_t words)
{
    VkPipelineLayout made = (VkPipelineLayout)handle;
    const VkPushConstantRange range = {.stageFlags = ALL_STAGES, .size = words * 4};
    const VkPipelineLayoutCreateInfo info = {.pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
    pm_push_layouts_put(&pipelines.push_layouts, made, &info);
    return made;
}

static void fold(int i, struct pm_push_ranges *ranges)
{
    struct pm_watch *watch = &folded[i].watch;
    watch->ranges = ranges;
    watch->mask = watched[i];
    for (uint32_t word = 0; word < WORDS; word++) {
        if ((watch->mask >> word & 1) == 0)
            continue;
        watch->words[watch->count].word = word;
        watch->words[watch->count++].value = EXPECTED;
    }
    atomic_fetch_or(&ranges->watched, watch->mask);
    atomic_store(&known[i].folded, &folded[i]);
    atomic_store(&known[i].folded_best, &folded[i]);
}

/* With one variant, of all there is to count. */
static void instrument(int i)
{
    const struct pm_sampler_space space = {.count = 1, .batch = 1};
    records[i].sampler = pm_shader_sampler_create(&space, 1, 1);
    assert_non_null(records[i].sampler);
    records[i].batch_count = 1;
    variants[i].device = &device;
    variants[i].built.handle = handle_of(i) + INSTRUMENTED;
    variants[i].use = &uses[i];
    atomic_store(&variants[i].references, 1);
    atomic_store(&batches[i].variant, &variants[i]);
    known[i].lot = lots[i];
    known[i].batches = &batches[i];
    atomic_store(&known[i].variants, 1);
    atomic_store(&known[i].record, &records[i]);
}

static void make_pipeline(int i, struct pm_push_ranges *ranges, bool follow)
{
    const uint64_t handle = handle_of(i);
    known[i].device = &device;
    known[i].handle = handle;
    known[i].push_ranges = ranges;
    best[i].pipeline = folded[i].pipeline = &known[i];
    best[i].built.handle = handle + BEST;
    folded[i].built.handle = handle + FOLDED;
    atomic_store(&best[i].bound, true);
    atomic_store(&folded[i].bound, true);
    if (has_best[i]) {
        atomic_store(&known[i].optimized, &best[i]);
        atomic_store(&known[i].best, handle + BEST);
    }
    if (follow && watched[i] != 0)
        fold(i, ranges);
    if (is_instrumented[i])
        instrument(i);
    assert_true(pm_lookup_put(&pipelines.by_handle, handle, &known[i]));
}

static void make_device(struct pm_device *made, struct dispatchable *handle)
{
    const VkMemoryPropertyFlags coherent =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    *made = (struct pm_device){
        .handle = (VkDevice)handle,
        .instance = &instance,
        .properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU, /* nobody watches the game's */
        .memory = {.memoryTypeCount = 1, .memoryTypes[0].propertyFlags = coherent},
        .dispatch = world_driver};
    made->sampling = pm_sampling_create(made, pm_registry_arm);
    assert_non_null(made->sampling);
}

bool world_has_second(void)
{
    return second.sampling != NULL;
}

void world_toggle_second(void)
{
    if (!world_has_second()) {
        make_device(&second, &second_handle);
        assert_true(pm_registry_add_device(&second));
        return;
    }
    pm_registry_remove_device(&second);
    pm_sampling_destroy(second.sampling);
    second.sampling = NULL;
}

static void configure(const struct world_options *options)
{
    memset(&instance, 0, sizeof instance);
    instance.config.sampler.seed = options->seed;
    instance.config.sampler.seed_set = true;
    instance.config.sampler.kinds =
        PM_KIND_BIT_BLOCK | (options->constants ? (uint32_t)PM_KIND_BIT_CONSTANT : 0);
    instance.config.sampler.api_probability = options->probability;
    instance.config.sampler.window_probability = options->windows ? 0.25 : 0;
    instance.config.sampler.window_frames = 2;
    instance.config.limits.predicates = options->twice ? PREDICATES : 0;
}

static void allocate_buffers(void)
{
    VkCommandPool pool;
    const VkCommandPoolCreateInfo info = {.flags = 0};
    assert_int_equal(pm_CreateCommandPool(device.handle, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {.commandPool = pool,
                                                  .commandBufferCount = BUFFERS};
    assert_int_equal(pm_AllocateCommandBuffers(device.handle, &allocate, buffers), VK_SUCCESS);
    memset(recordings, 0, sizeof recordings);
    for (int i = 0; i < BUFFERS; i++)
        recordings[i].command = pm_command_of(device.sampling, buffers[i]);
}

void world_open(const struct world_options *options, bool with_second)
{
    memset(known, 0, sizeof known);
    memset(best, 0, sizeof best);
    memset(folded, 0, sizeof folded);
    memset(records, 0, sizeof records);
    memset(variants, 0, sizeof variants);
    configure(options);
    make_device(&device, &device_handle);
    device.pipelines = &pipelines;
    pipelines.device = &device;
    atomic_store(&device.sampling->learned, options->learned);
    atomic_store(&device.sampling->queries_see, true);
    device.predicates = pm_predicates_create(&device);
    pm_lookup_init(&pipelines.by_handle);
    pm_lookup_init(&pipelines.by_shader);
    pm_push_layouts_init(&pipelines.push_layouts);
    device.standing = pm_standing_create(&device.stands);
    assert_non_null(device.standing);
    layout = make_layout(1, WORDS);
    other_layout = make_layout(2, OTHER_WORDS);
    for (int i = 0; i < PIPELINES; i++)
        make_pipeline(i, pm_push_layouts_find(&pipelines.push_layouts, layout), options->follow);
    pm_registry_swap_recordings(pm_recording_table_swap);
    if (with_second)
        world_toggle_second();
    assert_true(pm_registry_add_device(&device));
    allocate_buffers();
    pm_registry_set_binds(&device, PM_BINDS_STAND, PM_BINDS_STAND);
}

void world_close(void)
{
    if (world_has_second())
        world_toggle_second();
    pm_registry_remove_device(&device);
    pm_sampling_destroy(device.sampling);
    pm_predicates_destroy(device.predicates);
    for (int i = 0; i < PIPELINES; i++) {
        pm_standing_forget(&known[i].stands);
        pm_shader_sampler_destroy(records[i].sampler);
        /* No recording names it any more. */
        assert_int_equal(atomic_load(&variants[i].references), is_instrumented[i]);
    }
    pm_standing_destroy(device.standing);
    pm_push_layouts_finish(&pipelines.push_layouts);
    pm_lookup_finish(&pipelines.by_handle);
    pm_lookup_finish(&pipelines.by_shader);
    memset(&pipelines, 0, sizeof pipelines);
}

void world_tell(int pipeline, bool told, bool shader_told)
{
    atomic_store(&known[pipeline].told, told);
    atomic_store(&records[pipeline].told, shader_told);
}

/* ---- calls ---- */

static PFN_vkVoidFunction find_hook(const char *name)
{
    for (uint32_t i = 0; i < pm_draw_hook_count; i++)
        if (strcmp(pm_draw_hooks[i].name, name) == 0)
            return pm_draw_hooks[i].function;
    fail();
    return NULL;
}

static void call_older(VkCommandBuffer buffer, int point)
{
    static PFN_vkCmdDraw draw;
    static PFN_vkCmdDispatch dispatch;
    if (draw == NULL) {
        draw = (PFN_vkCmdDraw)find_hook("vkCmdDraw");
        dispatch = (PFN_vkCmdDispatch)find_hook("vkCmdDispatch");
    }
    if (point == PM_GRAPHICS)
        draw(buffer, 3, 1, 0, 0);
    else
        dispatch(buffer, 1, 1, 1);
}

void world_call(VkCommandBuffer buffer, int point, bool newer)
{
    struct recording *recording = recording_of(buffer);
    const uint64_t before = recording->called;
    recording->calls = true;
    if (!newer)
        call_older(buffer, point);
    else if (point == PM_GRAPHICS)
        pm_CmdDrawIndirect2KHR(buffer, NULL);
    else
        pm_CmdDispatchIndirect2KHR(buffer, NULL);
    recording->calls = false;
    if (recording->called != before + 1)
        world_fails("the driver does not see a call once", point);
}
