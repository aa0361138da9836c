#version 450
#extension GL_GOOGLE_include_directive : require
// Leaves cast the shadow of their texture. Depth only.
layout(set = 0, binding = 1) uniform sampler2DArray albedo_maps;
layout(location = 2) in vec2 uv;

void main()
{
    if (texture(albedo_maps, vec3(uv, 3.0)).a < 0.5)
        discard;
}
