/* What is bound, in single cases: pushes that say less than they seem to, what is tried, recordings
 * that nobody tracks, begun anew, or of a lost device. */
#include "tests/layer/frame/binding_world.h"

#include "tests/cmocka_includes.h"

static void pushes_that_say_too_little(void **state)
{
    (void)state;
    /* One that began before anything was to be followed. */
    binding_start(PM_RECORDING_TRACKED, false);
    pm_pushed_begin(&world->command.pushed, 0);
    binding_bind(PM_GRAPHICS, WATCHING);
    binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), PROVEN);
    /* Half a word is nothing that Vulkan allows. */
    binding_start(PM_RECORDING_TRACKED, false);
    binding_bind(PM_GRAPHICS, WATCHING);
    binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), FITTING);
    const uint16_t half = 42;
    const struct pm_push odd = {(VkPipelineLayout)(uintptr_t)1, VK_SHADER_STAGE_ALL, 4 * WORD + 2,
                                2, &half};
    assert_true(pm_binding_push(&world->command, &odd));
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), PROVEN);
    binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), PROVEN);
    /* Nor is a push to some of the stages that read the word. */
    binding_start(PM_RECORDING_TRACKED, false);
    binding_bind(PM_GRAPHICS, WATCHING);
    binding_push(1, VK_SHADER_STAGE_FRAGMENT_BIT, WORD, 1, VALUE, false);
    binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), PROVEN);
}

/* One that is tried stays over what stands only while it fits. */
static void what_is_tried_must_fit(void **state)
{
    (void)state;
    const struct pm_watch *watch = &fitting.watch;
    for (int fits = 0; fits < 2; fits++) {
        binding_start(PM_RECORDING_TIMED, false);
        binding_bind(PM_GRAPHICS, WATCHING);
        binding_pass_begins(false);
        binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, true);
        assert_true(pm_binding_fits(&world->command, PM_GRAPHICS, watch));
        pm_binding_cover(&world->command, PM_GRAPHICS, PM_BINDING_TRIAL_PASS,
                         binding_handle(WATCHING, TRIAL), watch);
        pm_binding_bind(&world->command, PM_GRAPHICS);
        binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, fits ? VALUE : OTHER_VALUE, fits);
        assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), fits ? TRIAL : PROVEN);
        binding_pass_ends();
        assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), fits ? FITTING : PROVEN);
    }
    /* Bound before there was such a variant: nobody would notice its pushes. */
    binding_start(PM_RECORDING_TIMED, false);
    atomic_store(&pipelines[WATCHING]->folded, NULL);
    binding_bind(PM_GRAPHICS, WATCHING);
    atomic_store(&pipelines[WATCHING]->folded, &fitting);
    binding_push(1, VK_SHADER_STAGE_ALL, WORD, 1, VALUE, false);
    assert_false(pm_binding_fits(&world->command, PM_GRAPHICS, watch));
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), PROVEN);
    binding_bind(PM_GRAPHICS, PROVEN_ONE);
    world->fits[PM_GRAPHICS] = true;
    binding_bind(PM_GRAPHICS, WATCHING);
    assert_int_equal(binding_kind(world->driver[PM_GRAPHICS]), FITTING);
}

/* Of a recording that nobody tracks only what stands is known. */
static void untracked(void **state)
{
    (void)state;
    struct pm_pipeline *pipeline = pipelines[PROVEN_ONE];
    const uint64_t game = binding_handle(PROVEN_ONE, GAME),
                   best = binding_handle(PROVEN_ONE, PROVEN);
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, pipeline), best);
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, NULL), game);
    pm_binds_set(device, PM_BINDS_CAREFUL, PM_BINDS_CAREFUL); /* the game has what could see it */
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, pipeline), game);
    atomic_store(&device->binds, 0);
    assert_int_equal(pm_binding_stand(device, NULL, PM_COMPUTE, game, pipeline), game);
    atomic_store(&device->binds, PM_BINDS_PROVEN);
}

enum { TURNS = 20000 };

