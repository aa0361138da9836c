/* What is bound, over every short history of a recording: what a call ran with, that what was bound
 * is put back after each transition, once, and never where nothing can be bound; and that a variant
 * for values of push constants is bound exactly where they have these values. */
#include "layer/frame/binding.h"
#include "layer/shader/pipeline.h"

#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 5 }; /* transitions in a history */

/* A handle's last digit says what it is of. */
enum { GAME, PROVEN, TRIAL, INSTRUMENTED, FITTING, DIGITS = 16 };

enum { PROVEN_ONE, CANDIDATE, WATCHING, PIPELINES };

/* What WATCHING's variant for push constants watches, and the values it wants. */
enum { WORD = 3, OTHER_WORD = 9, VALUE = 42, OTHER_VALUE = 43 };

enum transition {
    BIND_PROVEN,
    BIND_CANDIDATE,
    BIND_UNKNOWN,
    BIND_COMPUTE,
    DRAW,
    DISPATCH,
    PASS_BEGINS,
    PASS_OF_DRAWS_BEGINS,
    PASS_ENDS,
    QUERY_BEGINS,
    QUERY_ENDS,
    FEEDBACK_BEGINS,
    FEEDBACK_ENDS,
    GENERATED,
    SHADERS_BOUND, /* shader objects */
    BIND_WATCHING,
    BIND_WATCHING_COMPUTE,
    PUSH_VALUE,          /* as the variant wants it */
    PUSH_PAIR,           /* likewise, by a push of several words */
    PUSH_OTHER_VALUE,    /* of the word that is watched */
    PUSH_OTHER_WORD,     /* of the same ranges: changes nothing */
    PUSH_OTHER_RANGES,   /* of another word */
    PUSH_EQUAL_LAYOUT,   /* the right value, with a layout of the same ranges */
    PUSH_UNKNOWN_LAYOUT, /* the right value, with one that nothing is known of */
    FORGET_PUSHED,       /* as generated commands and secondaries do */
    TRANSITIONS
};

/* Some of them only, so that histories can be long. */
static const uint8_t few[] = {
    BIND_WATCHING,     BIND_WATCHING_COMPUTE,
    BIND_PROVEN,       PUSH_VALUE,
    PUSH_PAIR,         PUSH_OTHER_VALUE,
    PUSH_OTHER_WORD,   PUSH_OTHER_RANGES,
    PUSH_EQUAL_LAYOUT, PUSH_UNKNOWN_LAYOUT,
    FORGET_PUSHED,     DRAW,
    PASS_BEGINS,       PASS_ENDS,
    QUERY_BEGINS,      QUERY_ENDS,
    FEEDBACK_BEGINS,   FEEDBACK_ENDS,
    GENERATED,
};

struct world {
    struct pm_command command;
    uint64_t driver[PM_BIND_POINTS]; /* what the driver has bound */
    uint32_t binds;                  /* that it was asked for */

    /* what the test knows by itself */
    uint64_t stands[PM_BIND_POINTS]; /* 0: not known to the layer */
    uint64_t game[PM_BIND_POINTS];
    bool tried; /* the trial's variant is bound in the render pass instance */
    bool in_pass, whole, of_draws;
    uint32_t queries;
    bool feedback, is_protected;
    bool watching[PM_BIND_POINTS]; /* WATCHING is bound */
    bool fits[PM_BIND_POINTS];     /* what was pushed is what its variant wants there */
    int ranges;                    /* pushed with last; 0: none that are known */
};

static struct pm_device *device;
static struct pm_sampling *sampling;
static struct pm_pipeline *pipelines[PIPELINES];
static struct pm_optimized standing[PIPELINES], fitting;
static struct world *world;
static uint64_t histories, short_ways;

static uint64_t handle_of(int pipeline, int kind)
{
    return (unsigned)(pipeline + 1) * DIGITS + (unsigned)kind;
}

static int kind_of(uint64_t handle)
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

static struct pm_variant variant;

struct pm_variant *pm_pipeline_sample(struct pm_pipeline *pipeline)
{
    variant.built.handle = handle_of(pipeline == pipelines[CANDIDATE], INSTRUMENTED);
    return &variant;
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
    (void)used;
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

/* ---- what must be ---- */

/* HAZARDS 11. */
static bool may_rebind(void)
{
    return !world->is_protected && world->queries == 0 && !world->feedback;
}

static bool is_timed(void)
{
    return world->command.recording == PM_RECORDING_TIMED;
}

/* What the driver has bound between two calls. */
static void check(void)
{
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        if (world->stands[i] == 0)
            continue;
        const uint64_t expected =
            i == PM_GRAPHICS && world->tried ? handle_of(CANDIDATE, TRIAL) : world->stands[i];
        assert_int_equal(world->driver[i], expected);
        if (!may_rebind())
            assert_int_equal(kind_of(world->driver[i]), GAME);
        /* What this is all about. */
        if (kind_of(world->driver[i]) == FITTING)
            assert_true(world->watching[i] && world->fits[i]);
    }
}

