#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

struct Material { vec3 albedo; float roughness; float weights[4]; };
float global_state = 0.5;

float fresnel(float c, inout Material m)
{
    if (c < 0.0)
        return 0.04;
    for (int i = 0; i < 4; i++) {
        m.weights[i] *= c;
        if (m.weights[i] > 2.0)
            return m.weights[i] - float(i);
    }
    global_state += c;
    return pow(1.0 - c, 5.0);
}

Material load_material(uint i)
{
    Material m;
    m.albedo = vec3(get(i), get(i + 1u), get(i + 2u));
    m.roughness = clamp(get(i + 3u), 0.01, 1.0);
    for (int k = 0; k < 4; k++)
        m.weights[k] = get(i + uint(k)) * 0.5;
    return m;
}

float nested(float x)
{
    if (x > 4.0) {
        if (x > 8.0)
            return x * 0.5;
        x += 1.0;
    } else if (x < 0.0) {
        return -x;
    }
    return x * x;
}

void main()
{
    Material a = load_material(0u), b = load_material(3u);
    Material c = a;
    c.albedo.y = nested(b.albedo.x);
    put(0u, fresnel(a.albedo.x, c));
    put(1u, fresnel(b.albedo.y, b));
    if (global_state > 3.0)
        return;
    put4(2u, vec4(c.weights[0], c.weights[1], c.weights[2], c.weights[3]));
    put4(6u, vec4(c.albedo, nested(nested(global_state))));
    put(10u, b.weights[data[0] & 3u]);
}