static void *turn_armed(void *unused)
{
    (void)unused;
    for (int i = 0; i < TURNS; i++) {
        pm_binds_set(device, PM_BINDS_ARMED, PM_BINDS_ARMED);
        assert_true(pm_binds_any(device, PM_BINDS_ARMED));
        pm_binds_set(device, PM_BINDS_ARMED, 0);
        assert_false(pm_binds_any(device, PM_BINDS_ARMED));
    }
    return NULL;
}

/* Who says what binds look for says it of his own bits alone, while others say theirs. */
static void bits_of_several(void **state)
{
    (void)state;
    const uint32_t binds = atomic_load(&device->binds);
    pthread_t other;
    atomic_store(&device->binds, PM_BINDS_CAREFUL);
    assert_int_equal(pthread_create(&other, NULL, turn_armed, NULL), 0);
    for (uint32_t i = 0; i < TURNS; i++) {
        const uint32_t said = i % (PM_BINDS_OF_VARIANTS + 1);
        pm_binds_set(device, PM_BINDS_OF_VARIANTS, said);
        assert_int_equal(atomic_load(&device->binds) & PM_BINDS_OF_VARIANTS, said);
    }
    pthread_join(other, NULL);
    pm_binds_set(device, PM_BINDS_OF_VARIANTS, 0);
    assert_int_equal(atomic_load(&device->binds), PM_BINDS_CAREFUL);
    atomic_store(&device->binds, binds);
}

/* A short way, and the long one beside it, leave the same behind a bind of the pipeline (NULL: none
 * of ours), and it stands. */
static void stands_shortly(enum pm_condition recording, uint32_t binds, int point, uint64_t game,
                           struct pm_pipeline *pipeline, uint64_t stands)
{
    struct pm_command *command = &world->command;
    struct pm_bound left[2];
    for (int shortly = 0; shortly < 2; shortly++) {
        binding_start(recording, false);
        atomic_store(&device->binds, binds);
        memset(&command->bound[point], 0x55, sizeof command->bound[point]);
        command->bound[point].watch = 0;
        command->pushed.ranges = NULL;
        if (shortly != 0)
            assert_true(pm_binding_stand_alone(binds, command, point, game, pipeline));
        else
            assert_int_equal(pm_binding_stand(device, command, point, game, pipeline), stands);
        left[shortly] = command->bound[point];
        assert_int_equal(left[shortly].now, stands);
    }
    assert_ptr_equal(left[0].pipeline, left[1].pipeline);
    assert_int_equal(left[0].game, left[1].game);
    assert_int_equal(left[0].standing, left[1].standing);
    assert_int_equal(left[0].kind, left[1].kind);
    assert_ptr_equal(left[0].built, left[1].built);
    assert_ptr_equal(left[0].cover, left[1].cover);
    assert_ptr_equal(left[0].passes, left[1].passes);
    assert_int_equal(left[0].watch, left[1].watch);
}

/* Where it is known what stands, the short way leaves what the long one does: with nothing of ours,
 * with nothing that stands, with a proven variant, and with one that may not be put back, which
 * stands nowhere where something may begin that could see it. */
static void stands_alone(void **state)
{
    (void)state;
    static const struct {
        enum pm_condition recording;
        uint32_t binds;
    } ways[] = {{PM_RECORDING_SAMPLED, PM_BINDS_ARMED},
                {PM_RECORDING_SAMPLED, PM_BINDS_ARMED | PM_BINDS_CAREFUL},
                {PM_RECORDING_TRACKED, PM_BINDS_ARMED | PM_BINDS_CAREFUL},
                {PM_RECORDING_TRACKED, PM_BINDS_CAREFUL}};
    static const VkGraphicsPipelineCreateInfo graphics = {0};
    enum { NONE, NEVER, ITSELF, VARIANT, FOR_GOOD, CASES };
    const uint32_t binds = atomic_load(&device->binds);
    _Atomic uint64_t *const any = &device->pipelines->dynamic.any[0];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] * PM_BIND_POINTS * CASES; i++) {
        const size_t way = i / CASES / PM_BIND_POINTS;
        const int point = (int)(i / CASES % PM_BIND_POINTS), known = (int)(i % CASES);
        const int which = known < VARIANT ? CANDIDATE : PROVEN_ONE;
        struct pm_pipeline *pipeline = known != NONE ? pipelines[which] : NULL;
        const uint64_t game = binding_handle(which, GAME),
                       stands = known < VARIANT ? game : binding_handle(which, PROVEN);
        if (pipeline != NULL)
            atomic_store(&pipeline->stands.now, known == NEVER ? 0 : stands);
        if (known == FOR_GOOD) {
            pipeline->graphics = &graphics;
            atomic_store(any, 1);
            atomic_store(&device->pipelines->seen, true);
        }
        stands_shortly(ways[way].recording, ways[way].binds | (known < ITSELF ? 0 : PM_BINDS_STAND),
                       point, game, pipeline,
                       known == FOR_GOOD && (ways[way].binds & PM_BINDS_CAREFUL) != 0 ? game
                                                                                      : stands);
        atomic_store(any, 0);
        atomic_store(&device->pipelines->seen, false);
        if (pipeline == NULL)
            continue;
        pipeline->graphics = NULL;
        atomic_store(&pipeline->stands.now, 0);
    }
    atomic_store(&device->binds, binds);
}

