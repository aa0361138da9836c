#version 450

layout(location = 0) out vec4 color;

// Added to what is there, so that no instance hides another.
void main()
{
    color = vec4(1.0 / 255.0);
}
