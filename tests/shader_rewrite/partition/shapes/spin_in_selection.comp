#version 450
// A workgroup waits for the one before it, in a loop within a selection that fits a pass: it stays whole.
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 3) coherent buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_WorkGroupID.x;
    float x = floats[i], s = 1.0;
    if (i > 0u) {
        while (atomicAdd(integers[i - 1u], 0u) == 0u)
            ;
        s = results[i - 1u];
    }
    s = sin(s) * x + cos(x);
    s = abs(s) * s - x * 0.5;
    s = exp2(min(s, 3.0)) + x * s;
    s = sqrt(abs(s)) * x + s;
    results[i] = s;
    memoryBarrierBuffer();
    atomicExchange(integers[i], 1u);
}
