#version 450
// A switch that fits no pass and chooses two values. One case reads a texture, of an explicit level.
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 8) uniform sampler2D albedo;

void main()
{
    vec4 v = color * 2.0 - 0.5;
    float last = color.w;
    switch ((triangle + uint(color.x * 7.0)) % 4u) {
    case 1u:
        v = v.yzwx * v + last;
        last = sin(v.x) * v.y + cos(v.z);
        v = abs(v) - v.zwxy * 0.25;
        last = sqrt(abs(last)) + v.w * last;
        v = v * v + color;
        break;
    default:
        v = v * v.x - color.wzyx;
        last = exp2(min(v.y, 2.0)) * v.x - last;
        v = textureLod(albedo, v.xy, 1.0) * v + last;
        last = fract(last) * v.z + last * 0.5;
        v = v.wxyz * last - v;
        break;
    case 0u:
    case 3u:
        v = v.zyxw + v * last;
        last = cos(v.w) - v.x * v.y;
        v = max(v, color.yxwz) * 0.75;
        last = last * last + abs(v.z);
        v = floor(v * 3.0) + last;
        break;
    }
    result = v * 0.125 + last;
}
