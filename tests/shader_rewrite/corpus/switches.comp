#version 450
layout(local_size_x = 32, local_size_y = 2) in;
layout(std430, binding = 0) buffer Data { int data[]; };
int classify(int v)
{
    switch (v) {
    case 0:
        return 7;
    case 1:
    case 2:
        v += 3;
    case 3:
        v *= 2;
        break;
    case -5:
        for (int k = 0; k < 4; k++) {
            if (k == v)
                break;
            v ^= k;
        }
        break;
    default:
        v = -v;
    }
    return v;
}
void main()
{
    int i = int(gl_LocalInvocationIndex + gl_WorkGroupID.x * 64u);
    int v = classify(data[i] % 6);
    switch (v & 1) {
    case 1:
        if (v > 5)
            return;
        v = 9;
        break;
    }
    data[i] = v;
}
