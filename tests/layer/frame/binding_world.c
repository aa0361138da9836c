#include "tests/layer/frame/binding_world.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

struct pm_device *device;
struct pm_sampling *sampling;
struct pm_pipeline *pipelines[PIPELINES];
struct pm_optimized fitting;
static struct pm_optimized standing[PIPELINES];
struct world *world;
uint64_t short_ways, short_binds;

uint64_t binding_handle(int pipeline, int kind)
{
    return (unsigned)(pipeline + 1) * DIGITS + (unsigned)kind;
}

int binding_kind(uint64_t handle)
{
    return (int)(handle % DIGITS);
}

/* ---- what binding.c calls ---- */

static VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer handle, VkPipelineBindPoint point,
                                       VkPipeline pipeline)
{
    (void)handle;
    assert_false(world->feedback);
    world->driver[pm_bind_point_index(point)] = PM_BITS(pipeline);
    world->binds++;
}

/* A draw is waited for, while there is a query, or behind what was pushed. */
void pm_put_off_begin(struct pm_command *command)
{
    assert_true((world->left && command->active_queries > 0) || world->more);
    command->put_off = true;
}

void pm_sampling_end(struct pm_sampling *of)
{
    assert_ptr_equal(of, sampling);
}

static struct pm_variant variant;

struct pm_variant *pm_pipeline_sample(struct pm_pipeline *pipeline, struct pm_owing *owing)
{
    assert_null(owing);
    variant.built.handle = binding_handle(pipeline == pipelines[CANDIDATE], INSTRUMENTED);
    return &variant;
}

/* Nothing is owed here, */
struct pm_variant *pm_pipeline_sample_owed(struct pm_pipeline *pipeline, struct pm_owing *owing,
                                           uint64_t random)
{
    (void)pipeline, (void)owing, (void)random;
    fail();
    return NULL;
}

/* and nothing recorded twice. */
struct pm_variant *pm_pipeline_sample_kept(struct pm_pipeline *pipeline)
{
    (void)pipeline;
    fail();
    return NULL;
}

bool pm_command_use(struct pm_command *command, struct pm_variant *used, uint32_t calls,
                    uint32_t *use)
{
    assert_null(use);
    assert_ptr_equal(command, &world->command);
    assert_ptr_equal(used, &variant);
    assert_int_equal(calls, 1);
    return true;
}

void pm_variant_release(struct pm_variant *released)
{
    (void)released;
    fail();
}

void pm_optimize_bound(struct pm_optimized *used)
{
    atomic_store(&used->bound, true);
}

bool pm_pipeline_sample_pushed(const struct pm_pipeline *pipeline, const uint32_t *words,
                               uint64_t known)
{
    if ((known >> WORD & 1) != 0)
        assert_int_equal(words[WORD] == VALUE, world->fits[PM_GRAPHICS]);
    else
        assert_true(pipeline != pipelines[WATCHING] || !world->fits[PM_GRAPHICS]);
    return false;
}

void pm_optimize_first_bind(struct pm_pipeline *pipeline)
{
    (void)pipeline;
}

struct pm_pipeline *pm_pipeline_find(struct pm_device *of, VkPipeline handle)
{
    assert_ptr_equal(of, device);
    for (int i = 0; i < PIPELINES; i++)
        if (PM_BITS(handle) == binding_handle(i, GAME))
            return pipelines[i];
    return NULL;
}

/* ---- what must be ---- */

bool binding_may_rebind(void)
{
    return !world->is_protected && world->queries == 0 && !world->feedback;
}

static bool binding_is_timed(void)
{
    return world->command.recording == PM_RECORDING_TIMED;
}

void binding_check(void)
{
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        if (world->stands[i] == 0)
            continue;
        const uint64_t expected =
            i == PM_GRAPHICS && world->tried ? binding_handle(CANDIDATE, TRIAL) : world->stands[i];
        assert_int_equal(world->driver[i], expected);
        if (!binding_may_rebind() && !(i == PM_GRAPHICS && world->left))
            assert_int_equal(binding_kind(world->driver[i]), GAME);
        /* What this is all about. */
        if (binding_kind(world->driver[i]) == FITTING)
            assert_true(world->watching[i] && world->fits[i]);
    }
}

