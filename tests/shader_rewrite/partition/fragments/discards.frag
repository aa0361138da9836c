#version 450
// Some fragments are not drawn: it stays whole.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 8) uniform sampler2D image;

void main()
{
    vec4 texel = textureLod(image, color.xy, 0.0);
    vec3 normal = sin(texel.xyz + color.zxy) * cos(color.yzx * 4.0);
    if (texel.x > 0.5)
        discard;
    normal = exp2(-normal.zxy * texel.w) + sqrt(abs(normal.yzx));
    result = vec4(normal * normal, texel.w);
}
