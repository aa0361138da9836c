#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// One value of each width that 32-bit ones do not have.
layout(local_size_x = 37) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Log { uint visits; uint unused; uvec4 entries[]; };
struct Narrow {
    uint8_t u8[4];
    uint16_t u16[2];
    float16_t f16[2];
    uint unused;
};
struct Wide {
    int64_t i64[2];
    double f64[2];
};
layout(std430, binding = 2) buffer LogNarrow { Narrow narrow[]; };
layout(std430, binding = 3) buffer LogWide { Wide wide[]; };

void main()
{
    uint me = gl_GlobalInvocationID.x, x = data[me], y = data[me + 397u];
    uint8_t u8 = uint8_t(x);
    uint16_t u16 = uint16_t(x >> 8u);
    float16_t f16 = float16_t(uintBitsToFloat(y));
    int64_t i64 = int64_t(x) * int64_t(y);
    double f64 = double(uintBitsToFloat(y));
    uint n = atomicAdd(visits, 1u);
    entries[n] = uvec4(subgroupBroadcastFirst(n), 0u, me, 0u);
    narrow[n].u8[0] = u8;
    narrow[n].u16[0] = u16;
    narrow[n].f16[0] = f16;
    wide[n].i64[0] = i64;
    wide[n].f64[0] = f64;
}