/* ---- steps ---- */

uint64_t binding_watching_stands(int point)
{
    return binding_handle(WATCHING, world->fits[point] ? FITTING : PROVEN);
}

void binding_bind(int point, int pipeline)
{
    const uint64_t game = binding_handle(pipeline, GAME);
    struct pm_pipeline *known = pipeline < PIPELINES ? pipelines[pipeline] : NULL;
    /* Which way does not matter. */
    if ((known == NULL || known == pipelines[WATCHING]) &&
        pm_binding_stand_watched(&world->command, point, game, known)) {
        world->driver[point] = known != NULL ? world->command.bound[point].now : game;
        short_binds += known != NULL;
    } else
        world->driver[point] = pm_binding_stand(device, &world->command, point, game, known);
    const bool takes_turn = pipeline == CANDIDATE && binding_is_timed() && world->in_pass &&
                            world->whole && binding_may_rebind();
    const bool may = (pm_binding_allowed(&world->command, point) & PM_BINDING_TRIAL_PASS) != 0;
    if (pipeline == CANDIDATE)
        assert_int_equal(may, takes_turn);
    if (takes_turn) {
        pm_binding_cover(&world->command, point, PM_BINDING_TRIAL_PASS,
                         binding_handle(CANDIDATE, TRIAL), NULL);
        pm_binding_bind(&world->command, point);
    }
    world->game[point] = game;
    world->watching[point] = pipeline == WATCHING;
    world->stands[point] = !binding_may_rebind() ? game
                           : pipeline == PROVEN_ONE || pipeline == LEAVING_FEWER
                               ? binding_handle(pipeline, PROVEN)
                           : pipeline == WATCHING ? binding_watching_stands(point)
                                                  : game;
    if (known == NULL)
        assert_int_equal(world->driver[point], game);
    if (point != PM_GRAPHICS)
        return;
    world->tried = takes_turn;
    world->fewer = pipeline == LEAVING_FEWER;
    world->left = false;
}

/* A draw comes, as pm_sampled_call_begins has it. In a query it runs with the game's own, but where
 * nothing can be bound. */
static void draw_comes(void)
{
    const bool must = world->left && world->queries > 0;
    const uint32_t binds = world->binds;
    assert_true(!must || world->command.put_off);
    if (world->command.put_off)
        pm_binding_put_back_at_draw(&world->command);
    if (must && !world->feedback) {
        world->stands[PM_GRAPHICS] = world->game[PM_GRAPHICS];
        world->left = false;
    }
    assert_int_equal(world->binds - binds, must && !world->feedback);
    assert_int_equal(world->command.put_off, world->feedback && world->command.put_off);
}

void binding_call(int point)
{
    if (point == PM_GRAPHICS)
        draw_comes();
    const uint64_t before = world->driver[point];
    const bool known = world->stands[point] != 0 && world->command.bound[point].pipeline != NULL;
    const uint32_t binds = world->binds;
    int kind = binding_kind(before);
    if (binding_is_timed()) {
        const bool may = (pm_binding_allowed(&world->command, point) & PM_BINDING_TRIAL_CALL) != 0;
        const bool is_timed_here = point == PM_COMPUTE || (world->in_pass && world->of_draws);
        assert_int_equal(may, known && is_timed_here && binding_may_rebind());
        if (may) {
            kind = TRIAL;
            pm_binding_cover(&world->command, point, PM_BINDING_TRIAL_CALL,
                             binding_handle(CANDIDATE, TRIAL), NULL);
            pm_binding_bind(&world->command, point);
        }
    } else {
        pm_binding_sample(&world->command, point);
        if (known && binding_may_rebind() && world->command.recording == PM_RECORDING_SAMPLED)
            kind = INSTRUMENTED;
    }
    assert_int_equal(binding_kind(world->driver[point]), kind);
    pm_binding_put_back(&world->command, PM_BINDING_INSTRUMENTED | PM_BINDING_TRIAL_CALL);
    assert_int_equal(world->driver[point], before);
    assert_int_equal(world->binds - binds, kind != binding_kind(before) ? 2 : 0);
}

