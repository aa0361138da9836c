#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
#include "words.glsl"
void main() { stored[place()] = by_words(given[place()] >> shift); }
