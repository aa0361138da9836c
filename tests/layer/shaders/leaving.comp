#version 450
// The one block that leaves the loop writes what is written again behind it.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };

void main()
{
    const uint at = gl_GlobalInvocationID.x * 8u, last = values[at] & 7u;
    for (uint i = 0u;; i++) {
        const uint turn = values[i];
        if (i >= last) {
            values[at + 1u] = turn;
            values[at + 2u] = turn * 3u + last;
            break;
        }
    }
    values[at + 1u] = values[at + 1u] * 31u + last;
}