void binding_pass_begins(bool of_draws)
{
    struct pm_pass_instance *pass = &world->command.pass;
    const enum pm_condition place = of_draws ? PM_PLACE_TIMED_DRAWS : PM_PLACE_TIMED_PASS;
    const bool may = pm_binding_may_try(&world->command, place);
    assert_int_equal(may, binding_is_timed() && binding_may_rebind());
    pass->place = may ? place : PM_PLACE_PASS;
    world->in_pass = true;
    world->of_draws = may && of_draws;
    world->whole = may && !of_draws;
}

void binding_pass_ends(void)
{
    world->command.pass.place = PM_PLACE_OUTSIDE;
    pm_binding_put_back(&world->command, PM_BINDING_TRIAL_PASS);
    world->in_pass = world->whole = world->of_draws = world->tried = false;
}

void binding_obstacle(enum pm_condition condition)
{
    uint32_t changed = 0;
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        const bool variant_stands = world->stands[i] != 0 && binding_kind(world->driver[i]) != GAME;
        if (i == PM_GRAPHICS && world->fewer && variant_stands) {
            world->left = true;
            continue;
        }
        changed += variant_stands;
        if (world->stands[i] != 0)
            world->stands[i] = world->game[i];
    }
    const uint32_t binds = world->binds;
    pm_binding_obstacle_begins(&world->command, condition);
    assert_int_equal(world->binds - binds, changed);
    world->whole = world->of_draws = world->tried = false; /* nothing more is tried in the pass */
}

void binding_obstacle_ends(enum pm_condition condition)
{
    pm_binding_obstacle_ends(&world->command, condition);
    assert_true(world->queries > 0 || !world->command.put_off);
    if (binding_may_rebind())
        world->left = false;
}

void binding_generated(void)
{
    const bool variant_stands = world->fewer && binding_kind(world->driver[PM_GRAPHICS]) != GAME;
    if (variant_stands) {
        const uint32_t binds = world->binds;
        pm_binding_generated_begins(&world->command, PM_GRAPHICS);
        assert_true(world->binds > binds);
        for (int i = 0; i < PM_BIND_POINTS; i++)
            if (world->stands[i] != 0)
                world->stands[i] = world->game[i];
        world->left = world->whole = world->of_draws = world->tried = false;
    } else {
        binding_obstacle(PM_ACTIVE_GENERATED_COMMANDS);
    }
    for (int i = 0; i < PM_BIND_POINTS; i++)
        assert_true(world->stands[i] == 0 || binding_kind(world->driver[i]) == GAME);
    pm_binding_obstacle_ends(&world->command, PM_ACTIVE_GENERATED_COMMANDS);
}

void binding_push(int layout, VkShaderStageFlags stages, uint32_t first, uint32_t count,
                  uint32_t value, int fits)
{
    const uint32_t words[3] = {value, value, value};
    const struct pm_push pushed = {(VkPipelineLayout)(uintptr_t)layout, stages, 4 * first,
                                   4 * count, words};
    const int ranges = layout <= 2 ? 1 : layout == 3 ? 2 : 0;
    const bool other = ranges != world->ranges || ranges == 0;
    const bool layouts_differ = world->command.pushed.layout != pushed.layout;
    short_ways += world->command.pushed.stays != 0;
    pm_binding_push(&world->command, &pushed);
    world->ranges = ranges;
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        if (other)
            world->fits[i] = false;
        if (fits >= 0)
            world->fits[i] = fits != 0 && ranges == 1;
        /* Looked at where the word was pushed, or another layout came. */
        if (world->watching[i] && (fits >= 0 || layouts_differ))
            world->stands[i] = binding_may_rebind() ? binding_watching_stands(i) : world->game[i];
    }
}

