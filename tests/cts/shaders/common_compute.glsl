layout(local_size_x = 32) in;
layout(constant_id = 7) const uint shift = 3;
layout(push_constant) uniform Push { uint added; };
layout(set = 0, binding = 0) readonly buffer Given { uint given[1024]; };
layout(set = 0, binding = 3) buffer Stored { uint stored[1024]; };
layout(set = 0, binding = 8) uniform sampler2D picture;
uint place() { return gl_GlobalInvocationID.x & 1023u; }
