#include "examples/postprocess/stage.h"
#include "base/random.h"

struct builder {
    struct pm_stage *stage;
    struct pm_random random;
};

static float unit(struct builder *b)
{
    return (float)pm_random_unit(&b->random);
}

static void set(struct builder *b, struct pm_shape *shape, pm_vec3 centre, pm_vec3 color,
                float roughness)
{
    *shape = (struct pm_shape){
        .constants = {.place = {centre.x, centre.y, centre.z},
                      .half_size = {0.0f, 0.0f, 0.0f, roughness},
                      .color = {color.x, color.y, color.z},
                      .turn = {0.0f, 1.0f}},
        .phase = unit(b) * 2.0f * PM_PI,
    };
}

/* At most PM_BALLS; standing on the floor. */
static struct pm_shape *ball(struct builder *b, float x, float z, float radius, pm_vec3 color,
                             float roughness)
{
    struct pm_shape *shape = &b->stage->balls[b->stage->ball_count++];
    set(b, shape, (pm_vec3){x, radius, z}, color, roughness);
    shape->constants.place[3] = radius;
    return shape;
}

/* At most PM_BOXES; standing on the floor. */
static struct pm_shape *box(struct builder *b, float x, float z, pm_vec3 size, float turn,
                            pm_vec3 color, float roughness)
{
    struct pm_shape *shape = &b->stage->boxes[b->stage->box_count++];
    set(b, shape, (pm_vec3){x, size.y * 0.5f, z}, color, roughness);
    shape->constants.half_size[0] = size.x * 0.5f;
    shape->constants.half_size[1] = size.y * 0.5f;
    shape->constants.half_size[2] = size.z * 0.5f;
    shape->constants.turn[0] = sinf(turn);
    shape->constants.turn[1] = cosf(turn);
    return shape;
}

static pm_vec3 hue(struct builder *b)
{
    const float hue = unit(b) * 6.0f;
    const float red = fabsf(hue - 3.0f) - 1.0f, green = 2.0f - fabsf(hue - 2.0f),
                blue = 2.0f - fabsf(hue - 4.0f);
    return (pm_vec3){fminf(fmaxf(red, 0.1f), 1.0f), fminf(fmaxf(green, 0.1f), 1.0f),
                     fminf(fmaxf(blue, 0.1f), 1.0f)};
}

/* Sculptures on tiles, by day. */
static void build_gallery(struct builder *b)
{
    struct pm_stage *s = b->stage;
    for (int i = 0; i < 8; i++) {
        const float turn = (float)i * 2.4f, out = 1.2f + 0.62f * (float)i;
        struct pm_shape *shape =
            ball(b, sinf(turn) * out, cosf(turn) * out, 0.35f + 0.5f * unit(b),
                 i % 3 == 0 ? (pm_vec3){0.9f, 0.75f, 0.5f} : hue(b), i % 3 == 0 ? 0.12f : 0.5f);
        shape->constants.color[3] = i % 3 == 0 ? 1.0f : 0.0f;
        shape->hop = i % 4 == 1 ? 0.5f : 0.0f;
        shape->speed = 2.0f;
    }
    for (int i = 0; i < 10; i++) {
        const float turn = (float)i * PM_PI * 0.2f + 0.2f;
        box(b, sinf(turn) * 8.5f, cosf(turn) * 8.5f,
            (pm_vec3){1.2f, 2.0f + 3.0f * unit(b), 1.2f + 2.0f * unit(b)}, turn,
            (pm_vec3){0.62f, 0.6f, 0.55f}, 0.6f);
    }
    s->sun_direction = (pm_vec3){0.5f, 0.7f, 0.35f};
    s->sun_color = (pm_vec3){2.6f, 2.4f, 2.0f};
    s->sky_low = (pm_vec3){0.65f, 0.72f, 0.80f};
    s->sky_high = (pm_vec3){0.20f, 0.36f, 0.66f};
    s->ambient = 0.55f;
    s->exposure = 0.55f;
    s->sun_in_sky = 1.0f;
    const float bloom[] = {1.6f, 0.5f, 0.35f, 0.3f}, focus[] = {9.0f, 3.5f, 14.0f, 0.5f};
    for (int i = 0; i < 4; i++) {
        s->bloom[i] = bloom[i];
        s->focus[i] = focus[i];
    }
    s->camera_at = (pm_vec3){0.0f, 0.8f, 0.0f};
    s->camera_distance = 9.0f;
    s->camera_height = 2.6f;
    s->camera_turn = 0.5f;
    s->camera_sweep = 0.5f;
}

