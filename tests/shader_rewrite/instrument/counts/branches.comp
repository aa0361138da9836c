#version 450
// Marks tell, lane by lane, how often each place ran. test_instrument_blocks_compute.c has the same in C.
layout(local_size_x = 13, local_size_y = 3) in;
layout(std430, set = 0, binding = 0) buffer Marks { uint marks[]; };
layout(std430, set = 0, binding = 1) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint count; } push;
#define MARK(k) atomicAdd(marks[k], 1u)
void main()
{
    uint group = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
    uint i = group * 39u + gl_LocalInvocationIndex;
    MARK(0);
    if (i >= push.count) {
        MARK(1);
        return;
    }
    uint v = data[i];
    if ((v & 1u) != 0u) {
        MARK(2);
        v += 3u;
    } else {
        MARK(3);
        v ^= 5u;
        if (v % 7u == 0u) {
            MARK(4);
            data[i] = v;
            return;
        }
    }
    for (uint k = 0u; k < (v & 7u); k++) {
        MARK(5);
        if (k == 3u) {
            MARK(6);
            continue;
        }
        for (uint j = 0u; j < k; j++) {
            MARK(7);
            if ((v >> j & 3u) == 2u) {
                MARK(8);
                break;
            }
            v += j;
        }
        if (v % 11u == 0u) {
            MARK(9);
            data[i] = v;
            return;
        }
        MARK(10);
    }
    switch (v % 5u) {
    case 0u:
        MARK(11);
    case 1u:
        MARK(12);
        v *= 3u;
        break;
    case 2u:
        MARK(13);
        data[i] = ~v;
        return;
    default:
        MARK(14);
    }
    uint n = 0u;
    do {
        MARK(15);
        v = v * 5u + 1u;
        n++;
    } while ((v & 12u) != 0u && n < 9u);
    while (true) {
        MARK(16);
        if (n == 0u)
            break;
        if ((v & n) == 3u) {
            MARK(17);
            n = 1u;
        }
        n--;
    }
    MARK(18);
    data[i] = v;
}
