#version 450

/* An escape time: what one turn rounds otherwise decides how many there are. */
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 o;

float turns(vec2 start)
{
    vec2 z = start * 1.4 - vec2(0.5, 0.0), c = z;
    float n = 0.0;
    for (int i = 0; i < 64; i++) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        if (dot(z, z) > 4.0)
            break;
        n += 1.0;
    }
    return n;
}

void main()
{
    float n = turns(v.xy);
    vec3 s = vec3(0.0);
    for (int j = 0; j < 8; j++) {
        float fj = float(j);
        vec2 l = vec2(sin(fj * 1.7), cos(fj * 2.3));
        float d = max(0.0, 1.0 - 3.0 * distance(v.xy, l));
        if (d > 0.0)
            s += d * vec3(fj / 8.0, 1.0 - fj / 8.0, 0.5);
    }
    for (int i = 0; i < 4; i++) {
        if (mod(n, float(i + 2)) < 0.5) {
            s.r += 0.05;
            continue;
        }
        if (n > 50.0)
            break;
        s.g += 0.02;
    }
    o = vec4(s + vec3(n / 64.0), 1.0);
}
