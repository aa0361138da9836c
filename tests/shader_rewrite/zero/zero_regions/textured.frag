#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;
/* Implicit-LOD reads before and behind the value that may be zero. */
void main()
{
    vec3 base = texture(image, color.xy * 3.0).rgb;
    vec3 detail = texture(image, color.yx * 9.0).rgb;
    float weight = max(color.z - 0.25, 0.0);
    vec3 blended = base + detail * weight;
    if (weight > 0.0)
        blended += textureLod(image, color.zx * 5.0, 1.0).rgb * weight;
    target = vec4(blended, 1.0 + weight * texture(image, blended.xy).a);
}
