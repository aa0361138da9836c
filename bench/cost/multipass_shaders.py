#!/usr/bin/env python3
"""Writes shaders with the resources of Table 1 of the paper (Riffel et al. 2004) in GLSL: a surface lit by lights.

  multipass_shaders.py FOLDER     SURFACE.frag, LIGHT.frag of each alone, and those of Table 2, SURFACELIGHTn.frag

The paper's own are not published. Ours have its numbers of operations, uniforms, varyings and textures as
shader_rewrite/partition counts them (an operation works on 4 components), and do what the names say: turbulence for
wood and potato, a silhouette of parabolas for the bat, cones, ramps, shadow maps and slides for the lights.
"""
import pathlib
import sys


class Shader:
    def __init__(self):
        self.globals, self.body, self.names = [], [], 0
        self.uniforms = self.textures = 0
        self.varyings = set()

    def uniform(self):
        n = self.uniforms
        self.uniforms += 1
        self.globals.append(f'layout(set = 0, binding = {n}) uniform U{n} {{ vec4 u{n}; }};')
        return f'u{n}'

    def texture(self):
        n = self.textures
        self.textures += 1
        self.globals.append(f'layout(set = 1, binding = {n}) uniform sampler2D t{n};')
        return f't{n}'

    def varying(self, n):
        if n not in self.varyings:
            self.varyings.add(n)
            self.globals.append(f'layout(location = {n}) in vec4 v{n};')
        return f'v{n}'

    def value(self, expression, kind='vec4'):
        self.names += 1
        self.body.append(f'    {kind} x{self.names} = {expression};')
        return f'x{self.names}'

    def text(self, result):
        return '\n'.join(['#version 450', *self.globals, 'layout(location = 0) out vec4 color;', 'void main()', '{',
                          *self.body, f'    color = {result};', '}', ''])


def turbulence(s, at, scales, octaves):
    """Seven operations an octave."""
    total = s.value(f'{at} * {scales[0]}')
    for i in range(octaves):
        bent = s.value(f'sin({total} * {scales[i % len(scales)]})')
        total = s.value(f'{total} + abs(fract({bent}.yzwx + {at}) - 0.5)')
    return total


def wood(s):
    u, v = [s.uniform() for _ in range(10)], [s.varying(i) for i in range(4)]
    grain = turbulence(s, v[0], u[:4], 7)
    rings = s.value(f'fract(length({grain}.yz) * {u[4]} + {v[1]})')
    ramp = s.value(f'smoothstep({u[5]}, {u[6]}, {rings})')
    fine = s.value(f'textureLod({s.texture()}, {grain}.xy, 0.0)')
    mixed = s.value(f'mix({u[7]}, {u[8]}, {ramp}) * ({fine} + {u[9]})')
    edge = s.value(f'pow(abs(dot({v[2]}, {v[3]})), 5.0)', 'float')
    worn = s.value(f'{mixed} + {mixed} * {edge}')
    return s.value(f'sqrt(abs({worn}))'), v[0], v[2]


def matte(s):
    u, v = [s.uniform() for _ in range(2)], [s.varying(i) for i in range(4)]
    facing = s.value(f'max(dot(normalize({v[2]}), {v[3]}), 0.0)', 'float')
    return s.value(f'sqrt(abs({v[1]} * {u[0]} + {u[1]} * {facing}))'), v[0], v[2]


def potato(s):
    u, v = [s.uniform() for _ in range(13)], [s.varying(i) for i in range(6)]
    skin = turbulence(s, v[0], u[:6], 10)
    dirt = turbulence(s, v[1], u[6:9], 9)
    eyes = s.value(f'smoothstep({u[9]}, {u[10]}, {skin} * {dirt})')
    fine = s.value(f'textureLod({s.texture()}, {skin}.xy, 0.0)')
    mixed = s.value(f'mix({u[11]} * {v[4]}, {u[12]}, {eyes}) * {fine}')
    edge = s.value(f'pow(abs(dot({v[2]}, {v[3]})), 3.0)', 'float')
    worn = s.value(f'{mixed} + {v[5]} * {edge}')
    return s.value(f'sqrt(abs({worn}))'), v[0], v[2]