/* What was bound lately is what a bind that the record follows leaves, and each bind point has its
 * own; from then on nothing is bound lately before the record is plain again. */
static void bound_lately(void **state)
{
    (void)state;
    struct pm_command *command = &world->command;
    const uint64_t unknown = 0x7fff;
    const uint64_t games[] = {binding_handle(PROVEN_ONE, GAME), binding_handle(CANDIDATE, GAME),
                              unknown, 0};
    for (int i = 0; i < 4 * 4; i++) {
        const uint64_t game[PM_BIND_POINTS] = {games[i % 4], games[i / 4]};
        struct pm_bound before[PM_BIND_POINTS];
        binding_start(PM_RECORDING_TRACKED, false);
        memset(command->bound, 0x55, sizeof command->bound);
        memcpy(before, command->bound, sizeof before);
        command->plain_points = PM_BIND_POINTS;
        for (int point = 0; point < PM_BIND_POINTS; point++) {
            command->lately.game[point] = game[point];
            command->lately.now[point] =
                game[point] == games[0] ? binding_handle(PROVEN_ONE, PROVEN) : game[point];
        }
        pm_binding_catch_up(command);
        assert_int_equal(command->plain_points, 0);
        for (int point = 0; point < PM_BIND_POINTS; point++) {
            const struct pm_bound *bound = &command->bound[point];
            assert_int_equal(command->lately.game[point], 0);
            if (game[point] == 0) {
                assert_memory_equal(bound, &before[point], sizeof *bound);
                continue;
            }
            assert_ptr_equal(bound->pipeline, game[point] == games[0]   ? pipelines[PROVEN_ONE]
                                              : game[point] == games[1] ? pipelines[CANDIDATE]
                                                                        : NULL);
            assert_int_equal(bound->game, game[point]);
            assert_int_equal(bound->standing, command->lately.now[point]);
            assert_int_equal(bound->now, bound->standing);
            assert_int_equal(bound->kind,
                             game[point] == games[0] ? PM_BINDING_PROVEN : PM_BINDING_GAME);
            assert_true(bound->watch == 0 && bound->cover == NULL && bound->passes == NULL);
        }
    }
}

/* What a bind writes into the record is newer than what was bound lately at its bind point: another
 * thread has said what stands while the bind looked. */
static void bound_since(void **state)
{
    (void)state;
    struct pm_command *command = &world->command;
    const uint64_t lately = binding_handle(PROVEN_ONE, GAME),
                   since = binding_handle(CANDIDATE, GAME);
    for (int point = 0; point < PM_BIND_POINTS; point++) {
        binding_start(PM_RECORDING_TRACKED, false);
        command->countdown = PM_NEVER;
        command->pushed.wanted = 0;
        command->pushed.ranges = NULL;
        command->plain_points = PM_BIND_POINTS;
        for (int i = 0; i < PM_BIND_POINTS; i++) {
            command->lately.game[i] = lately;
            command->lately.now[i] = binding_handle(PROVEN_ONE, PROVEN);
        }
        assert_true(pm_binding_stand_as(command, point, since, since, pipelines[CANDIDATE], true));
        assert_int_equal(command->plain_points, PM_BIND_POINTS);
        pm_binding_catch_up(command);
        for (int i = 0; i < PM_BIND_POINTS; i++) {
            const bool bound = i == point;
            assert_int_equal(command->bound[i].game, bound ? since : lately);
            assert_ptr_equal(command->bound[i].pipeline, pipelines[bound ? CANDIDATE : PROVEN_ONE]);
            assert_int_equal(binding_kind(command->bound[i].now), bound ? GAME : PROVEN);
        }
    }
}

