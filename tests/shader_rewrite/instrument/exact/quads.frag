#version 450
// Derivatives look at most values, so that of their quads helpers matter, too; at the last one nothing does. One is written
// by some lanes of a quad alone.
layout(binding = 0) readonly buffer Input { float data[]; };
layout(location = 0) out vec4 color;

void main()
{
    uint pixel = uint(gl_FragCoord.x) + uint(gl_FragCoord.y) * 64u;
    float f = data[pixel], some = 0.0;
    vec3 v = vec3(f, data[pixel + 512u], data[pixel + 1024u]) * 2.0;
    if (data[pixel + 1536u] > 0.5)
        some = f * data[pixel + 2048u];
    float slope = dFdx(v.x) + dFdy(v.y) * 3.0 + fwidth(some);
    color = vec4(slope, v.z * slope, f * 4.0, some);
}