def bat(s, at, normal):
    u = [s.uniform() for _ in range(7)]
    ray = s.value(f'{at} - {u[0]}')
    place = s.value(f'{ray} * {u[1]} / ({u[2]} + {ray}.wwww)')
    inside = s.value(f'step({place}, {u[3]})')
    for i in range(68):  # parabolas, which the outline is made of
        bend = s.value(f'{place}.yxwz * {place} * {i / 7 + 0.25:.4f} + {place}')
        inside = s.value(f'{inside} * step({u[4]}, {bend} - {i / 11:.4f})')
    cone = s.value(f'smoothstep({u[5]}, {u[6]}, {inside})')
    return s.value(f'{cone} * max(dot({normal}, {ray}), 0.0)')


def cone(s, at, normal, ramps):
    """What the lights of films have in common: position, fall-off, a superellipse of soft edges."""
    u = [s.uniform() for _ in range(33)]
    ray = s.value(f'{u[0]} - {at}')
    far = s.value(f'length({ray})', 'float')
    fall = s.value(f'pow({u[1]}.x / {far}, {u[1]}.y)', 'float')
    space = s.value(f'vec4(dot({ray}, {u[2]}), dot({ray}, {u[3]}), dot({ray}, {u[4]}), 1.0)')
    place = s.value(f'{space} / {space}.zzzz')
    edge = s.value(f'pow(abs({place}), {u[5]}) + pow(abs({place}.yxwz), {u[6]})')
    light = s.value(f'smoothstep({u[7]}, {u[8]}, {edge}) * {fall}')
    for i in range(ramps):
        low, high = u[9 + 2 * i % 24], u[10 + 2 * i % 23]
        light = s.value(f'{light} * mix({low}, {high}, smoothstep({low}, {high}, {place}))')
    return s.value(f'{light} * max(dot({normal}, {ray}), 0.0)'), place


def uber(s, at, normal, ramps=20):
    light, place = cone(s, at, normal, ramps)
    slide = s.value(f'textureLod({s.texture()}, {place}.xy, 0.0)')
    shadow = s.value(f'textureLod({s.texture()}, {place}.xy * {s.uniform()}.xy, 0.0)')
    noise = s.value(f'textureLod({s.texture()}, {place}.zw * {s.uniform()}.xy + {s.uniform()}.xy, 0.0)')
    return s.value(f'{light} * {slide} * step({shadow}, {place}) * {noise}')


def mondo(s, at, normal):
    light = uber(s, at, normal, 60)
    for _ in range(10):  # fake shadows
        ray = s.value(f'{at} * {s.uniform()} + {s.uniform()}')
        light = s.value(f'{light} * smoothstep({s.uniform()}, vec4(1.0), {ray} * dot({ray}, {ray}))')
    for _ in range(15):  # shadow maps
        place = s.value(f'{at} * {s.uniform()} + {s.uniform()}')
        place = s.value(f'{place} / {place}.wwww')
        light = s.value(f'{light} * step(textureLod({s.texture()}, {place}.xy, 0.0), {place} - 0.001)')
    slides = ['u0'] * 2 + [s.uniform() for _ in range(128 - s.uniforms if s.uniforms < 128 else 0)]
    for i in range(23):
        scale = slides[i % len(slides)]
        place = s.value(f'{at} * {scale} + {i / 9:.4f}')
        place = s.value(f'{place} / {place}.wwww')
        image = s.value(f'textureLod({s.texture()}, {place}.xy, 0.0)')
        ramp = s.value(f'smoothstep({scale}, vec4({i / 5 + 1:.4f}), {place})')
        light = s.value(f'{light} + {image} * {ramp} * {scale}')
    return light


SURFACES = {'WOOD': wood, 'MATTE': matte, 'POTATO': potato}
LIGHTS = {'BAT': bat, 'UBER': uber, 'MONDO': mondo}


def lit(surface, light, number):
    s = Shader()
    material, at, normal = SURFACES[surface](s)
    total = None
    for _ in range(number):
        one = LIGHTS[light](s, at, normal)
        total = one if total is None else s.value(f'{total} + {one}')
    return s.text(material if total is None else f'{material} * {total}')


def alone(light):
    s = Shader()
    return s.text(LIGHTS[light](s, s.varying(0), s.varying(2)))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    shaders = {name: lit(name, 'BAT', 0) for name in SURFACES}
    shaders |= {name: alone(name) for name in LIGHTS}
    shaders |= {f'WOODUBER{n}': lit('WOOD', 'UBER', n) for n in range(1, 11)}
    shaders |= {'MATTEMONDO2': lit('MATTE', 'MONDO', 2), 'POTATOBAT5': lit('POTATO', 'BAT', 5)}
    for name, text in shaders.items():
        (folder / f'{name}.frag').write_text(text)


if __name__ == '__main__':
    main()
