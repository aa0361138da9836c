#version 450
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
layout(binding = 8) uniform sampler2D image;
/* As kills.frag, of fragments that are killed in a loop: what is behind it comes before its body in
 * reverse post order. */
void main()
{
    vec2 at = color.xy * 3.0;
    for (int i = 0; i < 3; i++)
        if (texture(image, at + vec2(0.1) * float(i)).y > 0.5)
            discard;
    float height = max(color.z - 0.6, 0.0);
    vec2 moved = at + height * (vec2(cos(at.y), sin(at.x)) * exp2(-at.x) +
                                vec2(sin(at.y * 2.0), cos(at.x * 2.0)) * exp2(-at.y));
    result = texture(image, moved) + vec4(height);
}
