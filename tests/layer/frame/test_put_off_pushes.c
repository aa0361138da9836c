/* A variant for values of push constants, of a pipeline that may not be bound again away from its
 * draws since another was made that leaves more states to commands (layer/frame/put_off.h): a push
 * binds nothing then, and no draw runs with what does not fit. */
#include "tests/layer/frame/binding_world.h"

#include "tests/cmocka_includes.h"

enum { LENGTH = 6 }; /* steps in a history, behind what it begins with */

enum step {
    LEAVES_MORE,
    PUSH_VALUE,
    PUSH_OTHER_VALUE,
    PUSH_OTHER_RANGES,
    FORGET_PUSHED, /* as generated commands do */
    DRAW,
    QUERY_BEGINS,
    QUERY_ENDS,
    FEEDBACK_BEGINS,
    FEEDBACK_ENDS,
    GENERATED,
    BIND_WATCHING,
    BIND_PROVEN,
    STEPS
};

static uint64_t histories, put_off, turned;

static int set_up(void **state)
{
    static const VkGraphicsPipelineCreateInfo graphics = {0};
    binding_set_up(state);
    pipelines[WATCHING]->graphics = &graphics;
    pipelines[WATCHING]->dynamic[0] = 1;
    return 0;
}

static struct pm_bound *bound_now(void)
{
    return &world->command.bound[PM_GRAPHICS];
}

static int kind(void)
{
    return binding_kind(world->driver[PM_GRAPHICS]);
}

static void say(bool more)
{
    world->more = more;
    atomic_store(&device->pipelines->dynamic.any[0], more ? 3 : 1);
}

static void push(int layout, uint32_t value)
{
    const struct pm_push pushed = {(VkPipelineLayout)(uintptr_t)layout, VK_SHADER_STAGE_ALL,
                                   4 * WORD, 4, &value};
    turned += world->command.pushed.stays != 0;
    pm_binding_push(&world->command, &pushed);
    world->fits[PM_GRAPHICS] = layout == 1 && value == VALUE;
}

static void bind(int pipeline)
{
    const uint64_t game = binding_handle(pipeline, GAME);
    world->driver[PM_GRAPHICS] =
        pm_binding_stand(device, &world->command, PM_GRAPHICS, game, pipelines[pipeline]);
}

/* As pm_sampled_call_begins has it. */
static void draw(void)
{
    if (world->command.put_off) {
        pm_binding_put_back_at_draw(&world->command);
        put_off++;
    }
    assert_true(world->feedback || !world->command.put_off);
    if (world->queries > 0 && !world->feedback)
        assert_int_equal(kind(), GAME);
    if (kind() == FITTING)
        assert_true(world->fits[PM_GRAPHICS]);
    if (kind() == TRIAL)
        assert_true(world->fits[PM_GRAPHICS]);
    if (!world->feedback)
        assert_int_equal(bound_now()->now, world->driver[PM_GRAPHICS]);
}

static void feedback_begins(void)
{
    pm_binding_obstacle_begins(&world->command, PM_ACTIVE_TRANSFORM_FEEDBACK);
    world->feedback = true;
    assert_true(kind() != FITTING && kind() != TRIAL);
}

static void generated(void)
{
    pm_binding_generated_begins(&world->command, PM_GRAPHICS);
    assert_int_equal(kind(), GAME);
    pm_binding_obstacle_ends(&world->command, PM_ACTIVE_GENERATED_COMMANDS);
}

/* false: Vulkan does not allow it here, or it says nothing. */
static bool apply(enum step step)
{
    const bool once_more = pm_binding_may_be_again(&world->command, PM_GRAPHICS);
    const uint32_t binds = world->binds;
    switch (step) {
    case LEAVES_MORE:
        if (world->more)
            return false;
        say(true);
        break;
    case PUSH_VALUE:
    case PUSH_OTHER_VALUE:
        push(1, step == PUSH_VALUE ? VALUE : OTHER_VALUE);
        break;
    case PUSH_OTHER_RANGES:
        push(3, VALUE);
        break;
    case FORGET_PUSHED:
        pm_pushed_forget(&world->command.pushed);
        pm_binding_pushed(&world->command);
        world->fits[PM_GRAPHICS] = false;
        break;
    case DRAW:
        draw();
        return true;
    case QUERY_BEGINS:
        world->queries++;
        world->left = world->left || !once_more;
        pm_binding_obstacle_begins(&world->command, PM_ACTIVE_QUERY);
        break;
    case QUERY_ENDS:
        if (world->queries == 0)
            return false;
        world->queries--;
        pm_binding_obstacle_ends(&world->command, PM_ACTIVE_QUERY);
        break;
    case FEEDBACK_BEGINS:
        if (world->feedback)
            return false;
        feedback_begins();
        return true;
    case FEEDBACK_ENDS:
        if (!world->feedback)
            return false;
        world->feedback = false;
        pm_binding_obstacle_ends(&world->command, PM_ACTIVE_TRANSFORM_FEEDBACK);
        break;
    case GENERATED:
        if (world->feedback)
            return false;
        generated();
        return true;
    case BIND_WATCHING:
    case BIND_PROVEN:
        if (world->feedback)
            return false;
        bind(step == BIND_WATCHING ? WATCHING : PROVEN_ONE);
        return true;
    case STEPS:
        fail();
    }
    if (!once_more)
        assert_int_equal(world->binds, binds);
    return true;
}