/* What is bound goes to the short note from a bind on that is alone: of a recording that is
 * sampled; of others not where what is pushed is followed, nor where nothing sees a variant. */
static void plain_recordings(void **state)
{
    (void)state;
    struct pm_command *command = &world->command;
    const uint32_t careful = PM_BINDS_CAREFUL | PM_BINDS_NOTICED;
    for (int i = 0; i < 8; i++) {
        const bool sampled = (i & 1) != 0, follows = (i & 2) != 0, is_careful = (i & 4) == 0;
        binding_start(sampled ? PM_RECORDING_SAMPLED : PM_RECORDING_TRACKED, false);
        command->countdown = PM_NEVER;
        command->pushed.wanted = follows ? 1 : 0;
        command->pushed.ranges = NULL;
        const bool stands = pm_binding_stand_alone(is_careful ? careful : PM_BINDS_ARMED, command,
                                                   PM_COMPUTE, 0x7fff, NULL);
        assert_int_equal(stands, sampled || is_careful);
        const bool plain = sampled || (!follows && is_careful);
        assert_int_equal(command->plain_points, plain ? PM_BIND_POINTS : 0);
        assert_int_equal(command->touched, stands);
    }
}

/* Whatever else there is to do, a bind goes the long way, and the short one does nothing. */
static void does_not_stand_alone(void **state)
{
    (void)state;
    const uint32_t binds = atomic_load(&device->binds);
    struct pm_command *command = &world->command;
    struct pm_push_ranges *const ranges = (struct pm_push_ranges *)pipelines[WATCHING]->push_ranges;
    enum {
        UNKNOWN,
        PAUSED,
        QUERIED,
        PROTECTED,
        WATCHED_ANY,
        WATCHED,
        PUSHED,
        ARMED,
        LOOKED_AT,
        TIMED,
        UNTRACKED,
        IN_PASSES,
        REASONS
    };
    for (int i = 0; i < 3 * REASONS; i++) {
        /* In windows; and where each recording is tracked, one that is sampled or not. */
        const int reason = i % REASONS;
        const bool careful = i >= REASONS, sampled = i < 2 * REASONS;
        if ((reason == UNTRACKED && careful) ||
            ((reason == IN_PASSES || reason == PUSHED) && sampled))
            continue;
        binding_start(reason == TIMED                   ? PM_RECORDING_TIMED
                      : reason == UNTRACKED || !sampled ? PM_RECORDING_TRACKED
                                                        : PM_RECORDING_SAMPLED,
                      false);
        atomic_store(&device->binds, PM_BINDS_ARMED | PM_BINDS_NOTICED |
                                         (reason == PAUSED ? 0 : PM_BINDS_PROVEN) |
                                         (careful ? (uint32_t)PM_BINDS_CAREFUL : 0) |
                                         (reason == WATCHED_ANY ? (uint32_t)PM_BINDS_WATCHED : 0));
        if (reason == IN_PASSES)
            command->countdown = 1;
        atomic_store(&pipelines[PROVEN_ONE]->stands.now,
                     reason == UNKNOWN ? 0 : binding_handle(PROVEN_ONE, PROVEN));
        command->active_queries = reason == QUERIED;
        command->active = reason == PROTECTED ? PM_CONDITION(PM_ACTIVE_PROTECTED) : 0;
        command->watched = reason == WATCHED;
        command->pushed.ranges = reason == PUSHED ? ranges : NULL;
        command->pushed.stays = reason == ARMED;
        command->behind = reason == LOOKED_AT ? 3 : 0;
        const struct pm_bound before = command->bound[PM_COMPUTE];
        assert_false(pm_binding_stand_alone(atomic_load(&device->binds), command, PM_COMPUTE,
                                            binding_handle(PROVEN_ONE, GAME),
                                            pipelines[PROVEN_ONE]));
        assert_memory_equal(&before, &command->bound[PM_COMPUTE], sizeof before);
    }
    command->watched = command->behind = 0;
    command->pushed.ranges = NULL;
    command->pushed.stays = 0;
    atomic_store(&pipelines[PROVEN_ONE]->stands.now, 0);
    atomic_store(&device->binds, binds);
}

