#!/usr/bin/env python3
"""Draws the paper's Figure 7 from a table that bench/cost/figure7.sh printed.

  draw_figure7.py TABLE.md OUT.svg

TABLE.md is a page that has the table (the first whose header begins "| program | p | b |"). A group of bars for each
program, a bar for each p and b: by how many percent frames inside a profiling window are longer, the median over blocks
of frames, with a line from the lower to the upper quartile. What first uses of variants cost is not in it. The dashed line
is the aim, 0.5 %.
"""
import html
import pathlib
import re
import sys

AIM = 0.5
FONT = 'font-family="sans-serif" font-size="12"'
GRID = '#cbd5e0'
COLORS = {'0.001': ('#c6f6d5', '#68d391', '#2f855a'), '0.01': ('#bee3f8', '#63b3ed', '#2b6cb0'),
          '0.05': ('#feebc8', '#f6ad55', '#c05621')}
LEFT, TOP, PLOT, BAR, GAP = 60, 30, 300, 16, 36


def rows(page):
    """(program, p, b, median, lower, upper), numbers in percent; rows without a median are left out."""
    lines = pathlib.Path(page).read_text().splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith('| program | p | b |')), None)
    if at is None:
        raise SystemExit(f'{page} has no table of figure7.sh')
    names = [cell.strip() for cell in lines[at].strip('|').split('|')]
    median = next(i for i, name in enumerate(names) if 'median' in name)
    found = []
    for line in lines[at + 2:]:
        if not line.startswith('|'):
            break
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        numbers = [float(number) for number in re.findall(r'[+-][0-9.]+', cells[median])]
        if len(numbers) == 3:
            found.append((cells[0], cells[1], cells[2], *numbers))
    return found


def text(x, y, words, anchor='middle'):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {FONT}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, color, more=''):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" {more}/>'


def draw(found):
    programs = list(dict.fromkeys(row[0] for row in found))
    batches = sorted({row[2] for row in found}, key=int)
    low = min(0, min(row[4] for row in found))
    high = max(2 * AIM, max(row[5] for row in found))
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100) if (high - low) / step <= 12)
    low, high = step * (low // step), step * -(-high // step)

    def y(value):
        return TOP + PLOT * (high - value) / (high - low)

    groups = {program: [row for row in found if row[0] == program] for program in programs}
    width = LEFT + sum(GAP + BAR * len(group) for group in groups.values()) + GAP + 120
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + PLOT + 60}">',
           f'<rect width="{width}" height="{TOP + PLOT + 60}" fill="white"/>',
           text(LEFT - 40, TOP - 12, 'frame time in a window, % more than without', 'start')]
    for i in range(round((high - low) / step) + 1):
        value = low + i * step
        out += [line(LEFT, y(value), width - 130, y(value), GRID), text(LEFT - 6, y(value) + 4, f'{value:g}', 'end')]
    x = LEFT + GAP / 2
    for program, group in groups.items():
        begin = x
        for _, p, b, median, lower, upper in group:
            color = COLORS.get(p, COLORS['0.01'])[batches.index(b) % 3]
            top, bottom = y(max(median, 0)), y(min(median, 0))
            out += [f'<rect x="{x:.1f}" y="{top:.1f}" width="{BAR - 3}" height="{max(bottom - top, 0.5):.1f}" '
                    f'fill="{color}"><title>{html.escape(program)}, p = {p}, b = {b}: {median:+.2f} %</title></rect>',
                    line(x + (BAR - 3) / 2, y(lower), x + (BAR - 3) / 2, y(upper), '#4a5568')]
            x += BAR
        out.append(text((begin + x) / 2, TOP + PLOT + 20, program))
        x += GAP
    out += [line(LEFT, y(0), width - 130, y(0), '#1a202c'),
            line(LEFT, y(AIM), width - 130, y(AIM), '#c53030', 'stroke-dasharray="5 4"')]
    for i, (p, b) in enumerate(dict.fromkeys((row[1], row[2]) for row in found)):
        color = COLORS.get(p, COLORS['0.01'])[batches.index(b) % 3]
        out += [f'<rect x="{width - 118}" y="{TOP + 18 * i}" width="12" height="12" fill="{color}"/>',
                text(width - 100, TOP + 18 * i + 10, f'p = {p}, b = {b}', 'start')]
    return '\n'.join(out + ['</svg>', ''])


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    found = rows(sys.argv[1])
    if not found:
        raise SystemExit(f'{sys.argv[1]}: the table has no medians')
    pathlib.Path(sys.argv[2]).write_text(draw(found))
    return 0


if __name__ == '__main__':
    sys.exit(main())
