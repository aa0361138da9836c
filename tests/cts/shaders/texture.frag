#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    uvec4 v = base();
    ivec2 at = ivec2(gl_FragCoord.xy) & 63;
    uvec4 texel = uvec4(texelFetch(picture, at, 0) * 255.0 + 0.5);
    if (texel.w == 255u)
        v.xyz += texel.xyz;
    color = shown(v);
}
