#version 450
// A module of some 150 kB with much of all that the rewriter looks for: branches, values that may be zero and save
// something then, long chains.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

#define STEP(n)                                                                             \
    if (x > n + y) {                                                                        \
        float shine = max(x * y - n, 0.0);                                                  \
        sum += shine * (pow(abs(x), n) + exp(y) * sin(n + x) + sqrt(abs(x - y)) * cos(y));  \
        x = sin(x * n + y);                                                                 \
    } else {                                                                                \
        y = y * y - x * 0.5 + n;                                                            \
    }
#define STEPS(n) STEP(n) STEP(n + 0.1) STEP(n + 0.2) STEP(n + 0.3) STEP(n + 0.4)
#define MANY(n) STEPS(n) STEPS(n + 1.0) STEPS(n + 2.0) STEPS(n + 3.0) STEPS(n + 4.0)

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float x = values[at], y = values[at] * 0.5, sum = 0.0;
    MANY(1.0) MANY(11.0) MANY(21.0) MANY(31.0) MANY(41.0)
    values[at] = x + y + sum;
}
