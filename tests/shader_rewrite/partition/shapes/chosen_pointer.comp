#version 450
#extension GL_EXT_buffer_reference : require
// A selection too large for a pass gives a pointer that one of its sides may not load: it stays whole.
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer Values { float values[]; };
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
layout(std140, set = 0, binding = 9) uniform Places { Values places[16]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float x = floats[i], y = x * 3.0;
    Values from = places[0];
    if (i % 2u == 0u) {
        y = sin(y) * x + cos(x);
        y = abs(y) * y - x * 0.5;
        from = places[i / 2u];
        y = exp2(min(y, 3.0)) + x * y;
        y = sqrt(abs(y)) * x + y;
    }
    results[i] = from.values[i] * y;
}