/* Lamps and signs over puddles, at night. */
static void build_street(struct builder *b)
{
    struct pm_stage *s = b->stage;
    for (int i = 0; i < 5; i++) {
        const float side = i & 1 ? 1.0f : -1.0f, z = 5.0f - 3.2f * (float)i;
        struct pm_shape *shape = ball(b, side * 2.6f, z, 0.22f, hue(b), 0.6f);
        shape->constants.place[1] = 2.9f;
        shape->constants.before[3] = 7.0f;
        shape->hop = 0.06f;
        shape->speed = 1.5f;
    }
    for (int i = 0; i < 3; i++) { /* rolling by */
        struct pm_shape *shape =
            ball(b, 1.2f * (float)i - 1.3f, 0.0f, 0.4f, (pm_vec3){0.75f, 0.77f, 0.8f}, 0.15f);
        shape->constants.color[3] = 1.0f;
        shape->orbit = 4.0f;
        shape->speed = 0.7f;
    }
    for (int i = 0; i < 8; i++) {
        const float side = i & 1 ? 1.0f : -1.0f, z = 4.5f * (float)(i / 2) - 8.0f;
        box(b, side * (5.6f + unit(b)), z, (pm_vec3){3.0f, 4.0f + 6.0f * unit(b), 4.0f}, 0.0f,
            (pm_vec3){0.16f, 0.15f, 0.15f}, 0.8f);
    }
    for (int i = 0; i < 4; i++) { /* signs */
        const float side = i & 1 ? 1.0f : -1.0f;
        struct pm_shape *shape = box(b, side * 3.9f, 4.5f * (float)(i / 2) - 5.5f,
                                     (pm_vec3){0.12f, 1.6f, 0.5f}, 0.0f, hue(b), 0.9f);
        shape->constants.place[1] = 2.4f;
        shape->constants.before[3] = 4.0f;
    }
    s->sun_direction = (pm_vec3){-0.3f, 0.6f, 0.4f};
    s->sun_color = (pm_vec3){0.10f, 0.13f, 0.19f};
    s->sky_low = (pm_vec3){0.05f, 0.06f, 0.085f};
    s->sky_high = (pm_vec3){0.012f, 0.016f, 0.035f};
    s->ambient = 1.2f;
    s->exposure = 1.3f;
    s->wet = 1.0f;
    const float bloom[] = {1.0f, 0.4f, 0.5f, 0.5f}, focus[] = {8.0f, 5.0f, 12.0f, 0.5f};
    for (int i = 0; i < 4; i++) {
        s->bloom[i] = bloom[i];
        s->focus[i] = focus[i];
    }
    s->camera_at = (pm_vec3){0.0f, 1.1f, 0.0f};
    s->camera_distance = 10.0f;
    s->camera_height = 1.6f;
    s->camera_turn = 0.0f;
    s->camera_sweep = 0.16f;
}

