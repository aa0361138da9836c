#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;

float attenuation(float d)
{
    if (d > 2.0)
        return 0.0;
    return 1.0 / (1.0 + d * d) - 0.2;
}

vec3 light(vec3 n, vec3 p)
{
    vec3 sum = vec3(0.02);
    for (int i = 0; i < 9; i++) {
        vec3 to = vec3(sin(float(i)), cos(float(i) * 1.7), 0.5) - p;
        float d = length(to);
        float a = attenuation(d);
        if (a <= 0.0)
            continue;
        float c = dot(n, to / d);
        if (c < 0.0)
            continue;
        sum += c * a * vec3(0.3, 0.2, 0.1) * float(i);
        if (sum.x > 1.0)
            break;
    }
    return sum;
}

void main()
{
    if (triangle > 6u) {
        target = vec4(1.0, 0.0, 0.5, 0.25);
        return;
    }
    vec3 n = normalize(color.xyz - 0.5);
    target = vec4(light(n, vec3(color.xy, 0.0)) * texture(image, color.xy).rgb, color.w);
    target.rgb = pow(target.rgb, vec3(1.0 / 2.2));
}
