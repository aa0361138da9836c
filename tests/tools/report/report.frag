#version 450
layout(location = 0) in vec4 tint;
layout(location = 0) out vec4 colour;
layout(set = 0, binding = 0) uniform Material
{
    vec4 albedo;
    int bounces;
} material;

void main()
{
    vec3 sum = vec3(0.0);
    for (int i = 0; i < material.bounces; i++)
        sum += tint.rgb * float(i) * exp(tint.rgb);
    if (tint.a > 0.5)
        sum = sqrt(sum) * exp2(tint.rgb) * log(material.albedo.rgb);
    colour = vec4(sum * pow(material.albedo.rgb, tint.rgb), 1.0);
}
