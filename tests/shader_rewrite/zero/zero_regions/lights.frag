#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;
/* A deferred scene's loop of lights under cones and shadows. Nothing of a light is a function of
 * constants alone that a driver could compute more exactly when it unrolls the loop. */
void main()
{
    vec3 up = vec3(color.xy - 0.5, 0.75), sum = vec3(0.125);
    vec3 normal = up * inversesqrt(dot(up, up));
    for (int i = 0; i < 5; i++) {
        vec3 to = vec3(float(i) * 0.25 - 0.5, float(i & 1) - 0.5, 0.5);
        float cone = max(color.z - float(i) * 0.25, 0.0);
        float facing = max(dot(normal, to), 0.0);
        float shadow = textureLod(image, color.xy + to.xy, 0.0).r;
        sum += facing * cone * shadow * vec3(1.0, 0.75, 0.5) * exp2(-cone * float(i));
    }
    target = vec4(sum, 1.0);
}
