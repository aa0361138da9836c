#version 450
// As weighted.comp.
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) buffer Values { float values[]; };

void main()
{
    float weight = values[int(gl_FragCoord.x)], x = gl_FragCoord.y * 0.1;
    float heavy = sin(x) * pow(abs(x), 1.7) + cos(x * 3.0) * exp2(x) + sqrt(abs(x)) * log2(2.0 + x * x) +
                  atan(x) * tan(x * 0.5) + inversesqrt(1.0 + x * x) * sin(x * 7.0) + pow(abs(x) + 0.5, 2.3);
    color = vec4(weight * heavy);
}
