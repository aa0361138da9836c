#version 450
// One case of a switch goes on in the next one: where it fits no pass the shader stays whole.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0;
    switch (u % 4u) {
    case 0u:
        x = sin(y) * x + y;
        x = x * x - y;
        x = abs(x) * y + 0.25;
    case 1u:
        y = cos(x) * y - x;
        y = y * y + x;
        y = abs(y) * x - 0.5;
        break;
    case 2u:
        x = y * y + x;
        break;
    }
    results[i] = x * y;
}
