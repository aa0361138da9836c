#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Loops inside regions, regions inside loops, with break and continue. */
void main()
{
    float w = max(value(0), 0.0), sum = 1.0;
    for (int i = 0; i < 6; i++)
        sum += w * sin(value(1) + float(i));
    put(0, sum);
    int count = int(max(value(2), 0.0)) & 7;
    float other = 2.0;
    for (int i = 0; i < count; i++) {
        if (value(3) * float(i) > 3.0)
            break;
        if ((i & 1) == 0)
            continue;
        other += exp2(-float(i)) * w;
        if (other > 9.0)
            break;
    }
    put(1, other);
    float nested = 0.5;
    for (uint k = 0u; k < 3u; k++) {
        float weight = max(value(k + 3u), 0.0);
        float inner = 0.25;
        for (int i = 0; i < 3; i++) {
            if (weight * inner > 2.0)
                continue;
            inner += weight * cos(inner + float(i));
        }
        nested += inner * weight;
    }
    put(2, nested);
    float last = w;
    uint turns = 0u;
    do {
        last = last * 0.5 + w * sin(last);
        turns++;
    } while (turns < 4u && last > 0.1);
    put(3, last + float(turns));
}
