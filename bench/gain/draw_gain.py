#!/usr/bin/env python3
"""Draws what specializing for zeros gains, as AZP's Figures 5 and 6 do, from the tables of docs/results/.

  draw_gain.py            writes docs/results/gain_by_program.svg and gain_by_shader.svg
  draw_gain.py --check    fails if these are not what would be drawn

The first has two bars a program: the passes of specialized shaders, and whole frames. The second has a point for each
specialized shader, sorted by its gain: as it is, and weighted by its share of the frame. Our own scenes (gain.md,
"Passes", by zero_gain) and programs that nobody wrote for us (third_party.md, by games.sh) are apart.
"""
import html
import pathlib
import re
import sys

RESULTS = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'results'
FONT = 'font-family="sans-serif" font-size="12"'
PASSES, FRAMES, GRID = '#2b6cb0', '#dd6b20', '#cbd5e0'
WIDTH, LEFT, PLOT = 870, 250, 560


def tables(page, first_header):
    """The rows of the page's first table whose first header is so, as dicts by header."""
    lines = (RESULTS / page).read_text().splitlines()
    for at, line in enumerate(lines):
        if not line.startswith(first_header):
            continue
        names = [cell.strip() for cell in line.strip('|').split('|')]
        rows = []
        for row in lines[at + 2:]:
            if not row.startswith('|'):
                break
            rows.append(dict(zip(names, (cell.strip() for cell in row.strip('|').split('|')))))
        return rows
    return []


def first_number(text):
    """None where there is none, as in a dash."""
    found = re.match(r'[+-]?[0-9.]+', text)
    return float(found.group()) if found else None


def own_scenes():
    """(name, gain of touched passes, gain of frames) and (shader, gain, share of the frame)."""
    programs, shaders, touched = [], [], []
    for row in tables('gain.md', '| workload | pass | original, ms |'):
        original = first_number(row['original, ms'])
        ratio = first_number(row['specialized / original'])
        if row['pass'] != '**frame**':
            touched.append((f"{row['workload']}: {row['pass']}", original, ratio))
            continue
        before = sum(one[1] for one in touched)
        after = sum(one[1] * one[2] for one in touched)
        programs.append((row['workload'], before / after - 1, 1 / ratio - 1))
        shaders += [(name, 1 / one - 1, time / original) for name, time, one in touched]
        touched = []
    return programs, shaders


def real_programs():
    """The same; what share of a frame a game's shader has is not known (None)."""
    shaders = []
    for row in tables('third_party.md', '| game | shader |'):
        if row['verdict'].startswith('faster'):
            ratio = first_number(row["time, % of the original's (interval)"]) / 100
            shaders.append((f"{row['game']}: {row['shader']}", 1 / ratio - 1, None))
    frames = {}
    for row in tables('third_party.md', '| game | session |'):
        frames.setdefault(row['game'], []).append(first_number(row['frames (95 % interval)']))
    programs = []
    for game, sessions in frames.items():
        gains = [gain for name, gain, _ in shaders if name.startswith(game + ': ')]
        measured = sorted(gain / 100 for gain in sessions if gain is not None)
        programs.append((game, sum(gains) / len(gains) if gains else None,
                         measured[len(measured) // 2] if measured else None))
    return programs, shaders


class Picture:
    def __init__(self, values):
        self.low = min([0.0] + [v for v in values if v is not None])
        self.high = max([0.05] + [v for v in values if v is not None])
        self.parts, self.y = [], 20

    def x(self, gain):
        return LEFT + PLOT * (gain - self.low) / (self.high - self.low)

    def text(self, x, y, words, more=''):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" {FONT} {more}>{html.escape(words)}</text>')

    def heading(self, words):
        self.y += 24
        self.text(10, self.y, words, 'font-weight="bold"')
        self.y += 8

    def line(self, color=GRID):
        x = self.x(0)
        self.parts.append(f'<line x1="{x:.1f}" y1="{self.y}" x2="{x:.1f}" y2="{self.y + 26}" stroke="{color}"/>')

    def bar(self, gain, color, offset):
        y = self.y + offset
        if gain is None:
            self.text(self.x(0) + 4, y + 10, '–', f'fill="{color}"')
            return
        left, right = sorted((self.x(0), self.x(gain)))
        self.parts.append(f'<rect x="{left:.1f}" y="{y}" width="{max(right - left, 1):.1f}" height="10" fill="{color}"/>')
        self.text(right + 4, y + 10, f'{100 * gain:+.1f} %', f'fill="{color}"')

    def row(self, name, bars):
        self.text(10, self.y + 16, name)
        self.line()
        for offset, (gain, color) in zip((2, 14) if len(bars) > 1 else (8,), bars):
            self.bar(gain, color, offset)
        self.y += 28

    def done(self):
        height = self.y + 12
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
                f'viewBox="0 0 {WIDTH} {height}">\n<rect width="100%" height="100%" fill="white"/>\n'
                + '\n'.join(self.parts) + '\n</svg>\n')


def legend(picture, first, second):
    for x, color, words in ((10, PASSES, first), (430, FRAMES, second)):
        picture.parts.append(f'<rect x="{x}" y="8" width="12" height="12" fill="{color}"/>')
        picture.text(x + 18, 18, words)


def by_program(own, real):
    picture = Picture([gain for _, *gains in own + real for gain in gains])
    legend(picture, 'passes of specialized shaders (games: by their trials)', 'whole frames')
    for heading, programs in (('Our own scenes', own), ('Programs that nobody wrote for us', real)):
        if programs:
            picture.heading(heading)
        for name, passes, frames in programs:
            picture.row(name, [(passes, PASSES), (frames, FRAMES)])
    return picture.done()


def by_shader(own, real):
    weighted = [gain * share for _, gain, share in own if share is not None]
    picture = Picture([gain for _, gain, _ in own + real] + weighted)
    legend(picture, "the shader's own gain", 'times its share of the frame')
    for heading, shaders in (('Our own scenes', own), ('Programs that nobody wrote for us', real)):
        if shaders:
            picture.heading(heading)
        for name, gain, share in sorted(shaders, key=lambda one: -one[1]):
            bars = [(gain, PASSES)] + ([(gain * share, FRAMES)] if share is not None else [])
            picture.row(name, bars)
    return picture.done()


def main():
    own_programs, own_shaders = own_scenes()
    programs, shaders = real_programs()
    if not own_programs:
        sys.exit('draw_gain: docs/results/gain.md has no table of passes')
    stale = False
    for name, drawn in (('gain_by_program.svg', by_program(own_programs, programs)),
                        ('gain_by_shader.svg', by_shader(own_shaders, shaders))):
        path = RESULTS / name
        if '--check' not in sys.argv[1:]:
            path.write_text(drawn)
        elif not path.exists() or path.read_text() != drawn:
            print(f'docs/results/{name} is not what the tables say: run bench/gain/draw_gain.py', file=sys.stderr)
            stale = True
    sys.exit(1 if stale else 0)


if __name__ == '__main__':
    main()