/* ---- transitions ---- */

/* What stands for WATCHING where variants may be bound. */
static uint64_t watching_stands(int point)
{
    return handle_of(WATCHING, world->fits[point] ? FITTING : PROVEN);
}

static void bind_one(int point, int pipeline)
{
    const uint64_t game = handle_of(pipeline, GAME);
    struct pm_pipeline *known = pipeline < PIPELINES ? pipelines[pipeline] : NULL;
    world->driver[point] = pm_binding_stand(device, &world->command, point, game, known);
    const bool takes_turn =
        pipeline == CANDIDATE && is_timed() && world->in_pass && world->whole && may_rebind();
    const bool may = (pm_binding_allowed(&world->command, point) & PM_BINDING_TRIAL_PASS) != 0;
    if (pipeline == CANDIDATE)
        assert_int_equal(may, takes_turn);
    if (takes_turn) {
        pm_binding_cover(&world->command, point, PM_BINDING_TRIAL_PASS, handle_of(CANDIDATE, TRIAL),
                         NULL);
        pm_binding_bind(&world->command, point);
    }
    world->game[point] = game;
    world->watching[point] = pipeline == WATCHING;
    world->stands[point] = !may_rebind()            ? game
                           : pipeline == PROVEN_ONE ? handle_of(PROVEN_ONE, PROVEN)
                           : pipeline == WATCHING   ? watching_stands(point)
                                                    : game;
    if (known == NULL)
        assert_int_equal(world->driver[point], game);
    if (point == PM_GRAPHICS)
        world->tried = takes_turn;
}

/* A call of which the countdown was through. */
static void call(int point)
{
    const uint64_t before = world->driver[point];
    const bool known = world->stands[point] != 0 && world->command.bound[point].pipeline != NULL;
    const uint32_t binds = world->binds;
    int kind = kind_of(before);
    if (is_timed()) {
        const bool may = (pm_binding_allowed(&world->command, point) & PM_BINDING_TRIAL_CALL) != 0;
        const bool is_timed_here = point == PM_COMPUTE || (world->in_pass && world->of_draws);
        assert_int_equal(may, known && is_timed_here && may_rebind());
        if (may) {
            kind = TRIAL;
            pm_binding_cover(&world->command, point, PM_BINDING_TRIAL_CALL,
                             handle_of(CANDIDATE, TRIAL), NULL);
            pm_binding_bind(&world->command, point);
        }
    } else {
        pm_binding_sample(&world->command, point);
        if (known && may_rebind() && world->command.recording == PM_RECORDING_SAMPLED)
            kind = INSTRUMENTED;
    }
    assert_int_equal(kind_of(world->driver[point]), kind);
    pm_binding_put_back(&world->command, PM_BINDING_INSTRUMENTED | PM_BINDING_TRIAL_CALL);
    assert_int_equal(world->driver[point], before);
    assert_int_equal(world->binds - binds, kind != kind_of(before) ? 2 : 0);
}

static void pass_begins(bool of_draws)
{
    struct pm_pass_instance *pass = &world->command.pass;
    const enum pm_condition place = of_draws ? PM_PLACE_TIMED_DRAWS : PM_PLACE_TIMED_PASS;
    const bool may = pm_binding_may_try(&world->command, place);
    assert_int_equal(may, is_timed() && may_rebind());
    pass->place = may ? place : PM_PLACE_PASS;
    world->in_pass = true;
    world->of_draws = may && of_draws;
    world->whole = may && !of_draws;
}

static void pass_ends(void)
{
    world->command.pass.place = PM_PLACE_OUTSIDE;
    pm_binding_put_back(&world->command, PM_BINDING_TRIAL_PASS);
    world->in_pass = world->whole = world->of_draws = world->tried = false;
}

