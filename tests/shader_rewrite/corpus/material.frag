#version 450
struct Light { vec4 position; vec4 color; };
layout(std140, set = 0, binding = 0) uniform Lights { Light lights[16]; int count; vec4 ambient; };
layout(set = 0, binding = 1) uniform sampler2D albedo_map;
layout(set = 0, binding = 2) uniform sampler2DShadow shadow_map;
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
float shadow(vec3 p)
{
    float s = 0.0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            s += textureOffset(shadow_map, p, ivec2(0, 0)) * float(x * x + y * y);
    return s / 9.0;
}
void main()
{
    vec4 albedo = texture(albedo_map, uv);
    if (albedo.a < 0.5)
        discard;
    vec3 n = normalize(normal);
    vec3 sum = ambient.rgb;
    for (int i = 0; i < count; i++) {
        vec3 l = lights[i].position.xyz - world;
        float d = dot(l, l);
        if (d > lights[i].position.w)
            continue;
        float facing = max(dot(n, normalize(l)), 0.0);
        if (facing > 0.0) {
            vec3 h = normalize(normalize(l) - normalize(world));
            sum += lights[i].color.rgb * (facing + pow(max(dot(n, h), 0.0), 32.0)) / (1.0 + d);
        }
    }
    if (lights[0].color.a > 0.0)
        sum *= shadow(world);
    color = vec4(sum * albedo.rgb, 1.0) + vec4(dFdx(uv), dFdy(uv)) * 0.001;
}
