#version 450
#extension GL_EXT_demote_to_helper_invocation : enable
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;

void main()
{
    vec4 c = vec4(0.0);
    for (int i = 0; i < 3; i++) {
        if (fract(color.x * 7.0) < 0.2 * float(i))
            demote;
        c += texture(image, color.xy * float(i + 1)) * 0.3;
    }
    target = helperInvocationEXT() ? vec4(9.0) : c + fwidth(c);
}
