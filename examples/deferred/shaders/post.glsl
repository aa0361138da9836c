// What the compute passes share.
layout(set = 0, binding = 0) uniform sampler2D hdr;
layout(set = 0, binding = 1, rgba16f) uniform image2D bloom_a;
layout(set = 0, binding = 2, rgba16f) uniform image2D bloom_b;
layout(set = 0, binding = 3, rgba8) uniform writeonly image2D picture;
layout(set = 0, binding = 4, std430) buffer Histogram { uint bins[64]; } histogram;