/* Of what must not see a variant. */
static void obstacle_begins(enum pm_condition condition)
{
    uint32_t changed = 0;
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        changed += world->stands[i] != 0 && kind_of(world->driver[i]) != GAME;
        if (world->stands[i] != 0)
            world->stands[i] = world->game[i];
    }
    const uint32_t binds = world->binds;
    pm_binding_obstacle_begins(&world->command, condition);
    assert_int_equal(world->binds - binds, changed);
    world->whole = world->of_draws = world->tried = false; /* nothing more is tried in the pass */
}

/* Layouts: 1 and 2 have the ranges of WATCHING's, 3 has others, 4 is not known. fits: what is known
 * of the word afterwards; -1: what it was. */
static void push(int layout, VkShaderStageFlags stages, uint32_t first, uint32_t count,
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
            world->stands[i] = may_rebind() ? watching_stands(i) : world->game[i];
    }
}

/* false: Vulkan does not allow it here. */
static bool apply(enum transition transition)
{
    switch (transition) {
    case BIND_PROVEN:
    case BIND_CANDIDATE:
    case BIND_UNKNOWN:
        if (world->feedback)
            return false;
        bind_one(PM_GRAPHICS, transition == BIND_PROVEN      ? PROVEN_ONE
                              : transition == BIND_CANDIDATE ? CANDIDATE
                                                             : PIPELINES);
        return true;
    case BIND_COMPUTE:
        if (world->feedback)
            return false;
        bind_one(PM_COMPUTE, PROVEN_ONE);
        return true;
    case DRAW:
        call(PM_GRAPHICS);
        return true;
    case DISPATCH:
        if (world->in_pass)
            return false;
        call(PM_COMPUTE);
        return true;
    case PASS_BEGINS:
    case PASS_OF_DRAWS_BEGINS:
        if (world->in_pass)
            return false;
        pass_begins(transition == PASS_OF_DRAWS_BEGINS);
        return true;
    case PASS_ENDS:
        if (!world->in_pass || world->feedback)
            return false;
        pass_ends();
        return true;
    case QUERY_BEGINS:
        obstacle_begins(PM_ACTIVE_QUERY);
        world->queries++;
        return true;
    case QUERY_ENDS:
        if (world->queries == 0)
            return false;
        pm_binding_obstacle_ends(&world->command, PM_ACTIVE_QUERY);
        world->queries--;
        return true;
    case FEEDBACK_BEGINS:
        if (!world->in_pass || world->feedback)
            return false;
        obstacle_begins(PM_ACTIVE_TRANSFORM_FEEDBACK);
        world->feedback = true;
        return true;
    case FEEDBACK_ENDS:
        if (!world->feedback)
            return false;
        pm_binding_obstacle_ends(&world->command, PM_ACTIVE_TRANSFORM_FEEDBACK);
        world->feedback = false;
        return true;
    case GENERATED:
        obstacle_begins(PM_ACTIVE_GENERATED_COMMANDS);
        for (int i = 0; i < PM_BIND_POINTS; i++)
            assert_true(world->stands[i] == 0 || kind_of(world->driver[i]) == GAME);
        pm_binding_obstacle_ends(&world->command, PM_ACTIVE_GENERATED_COMMANDS);
        return true;
    case SHADERS_BOUND:
        for (int i = 0; i < PM_BIND_POINTS; i++) {
            world->command.bound[i].pipeline = NULL;
            world->stands[i] = 0;
            world->watching[i] = false;
        }
        world->tried = false;
        return true;
    case BIND_WATCHING:
    case BIND_WATCHING_COMPUTE:
        if (world->feedback)
            return false;
        bind_one(transition == BIND_WATCHING ? PM_GRAPHICS : PM_COMPUTE, WATCHING);
        return true;
    case PUSH_VALUE:
        push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        return true;
    case PUSH_PAIR:
        push(1, VK_SHADER_STAGE_ALL, WORD - 1, 3, VALUE, true);
        return true;
    case PUSH_OTHER_VALUE:
        push(1, VK_SHADER_STAGE_ALL, WORD - 1, 2, OTHER_VALUE, false);
        return true;
    case PUSH_OTHER_WORD:
        push(1, VK_SHADER_STAGE_ALL, OTHER_WORD, 2, OTHER_VALUE, -1);
        return true;
    case PUSH_OTHER_RANGES:
        push(3, VK_SHADER_STAGE_ALL, OTHER_WORD, 1, OTHER_VALUE, -1);
        return true;
    case PUSH_EQUAL_LAYOUT:
        push(2, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        return true;
    case PUSH_UNKNOWN_LAYOUT:
        push(4, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        return true;
    case FORGET_PUSHED:
        pm_pushed_forget(&world->command.pushed);
        pm_binding_pushed(&world->command);
        for (int i = 0; i < PM_BIND_POINTS; i++) {
            world->fits[i] = false;
            if (world->watching[i])
                world->stands[i] = may_rebind() ? watching_stands(i) : world->game[i];
        }
        return true;
    case TRANSITIONS:
        break;
    }
    fail();
    return false;
}

/* list NULL: the first of all. */
static void walk(int left, const uint8_t *list, size_t count)
{
    const struct world before = *world;
    for (size_t i = 0; i < count; i++) {
        *world = before;
        if (!apply(list ? (enum transition)list[i] : (enum transition)i))
            continue;
        check();
        histories++;
        if (left > 1)
            walk(left - 1, list, count);
    }
    *world = before;
}

static void start(enum pm_condition recording, bool is_protected)
{
    *world = (struct world){
        .command = {.device = device,
                    .recording = recording,
                    .active = is_protected ? PM_CONDITION(PM_ACTIVE_PROTECTED) : 0,
                    .pass = {.place = PM_PLACE_OUTSIDE}},
        .is_protected = is_protected,
    };
    pm_random_init(&world->command.random, 1);
    pm_pushed_begin(&world->command.pushed, UINT64_MAX);
    for (int i = 0; i < PM_BIND_POINTS; i++)
        world->command.bound[i].kind = PM_BINDING_GAME;
}

static int set_up(void **state)
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
    }
    const int proven[] = {PROVEN_ONE, WATCHING};
    for (int i = 0; i < 2; i++) {
        atomic_store(&pipelines[proven[i]]->best, handle_of(proven[i], PROVEN));
        atomic_store(&pipelines[proven[i]]->optimized, &standing[proven[i]]);
        standing[proven[i]].built.handle = handle_of(proven[i], PROVEN);
    }
    device->pipelines = calloc(1, sizeof *device->pipelines);
    assert_non_null(device->pipelines);
    struct pm_push_layouts *layouts = &device->pipelines->push_layouts;
    pm_push_layouts_init(layouts);
    const VkPushConstantRange ranges[] = {
        {VK_SHADER_STAGE_ALL, 0, 64}, {VK_SHADER_STAGE_ALL, 0, 64}, {VK_SHADER_STAGE_ALL, 0, 80}};
    for (uintptr_t i = 0; i < 3; i++)
        pm_push_layouts_put(layouts, (VkPipelineLayout)(i + 1),
                            &(VkPipelineLayoutCreateInfo){.pushConstantRangeCount = 1,
                                                          .pPushConstantRanges = &ranges[i]});
    fitting.built.handle = handle_of(WATCHING, FITTING);
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

static int tear_down(void **state)
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

static void what_is_bound_is_put_back(void **state)
{
    (void)state;
    for (enum pm_condition i = PM_RECORDING_TRACKED; i <= PM_RECORDING_TIMED; i++) {
        for (int is_protected = 0; is_protected < 2; is_protected++) {
            start(i, is_protected != 0);
            walk(LENGTH, NULL, BIND_WATCHING);
        }
    }
    assert_true(histories > 100000);
}

/* A variant for values of push constants is bound exactly where they have these values, whatever
 * comes between. */
static void what_fits_is_bound(void **state)
{
    (void)state;
    histories = short_ways = 0;
    for (enum pm_condition i = PM_RECORDING_TRACKED; i <= PM_RECORDING_TIMED; i++) {
        start(i, false);
        walk(LENGTH - 1, few, sizeof few);
    }
    assert_true(histories > 100000);
    start(PM_RECORDING_TRACKED, false);
    walk(LENGTH, few, 11);
    assert_true(short_ways > 10000);
    /* One that began before anything was to be followed. */
    start(PM_RECORDING_TRACKED, false);
    pm_pushed_begin(&world->command.pushed, 0);
    bind_one(PM_GRAPHICS, WATCHING);
    push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), PROVEN);
    /* Half a word is nothing that Vulkan allows. */
    start(PM_RECORDING_TRACKED, false);
    bind_one(PM_GRAPHICS, WATCHING);
    push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), FITTING);
    const uint16_t half = 42;
    const struct pm_push odd = {(VkPipelineLayout)(uintptr_t)1, VK_SHADER_STAGE_ALL, 4 * WORD + 2,
                                2, &half};
    assert_true(pm_binding_push(&world->command, &odd));
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), PROVEN);
    push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), PROVEN);
    /* Nor is a push to some of the stages that read the word. */
    start(PM_RECORDING_TRACKED, false);
    bind_one(PM_GRAPHICS, WATCHING);
    push(1, VK_SHADER_STAGE_FRAGMENT_BIT, WORD, 1, VALUE, false);
    push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), PROVEN);
}

