#include "examples/terrain/land.h"
#include "base/random.h"
#include "examples/common/paint.h"
#include <math.h>

enum { SIDE = PM_LAND_SIDE };

/* Noise over the plane, in cells; never repeats within the land. */
static float noise_at(float x, float z, uint32_t salt)
{
    const float period = 1024.0f;
    return pm_noise((x + 512.0f) / period, (z + 512.0f) / period, 1024, salt);
}

static float fractal_at(float x, float z, int octaves, uint32_t salt)
{
    float sum = 0.0f, weight = 0.5f;
    for (int i = 0; i < octaves; i++, weight *= 0.5f) {
        sum += weight * noise_at(x, z, salt + (uint32_t)i);
        x = x * 2.0f + 3.7f;
        z = z * 2.0f + 1.3f;
    }
    return sum;
}

/* Sharp ridges, 0 to 1. */
static float ridges_at(float x, float z, int octaves, uint32_t salt)
{
    float sum = 0.0f, weight = 0.55f, carry = 1.0f;
    for (int i = 0; i < octaves; i++, weight *= 0.48f) {
        const float ridge = 1.0f - fabsf(2.0f * noise_at(x, z, salt + (uint32_t)i) - 1.0f);
        sum += weight * carry * ridge * ridge;
        carry = ridge;
        x = x * 2.0f + 7.1f;
        z = z * 2.0f + 5.9f;
    }
    return sum;
}

/* Peaks around a valley with a lake. */
static float alpine_height(float x, float z, uint32_t salt)
{
    const float out = sqrtf(x * x + z * z * 0.6f) / 384.0f;
    const float rise =
        pm_step(0.12f, 0.75f, out + 0.2f * (noise_at(x / 90.0f, z / 90.0f, salt) - 0.5f));
    const float peaks = ridges_at(x / 170.0f, z / 170.0f, 6, salt + 10);
    const float floor = fractal_at(x / 60.0f, z / 60.0f, 4, salt + 20);
    return rise * (30.0f + 190.0f * peaks) + 12.0f * (floor - 0.35f);
}

/* Where the canyon's river is. */
static float river_at(float z)
{
    return 70.0f * sinf(z / 95.0f) + 28.0f * sinf(z / 41.0f + 1.0f);
}

/* A plateau of layered rock, cut by a winding river with side canyons. */
static float canyon_height(float x, float z, uint32_t salt)
{
    const float away = fabsf(x - river_at(z));
    const float side = 60.0f * ridges_at(x / 130.0f, z / 130.0f, 3, salt + 10);
    const float rough = 46.0f * (fractal_at(x / 45.0f, z / 45.0f, 4, salt + 20) - 0.47f);
    const float wall = pm_clamp01((away + rough - side * 0.6f - 26.0f) / 90.0f);
    const float steps = wall * 5.0f, step = floorf(steps);
    const float terrace = (step + pm_step(0.2f, 0.8f, steps - step)) / 5.0f;
    const float dunes = fractal_at(x / 30.0f, z / 55.0f, 3, salt + 30);
    return 92.0f * terrace + 5.0f * dunes + 7.0f * pm_step(0.0f, 40.0f, away) - 6.0f;
}

/* An island with bays and a hill. */
static float island_height(float x, float z, uint32_t salt)
{
    const float turn = atan2f(z, x);
    const float shore = 200.0f + 45.0f * sinf(turn * 3.0f + 0.7f) + 20.0f * sinf(turn * 7.0f);
    const float ragged = 150.0f * (fractal_at(x / 110.0f, z / 110.0f, 5, salt) - 0.47f);
    const float inland = (shore - sqrtf(x * x + z * z) + ragged) / 100.0f;
    const float low = inland < 0.0f ? inland * 22.0f : 7.0f * pm_smooth(fminf(inland, 1.0f));
    const float hills = ridges_at(x / 150.0f, z / 150.0f, 5, salt + 10);
    return low + pm_step(0.35f, 1.5f, inland) * (85.0f * hills) +
           2.5f * (fractal_at(x / 25.0f, z / 25.0f, 3, salt + 30) - 0.4f);
}

