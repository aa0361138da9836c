#version 450
// No side effects: what ran is in the target, where it adds up.
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
void main()
{
    float inside = 0.0, rounds = 0.0;
    if (color.x > 0.3) {
        inside = 1.0;
        for (int i = 0; i < int(color.y * 6.0); i++)
            rounds += 1.0;
    }
    target = vec4(1.0, inside, rounds, color.z);
}
