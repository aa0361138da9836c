#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
layout(push_constant) uniform Push { float scale; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Values that all lanes of a workgroup share, which are zero in some of them; and ones that seem so
 * but were chosen by what lanes do not share, or come from a loop that lanes leave one by one. */
void main()
{
    float third = float(gl_WorkGroupID.x % 3u), none = scale - 1.25;
    float x = value(0), y = value(1);
    put(0, third * sin(x) * sqrt(abs(y)) + 1.0);
    put(1, none * exp2(x) + y);
    float chosen = third > 0.5 ? third - 1.0 : scale;
    put(2, chosen * cos(y) + x);
    float apart = x > 0.5 ? third : scale;
    put(3, apart * cos(x + y) + 2.0);
    float turn = 0.0, left = third;
    for (uint i = 0u; i < 4u; i++) {
        left = turn * third;
        if (value(i) > 1.0)
            break;
        put(4, left * sin(y) + value(2));
        turn += 1.0;
    }
    put(5, left * sin(x) + y);
    vec3 tint = vec3(third, none, third) * scale;
    put(6, dot(tint, vec3(x, y, sin(x))));
    put(7, turn);
}
