#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
void main() { stored[place()] = (given[place()] >> shift) + added; }
