#version 450
// Derivatives of computed values, and a texture read at a computed place: what they are computed of
// must not come from another pass.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 8) uniform sampler2D albedo;

void main()
{
    float a = sin(color.x * 7.0) + color.y * color.y, b = cos(color.z) * a + sqrt(color.y + 2.0);
    vec2 place = vec2(a * b, b - a) * 0.3;
    vec4 texel = texture(albedo, place);
    float slope = dFdx(b) * 4.0 + fwidth(a);
    vec3 c = texel.rgb * slope + vec3(b, a, a * b);
    c = c * c.yzx + exp2(-abs(c));
    c = sqrt(abs(c)) + c.zxy * 0.25;
    c = mix(c, c.brg, clamp(slope, 0.0, 1.0)) + pow(abs(c) + 0.5, vec3(1.5));
    result = vec4(c, texel.a + slope);
}
