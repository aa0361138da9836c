#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D color_image;
layout(set = 1, binding = 1, rgba16f) uniform writeonly image2D surface_image;
layout(set = 1, binding = 2, rgba32f) uniform writeonly image2D geometry_image;

// The picture that the chain works on: balls and boxes on a floor, by ray casting. A renderer would have drawn it.
struct Shape {
    vec4 place;     // centre, a ball's radius
    vec4 before;    // centre in the frame before; w: emission
    vec4 half_size; // of a box; w: roughness
    vec4 color;     // rgb, metal
    vec4 turn;      // of a box about the vertical: sine, cosine
};

layout(set = 0, binding = 11, std140) uniform Shapes {
    Shape balls[8];
    Shape boxes[12];
};

const float FAR = 1e6;

float ball_distance(Shape ball, vec3 origin, vec3 ray)
{
    vec3 d = origin - ball.place.xyz;
    float b = dot(d, ray);
    float h = b * b - dot(d, d) + ball.place.w * ball.place.w;
    float t = -b - sqrt(max(h, 0.0));
    return h > 0.0 && t > 0.0 ? t : FAR;
}

vec3 to_box(Shape box, vec3 v)
{
    return vec3(v.x * box.turn.y - v.z * box.turn.x, v.y, v.x * box.turn.x + v.z * box.turn.y);
}

// Distances along the ray to the near and the far side of the box, on each axis.
void box_slabs(Shape box, vec3 origin, vec3 ray, out vec3 near, out vec3 far)
{
    vec3 inverse = 1.0 / to_box(box, ray);
    vec3 middle = -to_box(box, origin - box.place.xyz) * inverse;
    vec3 reach = abs(inverse) * box.half_size.xyz;
    near = middle - reach;
    far = middle + reach;
}

float box_distance(Shape box, vec3 origin, vec3 ray)
{
    vec3 near, far;
    box_slabs(box, origin, ray, near, far);
    float from = max(max(near.x, near.y), near.z), until = min(min(far.x, far.y), far.z);
    return from <= until && from > 0.0 ? from : FAR;
}

// The nearest ball, box (from 8 on), or the floor (-1).
float trace(vec3 origin, vec3 ray, out int shape)
{
    float floor_at = -origin.y / ray.y;
    float nearest = floor_at > 0.0 ? floor_at : FAR;
    shape = -1;
    for (int i = 0; i < 8; i++) {
        float t = ball_distance(balls[i], origin, ray);
        shape = t < nearest ? i : shape;
        nearest = min(t, nearest);
    }
    for (int i = 0; i < 12; i++) {
        float t = box_distance(boxes[i], origin, ray);
        shape = t < nearest ? 8 + i : shape;
        nearest = min(t, nearest);
    }
    return nearest;
}

vec3 normal_at(Shape shape, bool ball, vec3 origin, vec3 ray, float distance)
{
    if (ball)
        return (origin + ray * distance - shape.place.xyz) / shape.place.w;
    vec3 near, far;
    box_slabs(shape, origin, ray, near, far);
    vec3 side = step(near.yzx, near) * step(near.zxy, near) * -sign(to_box(shape, ray));
    return vec3(side.x * shape.turn.y + side.z * shape.turn.x, side.y, side.z * shape.turn.y - side.x * shape.turn.x);
}

vec3 sky(vec3 ray)
{
    float up = sqrt(saturate(ray.y));
    float sun = saturate(dot(ray, frame.sun_direction.xyz));
    return mix(frame.sky_low.rgb, frame.sky_high.rgb, up) +
           frame.sky_low.w * frame.sun_color.rgb * (0.15 * pow(sun, 8.0) + 40.0 * smoothstep(0.9994, 0.9997, sun));
}

