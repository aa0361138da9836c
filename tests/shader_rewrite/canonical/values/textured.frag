#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;

vec4 sample_twice(vec2 at, float blur)
{
    if (blur > 0.5)
        return textureLod(image, at, blur * 3.0);
    return texture(image, at) * 0.5 + texture(image, at.yx * 3.0, 1.0) * 0.5;
}

void main()
{
    vec2 at = color.xy * 2.3;
    vec4 a = sample_twice(at, color.z), b = sample_twice(at * 0.7, 0.0);
    vec2 d = vec2(dFdx(a.x), dFdy(b.y));
    target = a * 0.4 + b * 0.6 + textureGrad(image, at, d, -d) + fwidth(color.z);
    target.w = texelFetch(image, ivec2(gl_FragCoord.xy) & 63, 0).x + textureGather(image, at, 1).z;
}
