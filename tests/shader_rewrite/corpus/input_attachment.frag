#version 450
#extension GL_EXT_multiview : require
#extension GL_EXT_nonuniform_qualifier : require
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput g_buffer;
layout(set = 0, binding = 1) uniform texture2D textures[];
layout(set = 0, binding = 2) uniform sampler samplers[2];
layout(location = 0) flat in int material;
layout(location = 1) sample in vec2 uv;
layout(location = 0) out vec4 color;
layout(location = 1) out ivec2 ids;
void main()
{
    precise vec4 g = subpassLoad(g_buffer);
    vec4 t = texture(sampler2D(textures[nonuniformEXT(material)], samplers[gl_ViewIndex & 1]), uv);
    if (g.w > 0.0) {
        for (int i = 0; i < 3; i++) {
            if (t.x > g.x) {
                t = texture(sampler2D(textures[nonuniformEXT(material + i)], samplers[0]), uv + g.xy);
                break;
            }
        }
    }
    ids = ivec2(material, gl_PrimitiveID);
    color = g * t;
}
