#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Nested selections, switches that fall through, early returns. */
float shade(float x, float w)
{
    if (w > 2.5)
        return x * 2.0;
    if (w > 0.0) {
        if (x > 1.0)
            return w * sin(x) + 1.0;
        x += w;
    }
    return x + w * 3.0;
}
void main()
{
    float w = max(value(0), 0.0), x = value(1) + 1.0;
    put(0, shade(x, w) + 1.0);
    float y = 1.0;
    switch (int(max(value(2), 0.0))) {
    case 0:
        y = 3.0;
    case 1:
        y += w * sin(x);
        if (y > 3.5)
            break;
        y += 1.0;
        break;
    case 2:
        y = cos(x) * w + 2.0;
        break;
    default:
        y = 7.0 + w;
    }
    put(1, y);
    if (value(3) > 0.0) {
        if (value(4) > 0.0)
            put(2, y * w + 1.0);
        else if (w == 0.0)
            put(2, 5.0);
        else
            put(2, exp2(-w));
    }
    if (w == 0.0 && x > 4.0)
        return;
    put(3, x + w);
    if (value(5) == 0.0) {
        put(4, sin(x) + 2.0);
        return;
    }
    put(4, value(5) * cos(x) + 3.0);
}