/* Monoliths against the low sun. */
static void build_plain(struct builder *b)
{
    struct pm_stage *s = b->stage;
    for (int i = 0; i < 7; i++) {
        struct pm_shape *shape = ball(b, 4.5f * unit(b) - 2.2f, 4.0f * (float)i - 14.0f, 0.5f,
                                      (pm_vec3){0.9f, 0.62f, 0.42f}, 0.3f);
        shape->orbit = 0.8f;
        shape->hop = 1.2f;
        shape->speed = 1.0f + unit(b);
        shape->constants.color[3] = (float)(i & 1);
    }
    for (int i = 0; i < 12; i++) {
        const float side = i & 1 ? 1.0f : -1.0f;
        box(b, side * (4.0f + 5.0f * unit(b)), 3.4f * (float)i - 26.0f,
            (pm_vec3){0.8f + unit(b), 3.0f + 6.0f * unit(b), 1.5f}, unit(b) * PM_PI,
            (pm_vec3){0.30f, 0.27f, 0.26f}, 0.35f);
    }
    s->sun_direction = (pm_vec3){0.12f, 0.16f, -1.0f};
    s->sun_color = (pm_vec3){4.2f, 2.3f, 1.1f};
    s->sky_low = (pm_vec3){0.85f, 0.48f, 0.30f};
    s->sky_high = (pm_vec3){0.16f, 0.22f, 0.42f};
    s->ambient = 0.4f;
    s->exposure = 0.65f;
    s->sun_in_sky = 1.0f;
    const float bloom[] = {1.8f, 0.8f, 0.4f, 0.9f}, focus[] = {14.0f, 8.0f, 16.0f, 0.7f};
    for (int i = 0; i < 4; i++) {
        s->bloom[i] = bloom[i];
        s->focus[i] = focus[i];
    }
    s->camera_at = (pm_vec3){0.0f, 1.4f, -4.0f};
    s->camera_distance = 13.0f;
    s->camera_height = 1.9f;
    s->camera_turn = 0.0f;
    s->camera_sweep = 0.22f;
}

void pm_stage_init(struct pm_stage *stage, unsigned number, uint64_t seed)
{
    static void (*const build[PM_STAGES])(struct builder *) = {build_gallery, build_street,
                                                               build_plain};
    *stage = (struct pm_stage){0};
    struct builder builder = {.stage = stage};
    pm_random_init(&builder.random, seed);
    build[number](&builder);
    /* The shader looks at all of them: those that are not used lie deep below the floor. */
    const pm_vec3 small = {0.1f, 0.1f, 0.1f};
    while (stage->ball_count < PM_BALLS)
        ball(&builder, 0.0f, 0.0f, 0.1f, small, 1.0f)->constants.place[1] = -1000.0f;
    while (stage->box_count < PM_BOXES)
        box(&builder, 0.0f, 0.0f, small, 0.0f, small, 1.0f)->constants.place[1] = -1000.0f;
    stage->sun_direction = pm_normalize(stage->sun_direction);
}

static void place(const struct pm_shape *shape, float time, float out[3])
{
    const float turn = shape->phase + time * shape->speed;
    out[0] = shape->constants.place[0] + 0.3f * shape->orbit * sinf(turn);
    out[1] = shape->constants.place[1] + shape->hop * fabsf(sinf(turn * 1.6f));
    out[2] = shape->constants.place[2] + shape->orbit * cosf(turn);
}

void pm_stage_shapes(const struct pm_stage *stage, float time, float before,
                     struct pm_shape_constants out[PM_SHAPES])
{
    for (uint32_t i = 0; i < PM_SHAPES; i++) {
        const struct pm_shape *shape =
            i < PM_BALLS ? &stage->balls[i] : &stage->boxes[i - PM_BALLS];
        out[i] = shape->constants;
        place(shape, time, out[i].place);
        place(shape, before, out[i].before);
    }
}

pm_vec3 pm_stage_eye(const struct pm_stage *stage, float time)
{
    const float turn = stage->camera_turn + stage->camera_sweep * sinf(time * 0.6f);
    return (pm_vec3){stage->camera_at.x + sinf(turn) * stage->camera_distance,
                     stage->camera_height + 0.15f * sinf(time * 0.9f),
                     stage->camera_at.z + cosf(turn) * stage->camera_distance};
}
