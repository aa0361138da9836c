#version 450
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 target;
layout(binding = 0) readonly buffer Input { float values[]; };
/* What a loop reads, used behind it; helper invocations may stay in it for longer. */
void main()
{
    uint at = uint(gl_FragCoord.x) * 31u + uint(gl_FragCoord.y) * 77u;
    uint turns = floatBitsToUint(values[at & 4095u]) >> 19 & 3u;
    float seen;
    uint i = 0u;
    do
        seen = values[at * 3u & 4095u] + 2.0;
    while (++i < turns);
    float w = max(color.z - 0.5, 0.0), v = max(color.w - 0.5, 0.0);
    target = vec4(w * exp2(-color.x) * cos(color.y), v * sin(color.x * 2.0) * exp2(-color.y), seen,
                  1.0);
}
