#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;
/* Pixels that are discarded where a value is zero, and where it is not. */
void main()
{
    float mask = clamp(color.z * 4.0, 0.0, 1.0);
    float lit = mask * texture(image, color.xy).r + 1.0;
    if (mask == 0.0 && color.x > 0.5)
        discard;
    if (triangle == 5u && mask > 0.75)
        discard;
    target = vec4(lit, mask * exp2(-color.y) + 1.0, color.w + 1.0, 1.0);
}