/* One that is tried stays over what stands only while it fits. */
static void what_is_tried_must_fit(void **state)
{
    (void)state;
    const struct pm_watch *watch = &fitting.watch;
    for (int fits = 0; fits < 2; fits++) {
        start(PM_RECORDING_TIMED, false);
        bind_one(PM_GRAPHICS, WATCHING);
        pass_begins(false);
        push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        assert_true(pm_binding_fits(&world->command, PM_GRAPHICS, watch));
        pm_binding_cover(&world->command, PM_GRAPHICS, PM_BINDING_TRIAL_PASS,
                         handle_of(WATCHING, TRIAL), watch);
        pm_binding_bind(&world->command, PM_GRAPHICS);
        push(1, VK_SHADER_STAGE_ALL, WORD, 1, fits ? VALUE : OTHER_VALUE, fits);
        assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), fits ? TRIAL : PROVEN);
        pass_ends();
        assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), fits ? FITTING : PROVEN);
    }
    /* Bound before there was such a variant: nobody would notice its pushes. */
    start(PM_RECORDING_TIMED, false);
    atomic_store(&pipelines[WATCHING]->folded, NULL);
    bind_one(PM_GRAPHICS, WATCHING);
    atomic_store(&pipelines[WATCHING]->folded, &fitting);
    push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_false(pm_binding_fits(&world->command, PM_GRAPHICS, watch));
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), PROVEN);
    bind_one(PM_GRAPHICS, PROVEN_ONE);
    world->fits[PM_GRAPHICS] = true;
    bind_one(PM_GRAPHICS, WATCHING);
    assert_int_equal(kind_of(world->driver[PM_GRAPHICS]), FITTING);
}