void binding_start(enum pm_condition recording, bool is_protected)
{
    *world = (struct world){
        .command = {.device = device,
                    .recording = recording,
                    .active = is_protected ? PM_CONDITION(PM_ACTIVE_PROTECTED) : 0,
                    .pass = {.place = PM_PLACE_OUTSIDE}},
        .is_protected = is_protected,
    };
    atomic_store(&device->pipelines->dynamic.any[0], 1);
    pm_random_init(&world->command.random, 1);
    pm_pushed_begin(&world->command.pushed, UINT64_MAX);
    for (int i = 0; i < PM_BIND_POINTS; i++)
        world->command.bound[i].kind = PM_BINDING_GAME;
}

int binding_set_up(void **state)
{
    (void)state;
    device = calloc(1, sizeof *device);
    sampling = aligned_alloc(PM_CACHE_LINE, sizeof *sampling);
    world = aligned_alloc(PM_CACHE_LINE, sizeof *world);
    assert_true(device != NULL && sampling != NULL && world != NULL);
    memset(sampling, 0, sizeof *sampling);
    memset(world, 0, sizeof *world);
    for (int i = 0; i < PIPELINES; i++) {
        pipelines[i] = calloc(1, sizeof *pipelines[i]);
        assert_non_null(pipelines[i]);
        pipelines[i]->device = device;
    }
    const int proven[] = {PROVEN_ONE, WATCHING, LEAVING_FEWER};
    for (int i = 0; i < 3; i++) {
        atomic_store(&pipelines[proven[i]]->best, binding_handle(proven[i], PROVEN));
        atomic_store(&pipelines[proven[i]]->optimized, &standing[proven[i]]);
        standing[proven[i]].built.handle = binding_handle(proven[i], PROVEN);
    }
    device->pipelines = calloc(1, sizeof *device->pipelines);
    assert_non_null(device->pipelines);
    static const VkGraphicsPipelineCreateInfo graphics = {0};
    pipelines[LEAVING_FEWER]->graphics = &graphics;
    atomic_store(&device->pipelines->dynamic.any[0], 1);
    struct pm_push_layouts *layouts = &device->pipelines->push_layouts;
    pm_push_layouts_init(layouts);
    const VkPushConstantRange ranges[] = {
        {VK_SHADER_STAGE_ALL, 0, 64}, {VK_SHADER_STAGE_ALL, 0, 64}, {VK_SHADER_STAGE_ALL, 0, 80}};
    for (uintptr_t i = 0; i < 3; i++)
        pm_push_layouts_put(layouts, (VkPipelineLayout)(i + 1),
                            &(VkPipelineLayoutCreateInfo){.pushConstantRangeCount = 1,
                                                          .pPushConstantRanges = &ranges[i]});
    fitting.built.handle = binding_handle(WATCHING, FITTING);
    fitting.watch =
        (struct pm_watch){.ranges = pm_push_layouts_find(layouts, (VkPipelineLayout)(uintptr_t)1),
                          .mask = UINT64_C(1) << WORD,
                          .count = 1,
                          .words = {{WORD, VALUE}}};
    atomic_store(&fitting.watch.ranges->watched, fitting.watch.mask);
    pipelines[WATCHING]->push_ranges = fitting.watch.ranges;
    atomic_store(&pipelines[WATCHING]->folded, &fitting);
    atomic_store(&pipelines[WATCHING]->folded_best, &fitting);
    device->dispatch.CmdBindPipeline = bind;
    device->sampling = sampling;
    atomic_store(&device->binds, PM_BINDS_PROVEN);
    sampling->probability = 0.5;
    return 0;
}

int binding_tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < PIPELINES; i++)
        free(pipelines[i]);
    pm_push_layouts_finish(&device->pipelines->push_layouts);
    free(device->pipelines);
    free(world);
    free(sampling);
    free(device);
    return 0;
}