static void alpine(struct pm_land *land)
{
    land->sea = 0.4f;
    land->swell = 0.1f;
    land->snow_line = 62.0f;
    land->snow = 1.0f;
    land->wetness = 0.6f;
    land->sun_direction = (pm_vec3){-0.2f, 0.55f, 0.75f};
    land->sun_color = (pm_vec3){3.0f, 2.75f, 2.4f};
    land->sky_low = (pm_vec3){0.62f, 0.74f, 0.88f};
    land->sky_high = (pm_vec3){0.15f, 0.30f, 0.62f};
    land->fog = 0.0010f;
    land->clouds = 0.42f;
    land->exposure = 0.62f;
    land->camera_radius[0] = 70.0f;
    land->camera_radius[1] = 110.0f;
    land->camera_height = 15.0f;
    land->camera_pitch = 0.02f;
    land->camera_turn = 0.4f;
    land->camera_speed = 0.10f;
}

static void canyon(struct pm_land *land)
{
    land->sea = -3.3f;
    land->swell = 0.2f;
    land->snow_line = 10000.0f;
    land->snow = 1.0f;
    land->wetness = 1.0f;
    land->sun_direction = (pm_vec3){-0.55f, 0.62f, 0.30f};
    land->sun_color = (pm_vec3){3.6f, 2.9f, 2.1f};
    land->sky_low = (pm_vec3){0.85f, 0.72f, 0.58f};
    land->sky_high = (pm_vec3){0.22f, 0.40f, 0.70f};
    land->fog = 0.0013f;
    land->clouds = 0.24f;
    land->exposure = 0.55f;
    land->camera = PM_CAMERA_RIVER;
    land->camera_radius[1] = 250.0f;
    land->camera_height = 17.0f;
    land->camera_pitch = -0.03f;
    land->camera_turn = 0.75f;
    land->camera_speed = 0.06f;
}

static void island(struct pm_land *land)
{
    land->sea = 0.0f;
    land->swell = 1.0f;
    land->snow_line = 10000.0f;
    land->snow = 1.0f;
    land->wetness = 1.0f;
    land->sun_direction = (pm_vec3){0.30f, 0.50f, -0.65f};
    land->sun_color = (pm_vec3){3.3f, 2.8f, 2.2f};
    land->sky_low = (pm_vec3){0.70f, 0.82f, 0.92f};
    land->sky_high = (pm_vec3){0.13f, 0.36f, 0.72f};
    land->fog = 0.0011f;
    land->clouds = 0.38f;
    land->exposure = 0.62f;
    land->camera_radius[0] = 215.0f;
    land->camera_radius[1] = 235.0f;
    land->camera_height = 24.0f;
    land->camera_pitch = -0.16f;
    land->camera_turn = 2.2f;
    land->camera_speed = 0.07f;
    land->camera = PM_CAMERA_INWARDS;
}

static const struct {
    void (*setup)(struct pm_land *);
    float (*height)(float x, float z, uint32_t salt);
} places[PM_LANDS] = {{alpine, alpine_height}, {canyon, canyon_height}, {island, island_height}};

float pm_land_height(const struct pm_land *land, float x, float z)
{
    const float u = (x / land->side + 0.5f) * SIDE - 0.5f,
                v = (z / land->side + 0.5f) * SIDE - 0.5f;
    const float most = SIDE - 1.001f;
    const float cu = fminf(fmaxf(u, 0.0f), most), cv = fminf(fmaxf(v, 0.0f), most);
    const int i = (int)cu, j = (int)cv;
    const float *row = land->heights + j * SIDE + i;
    return pm_mix(pm_mix(row[0], row[1], cu - (float)i),
                  pm_mix(row[SIDE], row[SIDE + 1], cu - (float)i), cv - (float)j);
}

