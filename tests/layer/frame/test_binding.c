/* What is bound, over every short history of a recording: what a call ran with, that what was bound
 * is put back after each transition, once, and never where nothing can be bound; that what may not
 * be put back there is at the next draw that a query would see; and that a variant for values of
 * push constants is bound exactly where they have these values. */
#include "tests/layer/frame/binding_world.h"

#include "tests/cmocka_includes.h"

enum { LENGTH = 5 }; /* transitions in a history */

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
    BIND_LEAVING_FEWER,
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

/* Those that what may not be put back at once is about. */
static const uint8_t put_off[] = {
    BIND_LEAVING_FEWER, BIND_PROVEN, BIND_COMPUTE,    DRAW,          DISPATCH,
    QUERY_BEGINS,       QUERY_ENDS,  FEEDBACK_BEGINS, FEEDBACK_ENDS, PASS_BEGINS,
    PASS_ENDS,          GENERATED,   SHADERS_BOUND,
};

static uint64_t histories;

/* false: Vulkan does not allow it here. */
static bool apply(enum transition transition)
{
    switch (transition) {
    case BIND_PROVEN:
    case BIND_CANDIDATE:
    case BIND_UNKNOWN:
        if (world->feedback)
            return false;
        binding_bind(PM_GRAPHICS, transition == BIND_PROVEN      ? PROVEN_ONE
                                  : transition == BIND_CANDIDATE ? CANDIDATE
                                                                 : PIPELINES);
        return true;
    case BIND_COMPUTE:
        if (world->feedback)
            return false;
        binding_bind(PM_COMPUTE, PROVEN_ONE);
        return true;
    case DRAW:
        binding_call(PM_GRAPHICS);
        return true;
    case DISPATCH:
        if (world->in_pass)
            return false;
        binding_call(PM_COMPUTE);
        return true;
    case PASS_BEGINS:
    case PASS_OF_DRAWS_BEGINS:
        if (world->in_pass)
            return false;
        binding_pass_begins(transition == PASS_OF_DRAWS_BEGINS);
        return true;
    case PASS_ENDS:
        if (!world->in_pass || world->feedback)
            return false;
        binding_pass_ends();
        return true;
    case QUERY_BEGINS:
        binding_obstacle(PM_ACTIVE_QUERY);
        world->queries++;
        return true;
    case QUERY_ENDS:
        if (world->queries == 0)
            return false;
        world->queries--;
        binding_obstacle_ends(PM_ACTIVE_QUERY);
        return true;
    case FEEDBACK_BEGINS:
        if (!world->in_pass || world->feedback)
            return false;
        binding_obstacle(PM_ACTIVE_TRANSFORM_FEEDBACK);
        world->feedback = true;
        return true;
    case FEEDBACK_ENDS:
        if (!world->feedback)
            return false;
        world->feedback = false;
        binding_obstacle_ends(PM_ACTIVE_TRANSFORM_FEEDBACK);
        return true;
    case GENERATED:
        if (world->feedback && world->left)
            return false;
        binding_generated();
        return true;
    case SHADERS_BOUND:
        for (int i = 0; i < PM_BIND_POINTS; i++) {
            world->command.bound[i].pipeline = NULL;
            world->stands[i] = 0;
            world->watching[i] = false;
        }
        world->tried = world->fewer = world->left = false;
        return true;
    case BIND_LEAVING_FEWER:
        if (world->feedback)
            return false;
        binding_bind(PM_GRAPHICS, LEAVING_FEWER);
        return true;
    case BIND_WATCHING:
    case BIND_WATCHING_COMPUTE:
        if (world->feedback)
            return false;
        binding_bind(transition == BIND_WATCHING ? PM_GRAPHICS : PM_COMPUTE, WATCHING);
        return true;
    case PUSH_VALUE:
        binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        return true;
    case PUSH_PAIR:
        binding_push(1, VK_SHADER_STAGE_ALL, WORD - 1, 3, VALUE, true);
        return true;
    case PUSH_OTHER_VALUE:
        binding_push(1, VK_SHADER_STAGE_ALL, WORD - 1, 2, OTHER_VALUE, false);
        return true;
    case PUSH_OTHER_WORD:
        binding_push(1, VK_SHADER_STAGE_ALL, OTHER_WORD, 2, OTHER_VALUE, -1);
        return true;
    case PUSH_OTHER_RANGES:
        binding_push(3, VK_SHADER_STAGE_ALL, OTHER_WORD, 1, OTHER_VALUE, -1);
        return true;
    case PUSH_EQUAL_LAYOUT:
        binding_push(2, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        return true;
    case PUSH_UNKNOWN_LAYOUT:
        binding_push(4, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        return true;
    case FORGET_PUSHED:
        pm_pushed_forget(&world->command.pushed);
        pm_binding_pushed(&world->command);
        for (int i = 0; i < PM_BIND_POINTS; i++) {
            world->fits[i] = false;
            if (world->watching[i])
                world->stands[i] =
                    binding_may_rebind() ? binding_watching_stands(i) : world->game[i];
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
        binding_check();
        histories++;
        if (left > 1)
            walk(left - 1, list, count);
    }
    *world = before;
}

static void what_is_bound_is_put_back(void **state)
{
    (void)state;
    for (enum pm_condition i = PM_RECORDING_TRACKED; i <= PM_RECORDING_TIMED; i++) {
        for (int is_protected = 0; is_protected < 2; is_protected++) {
            binding_start(i, is_protected != 0);
            walk(LENGTH, NULL, BIND_WATCHING);
        }
    }
    assert_true(histories > 100000);
}

/* What may not be bound again where a query begins is at the first draw that the query would see,
 * once, and where none comes, or the game binds another before it, nothing is. */
static void what_is_put_off_is_put_back_at_a_draw(void **state)
{
    (void)state;
    histories = 0;
    for (enum pm_condition i = PM_RECORDING_TRACKED; i <= PM_RECORDING_TIMED; i++) {
        binding_start(i, false);
        walk(LENGTH, put_off, sizeof put_off);
    }
    assert_true(histories > 100000);
    for (int feedback = 0; feedback < 2; feedback++) {
        binding_start(PM_RECORDING_TRACKED, false);
        binding_bind(PM_GRAPHICS, LEAVING_FEWER);
        binding_obstacle(PM_ACTIVE_QUERY);
        world->queries++;
        assert_true(world->left && world->command.put_off);
        if (feedback)
            assert_true(apply(PASS_BEGINS) && apply(FEEDBACK_BEGINS));
        binding_call(PM_GRAPHICS);
        assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), feedback ? PROVEN : GAME);
        if (feedback)
            assert_true(apply(FEEDBACK_ENDS));
        binding_call(PM_GRAPHICS);
        assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), GAME);
        assert_false(world->command.put_off);
    }
}

/* A variant for values of push constants is bound exactly where they have these values, whatever
 * comes between. */
static void what_fits_is_bound(void **state)
{
    (void)state;
    histories = short_ways = short_binds = 0;
    for (enum pm_condition i = PM_RECORDING_TRACKED; i <= PM_RECORDING_TIMED; i++) {
        binding_start(i, false);
        walk(LENGTH - 1, few, sizeof few);
    }
    assert_true(histories > 100000);
    binding_start(PM_RECORDING_TRACKED, false);
    walk(LENGTH, few, 11);
    assert_true(short_ways > 10000 && short_binds > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_bound_is_put_back),
        cmocka_unit_test(what_is_put_off_is_put_back_at_a_draw),
        cmocka_unit_test(what_fits_is_bound),
    };
    return cmocka_run_group_tests(tests, binding_set_up, binding_tear_down);
}