/* Of a recording that nobody tracks only what stands is known. */
static void untracked(void **state)
{
    (void)state;
    struct pm_pipeline *pipeline = pipelines[PROVEN_ONE];
    const uint64_t game = handle_of(PROVEN_ONE, GAME), best = handle_of(PROVEN_ONE, PROVEN);
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, pipeline), best);
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, NULL), game);
    atomic_store(&sampling->careful, true); /* the game has something that could see it */
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, pipeline), game);
    atomic_store(&sampling->careful, false);
    atomic_store(&device->binds, 0);
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, pipeline), game);
    atomic_store(&device->binds, PM_BINDS_PROVEN);
}

/* The short way into a recording is for a record that is as a begin leaves it. */
static void begun_again(void **state)
{
    (void)state;
    const VkCommandBufferBeginInfo once = {.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT},
                                   often = {0};
    struct pm_command *command = &world->command;
    start(PM_RECORDING_TRACKED, false);
    command->touched = false;
    atomic_store(&command->submits, 2);
    assert_false(pm_command_begin_again(command, &often));
    assert_int_equal(atomic_load(&command->submits), 2);
    assert_true(pm_command_begin_again(command, &once));
    assert_int_equal(atomic_load(&command->submits), 0);
    atomic_store(&command->submits, 1);
    assert_true(pm_command_begin_again(command, &often));
    command->secondary = true; /* what it inherits is looked at */
    assert_false(pm_command_begin_again(command, &once));
    command->secondary = false;
    command->touched = true;
    assert_false(pm_command_begin_again(command, &once));
}

static void a_lost_device_measures_nothing(void **state)
{
    (void)state;
    for (enum pm_condition i = PM_RECORDING_SAMPLED; i <= PM_RECORDING_TIMED; i++) {
        start(i, false);
        bind_one(PM_COMPUTE, PROVEN_ONE);
        assert_int_not_equal(pm_binding_allowed(&world->command, PM_COMPUTE),
                             PM_BINDING_GAME | PM_BINDING_PROVEN);
        atomic_store(&device->lost, true);
        assert_int_equal(pm_binding_allowed(&world->command, PM_COMPUTE),
                         PM_BINDING_GAME | PM_BINDING_PROVEN);
        atomic_store(&device->lost, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_bound_is_put_back),
        cmocka_unit_test(what_fits_is_bound),
        cmocka_unit_test(what_is_tried_must_fit),
        cmocka_unit_test(untracked),
        cmocka_unit_test(begun_again),
        cmocka_unit_test(a_lost_device_measures_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
