#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Vectors, of which a prefix is zero. */
void main()
{
    vec4 v = max(vec4(value(0), value(1), value(2), value(3)), 0.0);
    vec3 light = sin(vec3(value(4), value(5), value(6))) + 2.0;
    vec3 lit = v.xyz * light;
    put(0, lit.x + 1.0);
    put(1, lit.y + lit.z + 2.0);
    put(2, v.w * light.x + 3.0);
    vec2 two = v.xy * exp2(light.xy);
    put(3, dot(two, light.yz) + 1.0);
    mat3 m = mat3(light, light.yzx, light.zxy);
    vec3 turned = m * v.xyz + transpose(m) * lit;
    put(4, turned.x + turned.y + turned.z + 1.0);
    put(5, dot(v, vec4(light, 1.0)) + 0.5);
}
