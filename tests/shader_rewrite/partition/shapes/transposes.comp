#version 450
// A transposed matrix that passes after its own multiply by, in straight code and under a condition.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    mat4 m = mat4(vectors[i], vectors[i + 1u], vectors[i + 2u], vectors[i + 3u]);
    vec4 v = vectors[i + 4u];
    float x = floats[i];
    vec4 y = transpose(m) * v;
    vec4 z = sin(y) * x + cos(y);
    vec4 w = transpose(m) * z;
    if (x > 0.5)
        w = transpose(m) * (w + y) + sin(w);
    results[i * 4u] = w.x;
    results[i * 4u + 1u] = w.y;
    results[i * 4u + 2u] = dot(w, z);
    if (i % 3u == 0u)
        return;
    w = (z + y) * transpose(m) + transpose(m) * w;
    results[i * 4u + 3u] = w.x + w.y * w.z;
}