/* Along the camera's way, where they are seen from near. */
static void place_decals(struct pm_land *land, struct pm_random *random)
{
    for (int i = 0; i < PM_LAND_DECALS; i++) {
        pm_vec3 eye, at;
        pm_land_camera(land, 4.0f * (float)i, &eye, &at);
        const float reach = land->camera == PM_CAMERA_INWARDS ? 27.0f : 54.0f; /* metres */
        const float spread = 30.0f * (float)pm_random_unit(random) - 15.0f;
        const float x = eye.x + reach * (at.x - eye.x) + spread,
                    z = eye.z + reach * (at.z - eye.z) - spread;
        const float turn = (float)pm_random_unit(random) * 2.0f * PM_PI;
        const float half = 7.0f + 6.0f * (float)pm_random_unit(random);
        const float c = cosf(turn) / half, s = sinf(turn) / half;
        land->decals[i] = (struct pm_decal){
            .place = {c, s, -s, c},
            .centre = {x, pm_land_height(land, x, z), z, (float)(i % 4)},
            .look = {0.9f, i % 4 == 1 ? 0.35f : 0.95f, 0.8f, 1.0f / 9.0f},
        };
    }
}

void pm_land_init(struct pm_land *land, unsigned number, uint64_t seed)
{
    *land = (struct pm_land){.side = 768.0f, .wind = {1.0f, 0.4f}};
    places[number].setup(land);
    land->sun_direction = pm_normalize(land->sun_direction);
    struct pm_random random;
    pm_random_init(&random, seed);
    const uint32_t salt = (uint32_t)pm_random_next(&random);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            land->heights[j * SIDE + i] =
                places[number].height((((float)i + 0.5f) / SIDE - 0.5f) * land->side,
                                      (((float)j + 0.5f) / SIDE - 0.5f) * land->side, salt);
    pm_land_paint(land, number, salt);
    place_decals(land, &random);
}

/* Where it is, and where it looks; only the directions of x and z count. */
static void camera_way(const struct pm_land *land, float turn, float *x, float *z, pm_vec3 *ahead)
{
    if (land->camera == PM_CAMERA_RIVER) {
        *z = -land->camera_radius[1] * cosf(turn);
        *x = river_at(*z);
        *ahead = (pm_vec3){river_at(*z + 90.0f) - *x, 0.0f, 90.0f};
        return;
    }
    *x = sinf(turn) * land->camera_radius[0];
    *z = cosf(turn) * land->camera_radius[1];
    *ahead = (pm_vec3){*z / land->camera_radius[1] * land->camera_radius[0], 0.0f,
                       -*x / land->camera_radius[0] * land->camera_radius[1]};
    if (land->camera == PM_CAMERA_INWARDS)
        *ahead = (pm_vec3){0.6f * ahead->x - *x, 0.0f, 0.6f * ahead->z - *z};
}

void pm_land_camera(const struct pm_land *land, float time, pm_vec3 *eye, pm_vec3 *at)
{
    float x, z;
    pm_vec3 ahead;
    camera_way(land, land->camera_turn + time * land->camera_speed, &x, &z, &ahead);
    ahead = pm_normalize(ahead);
    /* Above what is below and ahead, without following every bump. */
    float ground = 0.0f, weight = 0.0f;
    for (int i = -2; i <= 6; i++) {
        const float w = 1.0f / (1.0f + 0.2f * (float)(i * i)), along = 8.0f * (float)i;
        const float height = pm_land_height(land, x + ahead.x * along, z + ahead.z * along);
        ground += w * fmaxf(height, land->sea);
        weight += w;
    }
    *eye = (pm_vec3){x, ground / weight + land->camera_height, z};
    *at = pm_add(*eye, (pm_vec3){ahead.x, land->camera_pitch, ahead.z});
}