static void walk(int left)
{
    const struct world before = *world;
    for (int i = 0; i < STEPS; i++) {
        if (apply((enum step)i)) {
            histories++;
            if (left > 1)
                walk(left - 1);
            *world = before;
            say(before.more);
        }
    }
}

/* Behind a bind of what fits. */
static void begin(enum pm_condition recording)
{
    binding_start(recording, false);
    push(1, VALUE);
    bind(WATCHING);
    assert_int_equal(kind(), FITTING);
}

static void no_draw_has_what_does_not_fit(void **state)
{
    (void)state;
    histories = put_off = turned = 0;
    for (enum pm_condition i = PM_RECORDING_TRACKED; i <= PM_RECORDING_TIMED; i++) {
        begin(i);
        walk(i == PM_RECORDING_TRACKED ? LENGTH : LENGTH - 1);
    }
    assert_true(histories > 1000000 && put_off > 10000 && turned > 10000);
}

/* Nothing is bound at the push, also where a query began and ended since, and the next draw has
 * what fits then: the best variant, or in a query the game's own. */
static void what_fits_is_bound_at_the_draw(void **state)
{
    (void)state;
    for (int query = 0; query < 3; query++) {
        begin(PM_RECORDING_TRACKED);
        say(true);
        if (query == 1)
            apply(QUERY_BEGINS);
        push(1, OTHER_VALUE);
        if (query == 2)
            assert_true(apply(QUERY_BEGINS) && apply(QUERY_ENDS));
        assert_int_equal(world->binds, 0);
        assert_true(world->command.put_off);
        draw();
        assert_int_equal(world->binds, 1);
        assert_int_equal(kind(), query == 1 ? GAME : PROVEN);
    }
    /* It is pushed back before the draw, or behind it. */
    begin(PM_RECORDING_TRACKED);
    say(true);
    push(1, OTHER_VALUE);
    push(1, VALUE);
    draw();
    assert_true(world->binds == 0 && kind() == FITTING);
    push(1, OTHER_VALUE);
    draw();
    push(1, VALUE);
    assert_true(world->binds == 1 && kind() == PROVEN);
    draw();
    assert_true(world->binds == 2 && kind() == FITTING);
}

/* Nothing can be bound in it, so what watches pushes makes way before. */
static void transform_feedback(void **state)
{
    (void)state;
    for (int pushed = 0; pushed < 2; pushed++) {
        begin(PM_RECORDING_TRACKED);
        say(true);
        if (pushed)
            push(1, OTHER_VALUE);
        apply(FEEDBACK_BEGINS);
        assert_true(world->binds == 1 && kind() == GAME);
        push(1, pushed ? VALUE : OTHER_VALUE);
        draw();
        assert_true(apply(FEEDBACK_ENDS) && world->binds == 1);
    }
    /* What stands whatever is pushed need not. */
    binding_start(PM_RECORDING_TRACKED, false);
    bind(LEAVING_FEWER);
    apply(FEEDBACK_BEGINS);
    assert_true(world->binds == 0 && kind() == PROVEN);
}

/* A variant that is tried for what is pushed. */
static void one_that_is_tried(void **state)
{
    (void)state;
    for (int feedback = 0; feedback < 2; feedback++) {
        begin(PM_RECORDING_TIMED);
        world->command.pass.place = PM_PLACE_TIMED_PASS;
        pm_binding_cover(&world->command, PM_GRAPHICS, PM_BINDING_TRIAL_PASS,
                         binding_handle(WATCHING, TRIAL), &fitting.watch);
        pm_binding_bind(&world->command, PM_GRAPHICS);
        say(true);
        if (feedback) {
            apply(FEEDBACK_BEGINS);
            assert_int_equal(kind(), GAME);
        }
        const uint32_t binds = world->binds;
        push(1, OTHER_VALUE);
        assert_int_equal(world->binds, binds);
        draw();
        assert_int_equal(kind(), feedback ? GAME : PROVEN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_draw_has_what_does_not_fit, set_up, binding_tear_down),
        cmocka_unit_test_setup_teardown(what_fits_is_bound_at_the_draw, set_up, binding_tear_down),
        cmocka_unit_test_setup_teardown(transform_feedback, set_up, binding_tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_tried, set_up, binding_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
