#version 450
// Own variables of many types, of the function and of the module, under selections that are cut open too.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };

struct Part {
    vec3 at;
    bool used[3];
    mat2 turn;
    int counts[2][3];
};

Part parts[4];
uvec2 pairs[6];

void main()
{
    uint i = gl_GlobalInvocationID.x, n = uints[i];
    float x = floats[i], y = x * 0.75;
    for (int k = 0; k < 4; k++) {
        parts[k].at = vec3(x, y, float(k));
        parts[k].used[0] = x > y;
        parts[k].used[1] = false;
        parts[k].used[2] = (n >> k & 1) != 0;
        parts[k].turn = mat2(x, y, -y, x);
        for (int c = 0; c < 6; c++)
            parts[k].counts[c / 3][c % 3] = c - k;
    }
    for (uint k = 0; k < 6; k++)
        pairs[k] = uvec2(n, k);
    Part copied = parts[n % 4];
    copied.at = copied.at.zxy * 0.5;
    parts[(n + 1) % 4] = copied;
    x += parts[i % 4].at.y;
    y = dot(parts[(i + 1) % 4].at, vec3(0.25, x, 0.5));
    if (x > y) {
        vec2 turned = parts[n % 4].turn * vec2(x, y);
        parts[(n + 2) % 4].turn[n & 1u] = turned;
        x = turned.x * 0.5 + sin(y);
        y = sin(turned.y) + x * 0.25;
        pairs[n % 6] += uvec2(3, parts[i % 4].counts[n & 1u][i % 3]);
        x = sin(x + y) * 0.5 + parts[1].at[n % 3];
        y = x * x - sin(y) * 0.125;
    } else {
        parts[(n + 3) % 4].used[n % 3] = x < 0.25;
        pairs[(n + 1) % 6].y = uint(parts[0].counts[1][2] + 7);
        x = x * 0.25 - sin(y * 0.5) + parts[2].turn[1][0];
    }
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += parts[k].used[n % 3] ? parts[k].counts[i & 1u][n % 3] : -2;
    parts[i % 4].counts[0][1] += sum;
    x += parts[n % 4].turn[i & 1u].y;
    results[i] = x + y;
    results[i + 512] = parts[(n + 1) % 4].at.x + float(parts[i % 4].counts[0][1]);
    integers[i] = pairs[i % 6].x * 5 + pairs[n % 6].y + uint(sum);
}
