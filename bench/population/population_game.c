#include "bench/population/population_game.h"

#include "bench/population/population_draw.h"
#include "sampler/sampler.h"
#include <math.h>
#include <string.h>

#define SUBGROUP 32
#define SCENES 4

/* What the calls of one session have in common. */
struct session {
    uint32_t scene;
    double resolution; /* of its screen, around 1 */
    double taste;      /* the client's own, around 1: settings, way of playing */
    bool effect;       /* a setting that one client in ten has on */
    double loop;       /* the session's own length of a loop */
    bool seldom;       /* one session in twenty goes there at all */
};

struct call {
    double lanes;
    bool full_screen;
    double loop; /* the call's own */
};

/* Client k is always the same. */
static struct session begin(uint32_t client, struct pm_random *random)
{
    struct pm_random own;
    pm_random_init(&own, 0x5eed0000u + client);
    struct session session = {.resolution = exp(0.5 * pm_population_normal(&own)),
                              .taste = exp(0.3 * pm_population_normal(&own)),
                              .effect = pm_random_below(&own, 10) == 0};
    session.scene = pm_random_below(random, SCENES);
    session.loop = exp(2 + 0.6 * pm_population_normal(random));
    session.seldom = pm_random_below(random, 20) == 0;
    return session;
}

/* ---- points ---- */

static double always(const struct session *session, const struct call *call)
{
    (void)session;
    (void)call;
    return 1;
}

static double never(const struct session *session, const struct call *call)
{
    (void)session;
    (void)call;
    return 0;
}

static double rare(const struct session *session, const struct call *call)
{
    (void)call;
    return 0.01 * session->taste;
}

static double nearly_always(const struct session *session, const struct call *call)
{
    (void)call;
    return 1 - 0.01 * session->taste;
}

static double usual(const struct session *session, const struct call *call)
{
    (void)call;
    return 0.35 * session->taste;
}

static double by_setting(const struct session *session, const struct call *call)
{
    (void)call;
    return session->effect;
}

static double by_scene(const struct session *session, const struct call *call)
{
    (void)call;
    return session->scene == 0 ? 0.9 : 0.1;
}

static double by_size(const struct session *session, const struct call *call)
{
    (void)session;
    return call->full_screen ? 0.3 : 0.8;
}

static double loop_constant(const struct session *session, const struct call *call)
{
    (void)session;
    (void)call;
    return 8;
}

static double loop_of_call(const struct session *session, const struct call *call)
{
    (void)session;
    return call->loop;
}

static double loop_of_session(const struct session *session, const struct call *call)
{
    (void)call;
    return session->loop;
}

static double loop_by_scene(const struct session *session, const struct call *call)
{
    (void)call;
    return session->scene == 0 ? 16 : 4;
}

static double loop_seldom(const struct session *session, const struct call *call)
{
    (void)call;
    return session->seldom ? 16 : 0;
}

static double loop_near_zero(const struct session *session, const struct call *call)
{
    (void)call;
    return 0.02 * session->loop;
}

static const struct {
    const char *name;
    double (*ratio)(const struct session *session, const struct call *call);
    bool bounded;
} kinds[PM_GAME_POINTS] = {
    {"always", always, true},
    {"never", never, true},
    {"about 1 % of lanes", rare, true},
    {"about 99 % of lanes", nearly_always, true},
    {"about 35 %, clients differ", usual, true},
    {"all or none, 10 % of clients", by_setting, true},
    {"0.9 in one of four scenes, 0.1 else", by_scene, true},
    {"0.3 on full screens, 0.8 else", by_size, true},
    {"loop, always 8", loop_constant, false},
    {"loop, calls differ", loop_of_call, false},
    {"loop, sessions differ", loop_of_session, false},
    {"loop, 16 in one of four scenes, 4 else", loop_by_scene, false},
    {"loop, 16 in 5 % of sessions, 0 else", loop_seldom, false},
    {"loop, 0.02 of its lanes enter it", loop_near_zero, false},
};

const char *pm_game_point_name(uint32_t point)
{
    return kinds[point].name;
}

bool pm_game_point_is_bounded(uint32_t point)
{
    return kinds[point].bounded;
}

const uint8_t *pm_game_at_most_once(void)
{
    static const uint8_t bitmap[(PM_GAME_POINTS + 7) / 8] = {0xff, 0x00};
    return bitmap;
}

/* ---- sessions ---- */

