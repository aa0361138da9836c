#version 450
#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

void main()
{
    vec3 normal = normalize(world_normal);
    float facing = abs(dot(normal, normalize(frame.eye.xyz - world)));
    write_surface(object.tint.rgb * (0.5 + 0.5 * facing), 1.0, normal, 1.0, 0.0, 0.0, object.detail.w,
                  CLASS_EMISSIVE);
}
