#version 450

/* An escape time alone, whose every bit is looked at. */
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 o;

void main()
{
    vec2 z = v.xy * 1.4 - vec2(0.5, 0.0), c = z;
    float n = 0.0;
    for (int i = 0; i < 64; i++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        if (dot(z, z) > 4.0)
            break;
        n += 1.0;
    }
    o = vec4(n / 64.0, z, 1.0);
}
