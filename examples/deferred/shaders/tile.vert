#version 450
// One quad a tile of the screen, without vertex buffers.
layout(push_constant, std430) uniform Tile {
    vec4 rectangle; // x0, y0, x1, y1 in normalized device coordinates
    uint first;
} tile;

void main()
{
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(mix(tile.rectangle.xy, tile.rectangle.zw, corner), 0.0, 1.0);
}
