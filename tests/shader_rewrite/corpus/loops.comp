#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint sum = 0u;
    for (uint k = 0u; k < (i & 15u); k++) {
        if ((k & 3u) == 2u)
            continue;
        for (uint j = k; j < 8u; j++) {
            if (j * k > 20u)
                break;
            sum += j ^ k;
        }
        if (sum > 100u)
            break;
    }
    uint n = i;
    do {
        sum += n;
        n >>= 1;
    } while (n != 0u);
    while (sum > 1000u)
        sum /= 3u;
    data[i] = sum;
}
