#version 450
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 color;
layout(location = 1) flat in int mode;
vec4 shade(int m, vec4 x)
{
    if (m == 3)
        discard;
    switch (m) {
    case 0: return x;
    case 1: x *= 2.0; break;
    case 2: if (x.y > 0.5) discard; x = x.yxwz; break;
    default: return vec4(0.25);
    }
    return x * x;
}
void main()
{
    vec4 c = gl_HelperInvocation ? vec4(0.0) : shade(mode, v);
    if (gl_FragCoord.x > 17.5)
        c.x += gl_FragCoord.z;
    color = c + dFdy(v);
}