static struct call draw_call(const struct session *session, struct pm_random *random)
{
    struct call call = {.full_screen = pm_random_below(random, 4) == 0};
    const double size = call.full_screen ? 2e6 : exp(7 + 1.2 * pm_population_normal(random));
    call.lanes = fmax(floor(size * session->resolution), 1);
    call.loop = floor(1 + -3 * log(1 - pm_random_unit(random)));
    return call;
}

static void count(uint32_t point, const struct session *session, const struct call *call,
                  struct pm_random *random, struct pm_point_counts *out)
{
    double lanes =
        floor(call->lanes * fmax(kinds[point].ratio(session, call), 0) + pm_random_unit(random));
    if (kinds[point].bounded)
        lanes = fmin(lanes, call->lanes);
    const uint64_t y = (uint64_t)lanes;
    out->point = point;
    out->calls++;
    out->entry_lanes += (uint64_t)call->lanes;
    out->entry_subgroups += ((uint64_t)call->lanes + SUBGROUP - 1) / SUBGROUP;
    out->counts[PM_BLOCK_LANES] += y;
    out->counts[PM_BLOCK_UNIFORM_LANES] += y / 2;
    out->counts[PM_BLOCK_SUBGROUPS] += (y + SUBGROUP - 1) / SUBGROUP;
}

/* The calls of all windows, thinned by p; the windows are 1 and as many more as a geometric draw
 * gives. */
static uint64_t sampled_calls(const struct pm_game_setup *setup, struct pm_random *random)
{
    uint64_t windows = 1, sampled = 0;
    if (setup->windows > 1)
        windows = pm_geometric(random, 1 / setup->windows);
    const uint64_t calls = (uint64_t)(setup->calls * setup->window_frames * (double)windows);
    for (uint64_t at = pm_geometric(random, setup->api_probability); at <= calls;
         at += pm_geometric(random, setup->api_probability))
        sampled++;
    return sampled;
}

uint32_t pm_game_play(const struct pm_game_setup *setup, struct pm_random *random,
                      struct pm_point_counts *points, uint32_t *client)
{
    struct pm_point_counts all[PM_GAME_POINTS] = {0};
    *client = pm_random_below(random, setup->clients);
    const struct session session = begin(*client, random);
    struct pm_shader_sampler *sampler = pm_shader_sampler_create(
        &(struct pm_sampler_space){PM_GAME_POINTS, setup->batch, NULL}, 1, pm_random_next(random));
    if (!sampler)
        return 0;
    for (uint64_t left = sampled_calls(setup, random); left > 0; left--) {
        const struct call call = draw_call(&session, random);
        uint32_t size;
        const uint32_t *batch =
            pm_shader_sampler_batch(sampler, pm_shader_sampler_next(sampler), &size);
        for (uint32_t i = 0; i < size; i++)
            count(batch[i], &session, &call, random, &all[batch[i]]);
    }
    pm_shader_sampler_destroy(sampler);
    uint32_t used = 0;
    for (uint32_t i = 0; i < PM_GAME_POINTS; i++) {
        if (all[i].calls > 0)
            points[used++] = all[i];
    }
    return used;
}

void pm_game_find_truth(const struct pm_game_setup *setup, uint64_t sessions, uint64_t seed,
                        struct pm_game_truth *truth)
{
    struct pm_random random;
    long double x[PM_GAME_POINTS] = {0}, y[PM_GAME_POINTS] = {0}, r[PM_GAME_POINTS] = {0};
    uint64_t n[PM_GAME_POINTS] = {0};
    pm_random_init(&random, seed);
    for (uint64_t i = 0; i < sessions; i++) {
        struct pm_point_counts points[PM_GAME_POINTS];
        uint32_t client;
        const uint32_t used = pm_game_play(setup, &random, points, &client);
        for (uint32_t j = 0; j < used; j++) {
            const struct pm_point_counts *counts = &points[j];
            const long double lanes = (long double)counts->counts[PM_BLOCK_LANES];
            n[counts->point]++;
            x[counts->point] += counts->entry_lanes;
            y[counts->point] += lanes;
            r[counts->point] += lanes / counts->entry_lanes;
        }
    }
    for (uint32_t i = 0; i < PM_GAME_POINTS; i++)
        truth[i] = (struct pm_game_truth){n[i] ? (double)(r[i] / n[i]) : 0,
                                          x[i] > 0 ? (double)(y[i] / x[i]) : 0};
}
