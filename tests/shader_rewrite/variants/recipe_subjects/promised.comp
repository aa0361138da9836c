// A loop that promises something of its turns, and a vector of which not all is read: what lies
// behind it may not be bound.
#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) uniform Parameters {
    vec4 unread;
    vec4 tint;
} parameters;
layout(set = 0, binding = 1) buffer Values {
    float values[];
};

void main()
{
    const uint i = gl_GlobalInvocationID.x;
    float sum = parameters.tint.x * parameters.tint.y;
    [[dependency_infinite]] for (uint k = 0u; k < 8u; k++)
        sum = sum * 3.0 + values[i + k];
    values[i] = sum;
}
