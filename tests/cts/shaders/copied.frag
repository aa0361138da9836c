#version 450
// What was drawn there; a branch, so that there is something to specialize.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput drawn;
layout(location = 0) out vec4 color;
void main()
{
    vec4 there = subpassLoad(drawn);
    if (there == vec4(0.0))
        discard;
    color = there;
}
