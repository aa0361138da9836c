#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Loads and stores in regions, arrays of the shader's own, atomics. */
shared float tile[64];
void main()
{
    uint me = gl_LocalInvocationIndex;
    float w = max(value(0), 0.0), x = value(1);
    float own[4] = float[](x, w, x * w, 1.0);
    int index = int(abs(value(2))) & 3;
    own[index] = w * sin(x) + 1.0;
    put(0, own[(index + 1) & 3] + own[index] + 1.0);
    tile[me] = own[1] * cos(x) + 1.0;
    barrier();
    float other = tile[63u - me];
    put(1, other * w + 2.0);
    barrier();
    tile[me] = w;
    memoryBarrierShared();
    barrier();
    put(2, tile[me ^ 1u] * exp2(-x * x) + 1.0);
    put(3, 1.0);
    if (w > 0.0)
        put(3, results[at * 8u + 3u] + w);
    put(4, results[at * 8u + 3u] * w + 1.0);
}