void floor_look(vec3 p, out vec3 albedo, out float roughness)
{
    vec2 tile = floor(p.xz);
    vec2 edge = abs(fract(p.xz) - 0.5);
    float line = smoothstep(0.485, 0.495, max(edge.x, edge.y));
    float shade = 0.75 + 0.5 * hash(tile);
    float puddle = smoothstep(0.45, 0.6, hash(floor(p.xz * 0.5)) * 0.6 + 0.4 * hash(floor(p.xz * 0.25 + 7.0)));
    vec3 tiles = mix(vec3(0.42, 0.40, 0.37) * shade, vec3(0.12), line);
    vec3 street = mix(vec3(0.06, 0.06, 0.065) * shade, vec3(0.16), line);
    float wet = step(0.5, frame.sky_high.w);
    albedo = mix(tiles, street * (1.0 - 0.5 * puddle), wet);
    roughness = mix(0.35 + 0.3 * line + 0.2 * hash(tile + 3.0), mix(0.75, 0.08, puddle), wet);
}

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, ivec2(frame.size.xy))))
        return;
    vec2 centre = vec2(p) + 0.5;
    vec3 view_ray = view_at(centre + frame.jitter.xy, 1.0);
    vec3 ray = normalize(mat3(frame.inverse_view) * view_ray);
    int hit;
    float distance = trace(frame.eye.xyz, ray, hit);

    vec3 color = sky(ray), normal = vec3(0.0, 0.0, 1.0), world = frame.eye.xyz + ray * frame.lens.w;
    vec3 world_before = world;
    float depth = frame.lens.w, roughness = 1.0, metal = 0.0, emission = 0.0;
    if (distance < frame.lens.w) {
        world = frame.eye.xyz + ray * distance;
        world_before = world;
        vec3 albedo;
        vec3 facing = vec3(0.0, 1.0, 0.0);
        if (hit < 0) {
            floor_look(world, albedo, roughness);
        } else {
            bool ball = hit < 8;
            Shape shape;
            if (ball)
                shape = balls[hit];
            else
                shape = boxes[hit - 8];
            facing = normal_at(shape, ball, frame.eye.xyz, ray, distance);
            albedo = shape.color.rgb;
            metal = shape.color.w;
            roughness = shape.half_size.w;
            emission = shape.before.w;
            world_before += shape.before.xyz - shape.place.xyz;
        }
        float n_l = saturate(dot(facing, frame.sun_direction.xyz));
        int shadow;
        float lit = 0.0;
        if (n_l > 0.0)
            lit = step(FAR, trace(world + facing * 0.003, frame.sun_direction.xyz, shadow));
        vec3 ambient = mix(frame.sky_low.rgb * 0.6, frame.sky_high.rgb + 0.3 * frame.sky_low.rgb, facing.y * 0.5 + 0.5);
        vec3 h = normalize(frame.sun_direction.xyz - ray);
        float shine = pow(saturate(dot(facing, h)), 2.0 / (roughness * roughness * roughness + 0.001));
        vec3 f0 = mix(vec3(0.04), albedo, metal);
        color = albedo * (1.0 - metal) * (ambient * frame.sun_direction.w + frame.sun_color.rgb * n_l * lit);
        color += f0 * frame.sun_color.rgb * n_l * lit * shine * 0.5 / (roughness * roughness + 0.01);
        color += f0 * sky(reflect(ray, facing)) * 0.4 * frame.sun_direction.w * (1.0 - roughness);
        color += albedo * emission;
        depth = -(frame.view * vec4(world, 1.0)).z;
        color = mix(color, frame.sky_low.rgb, 1.0 - exp(-distance * 0.006));
        normal = mat3(frame.view) * facing;
    }
    vec4 clip = frame.before * vec4(world_before, 1.0);
    vec2 pixel_before = (clip.xy / clip.w * 0.5 + 0.5) * frame.size.xy;
    imageStore(color_image, p, vec4(color, emission));
    imageStore(surface_image, p, vec4(normal, roughness));
    imageStore(geometry_image, p, vec4(depth, centre + frame.jitter.xy - pixel_before, metal));
}
