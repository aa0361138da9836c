#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;
/* Derivatives of what a region computes. */
void main()
{
    float weight = max(color.z, 0.0);
    float value = weight * sin(color.x * 9.0) + color.y;
    float slope = dFdx(value) + dFdy(value) * 2.0;
    vec3 normal = vec3(dFdx(color.x * weight), fwidth(weight), 1.0);
    target = vec4(value + 1.0, slope + 1.0, normal.x + 1.0, normal.y + 1.0);
}
