#version 450
// Plain arithmetic over varyings, a uniform and a texture of an explicit level; a loop that stays whole.
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 8) uniform sampler2D albedo;

void main()
{
    vec3 normal = normalize(color.xyz - 0.5), light = vec3(0.25, 0.5, 0.75);
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 4; i++)
        sum += max(dot(normal, light.yzx * float(i)), 0.0) * light;
    vec4 texel = textureLod(albedo, color.xy, 1.0);
    float gloss = pow(abs(normal.z), 5.0) + exp2(-sum.x) * sin(color.w * 9.0);
    vec3 lit = texel.rgb * sum + gloss * texel.a;
    vec2 turned = vec2(lit.x * normal.y - lit.y * normal.x, dot(lit.xy, normal.xy));
    uint bits = floatBitsToUint(lit.z) ^ (triangle * 2654435761u);
    bool odd = (bits & 1u) != 0u;
    float last = odd ? turned.x * 3.0 + cos(turned.y) : turned.y * 0.5 - sqrt(abs(turned.x));
    if (last > 0.25)
        last = log2(last + 1.5) * float(bits >> 8u) * 0.000001;
    result = vec4(lit * last, last + gloss);
}