static void a_lost_device_measures_nothing(void **state)
{
    (void)state;
    for (enum pm_condition i = PM_RECORDING_SAMPLED; i <= PM_RECORDING_TIMED; i++) {
        binding_start(i, false);
        binding_bind(PM_COMPUTE, PROVEN_ONE);
        assert_int_not_equal(pm_binding_allowed(&world->command, PM_COMPUTE),
                             PM_BINDING_GAME | PM_BINDING_PROVEN);
        atomic_store(&device->lost, true);
        assert_int_equal(pm_binding_allowed(&world->command, PM_COMPUTE),
                         PM_BINDING_GAME | PM_BINDING_PROVEN);
        atomic_store(&device->lost, false);
    }
}

/* Of the calls that are looked at while a shader is owed some, those that were not chosen are let
 * by where their pipeline has no variant; one in so many is chosen all the same. */
static void what_is_not_chosen_is_let_by(void **state)
{
    (void)state;
    enum { LOOKS = 60000, TIMES = 6, EXPECTED = LOOKS / TIMES, FIVE_SIGMA = 460 };
    binding_start(PM_RECORDING_SAMPLED, false);
    binding_bind(PM_GRAPHICS, CANDIDATE);
    struct pm_command *command = &world->command;
    struct pm_predicated *predicated = command->predicated;
    pm_random_init(&command->random, 1);
    command->probability = 0.01;
    command->owes = true;
    sampling->most_times = TIMES;
    atomic_store(&sampling->windows, 1);
    pm_sampling_owe(sampling, pm_sampling_when(sampling));
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < LOOKS; i++) {
        command->times = TIMES;
        command->countdown = 0;
        if (pm_binding_lets_by(command, PM_GRAPHICS)) {
            assert_int_not_equal(command->countdown, 0);
            assert_true(command->times > 1);
            continue;
        }
        chosen++;
        assert_int_equal(command->countdown, 0);
        assert_false(command->times > 1); /* pm_binding_sample need not find out */
    }
    assert_in_range(chosen, EXPECTED - FIVE_SIGMA, EXPECTED + FIVE_SIGMA);
    enum { CHOSEN, HAS_VARIANT, LOOKED_AT, PUT_OFF, TWICE, TRACKED, OTHERS };
    for (int other = 0; other < OTHERS; other++) {
        command->times = other == CHOSEN ? 1 : TIMES;
        atomic_store(&pipelines[CANDIDATE]->variants, other == HAS_VARIANT);
        command->behind = other == LOOKED_AT;
        command->put_off = other == PUT_OFF;
        command->predicated = other == TWICE ? (void *)world : predicated;
        command->recording = other == TRACKED ? PM_RECORDING_TRACKED : PM_RECORDING_SAMPLED;
        command->countdown = 0;
        const struct pm_random before = command->random;
        for (int i = 0; i < 100; i++)
            assert_false(pm_binding_lets_by(command, PM_GRAPHICS));
        assert_memory_equal(&command->random, &before, sizeof before);
        assert_int_equal(command->countdown, 0);
    }
    command->recording = PM_RECORDING_SAMPLED;
    atomic_store(&sampling->windows, 0);
    atomic_store(&sampling->owed_at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_that_say_too_little),
        cmocka_unit_test(what_is_tried_must_fit),
        cmocka_unit_test(untracked),
        cmocka_unit_test(bits_of_several),
        cmocka_unit_test(stands_alone),
        cmocka_unit_test(bound_lately),
        cmocka_unit_test(bound_since),
        cmocka_unit_test(plain_recordings),
        cmocka_unit_test(does_not_stand_alone),
        cmocka_unit_test(a_lost_device_measures_nothing),
        cmocka_unit_test(what_is_not_chosen_is_let_by),
    };
    return cmocka_run_group_tests(tests, binding_set_up, binding_tear_down);
}
