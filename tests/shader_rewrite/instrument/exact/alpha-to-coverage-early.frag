#version 450
layout(early_fragment_tests) in;
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 target;

/* Alpha-to-coverage on: the first triangle covers half of the samples and hides only those. */
void main()
{
    target = color;
}
