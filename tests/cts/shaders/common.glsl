// What the fragment shaders of the cases share: whole numbers in, colors that are whole 255ths out, so that no driver
// rounds one of them otherwise.
layout(location = 0) in vec4 in_color;
layout(location = 1) flat in uint in_triangle;
layout(location = 0) out vec4 color;
layout(constant_id = 7) const uint shift = 3;
layout(push_constant) uniform Push { uint added; };
layout(set = 0, binding = 3) buffer Stored { uint stored[1024]; };
layout(set = 0, binding = 8) uniform sampler2D picture;

uint place() { return uint(gl_FragCoord.y) * 32u + uint(gl_FragCoord.x); }
vec4 shown(uvec4 values) { return vec4(values & 255u) / 255.0; }
uvec4 base() { return uvec4(place() * 5u + added, in_triangle * 40u, place() >> shift, 255u); }
