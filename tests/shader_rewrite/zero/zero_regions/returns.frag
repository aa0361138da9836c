#version 450
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
layout(binding = 8) uniform sampler2D image;
/* A fragment that has returned gives its quad nothing: what comes behind must not be parted, or the others
 * read at coordinates of which one of the quad's is not there. */
void main()
{
    vec2 at = color.xy * 3.0;
    if (texture(image, at).y > 0.5)
        { result = vec4(1.0); return; }
    float height = max(color.z - 0.6, 0.0);
    vec2 moved = at + height * (vec2(cos(at.y), sin(at.x)) * exp2(-at.x) +
                                vec2(sin(at.y * 2.0), cos(at.x * 2.0)) * exp2(-at.y));
    result = texture(image, moved) + vec4(height);
}
