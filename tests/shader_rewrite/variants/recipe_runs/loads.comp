// Loads that recipes put together, take apart, move and repeat; and loads of what was written, which
// none of them may move.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "run.glsl"

void main()
{
    // Component by component, the last one of the uniform buffer's vector among them.
    const float red = pushed.tint.x, green = pushed.tint.y, blue = pushed.tint.z;
    const float low = words.tint.y, high = words.tint.w;
    const uvec4 counted = uvec4(words.counts[1].x, words.counts[1].z, words.counts[1].w, pushed.counts[2].y);
    // Needed in one branch only.
    const float late = words.scale.z;
    const vec4 far = pushed.offsets[1];
    // Of a structure three members.
    const Light light = words.lights[lane & 1u];
    const vec4 value = vectors[first];
    vec4 result = value * red - vec4(green, low, blue, high);
    result.y += light.farthest * value.z;
    if (light.edge > floats[first])
        result.x -= light.edge * 3.0;
    if (value.x > 0.25)
        result = (result + far) * late;
    if (value.y > 0.5)
        result.w += green * high - low * blue;
    put(0u, result);
    // Read again behind another store; what is stored takes longer than where it is read.
    written[lane * 4u + 1u] = ((result * 2.0 - value.wzyx) * value.yxwz - result.zwxy) * 0.5;
    const vec4 before = written[lane * 4u + 1u];
    written[lane * 4u + 1u] = ((value - result.wxyz) * value.zwxy - result) * 0.25 + vec4(counted);
    const vec4 behind = written[lane * 4u + 1u];
    put(2u, before - behind);
    const uint at = gl_LocalInvocationID.x + 10u * gl_LocalInvocationID.y + 100u * gl_LocalInvocationID.z;
    put(3u, vec4(at, counted.x + 5u * counted.y, light.farthest, light.nearest));
}
