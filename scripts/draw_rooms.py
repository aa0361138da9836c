#!/usr/bin/env python3
"""Draws the rooms and the three lives through them, as an SVG, from scripts/rooms.txt and the sources.

  draw_rooms.py            writes docs/rooms.svg
  draw_rooms.py --check    fails if docs/rooms.svg is not what would be drawn

Whoever adds a room gives it its words in WORDS, below, and a row in the table of docs/architecture.md. An arrow is as
thick as there are pairs of files of which the one includes the other, or calls a function of its own; only in three
steps, so that the picture changes seldom. What the lives pass through is in LIVES: a step must be supported by such a
pair, in one direction or the other, or (WIRE) by a header of profile/ that both ends use; else the script fails and
says which step.
"""
import collections
import html
import re
import sys

from rooms import ROOT, Rooms, read_includes, read_sources

PICTURE, PAGE = ROOT / 'docs' / 'rooms.svg', ROOT / 'docs' / 'architecture.md'

# What a room is for. In a box there is room for 26 characters, in the tools' for 21.
WORDS = {
    'bench': 'one folder a question',
    'bench/cost': 'cycles, compile times',
    'bench/gain': 'time and instructions',
    'bench/coverage': 'how soon, how sure',
    'bench/population': 'many simulated players',
    'bench/poison': 'tokens that lie',
    'bench/ingest': 'uploads and curation',
    'bench/common': 'scenes, frame by frame',
    'tools': 'the command line',
    'tools/report': 'the shaders, coloured',
    'tools/export': 'LLVM, pprof, CSV, …',
    'tools/db': 'show, backup, drop',
    'tools/doctor': 'what this machine has',
    'tools/serve': 'the aggregator',
    'tools/run': 'a game, with us',
    'tools/bisect': 'which shader is wrong',
    'tools/trace': 'a run as a trace',
    'tools/shader': 'one pass over a file',
    'tools/stored': 'names, costs',
    'tools/common': 'what these share',
    'layer/public': 'what games may include',
    'layer/hooks': 'what loader and game call',
    'layer/trial': 'is it faster?',
    'layer/counts': 'read back, written down',
    'layer/frame': 'windows and sampled calls',
    'layer/shader': 'pipelines and variants',
    'layer/memory': 'counters',
    'layer/core': 'threads, tables, messages',
    'layer/generate': 'made from vk.xml',
    'aggregator': "the library's face",
    'aggregator/dashboard': 'pages and their API',
    'aggregator/service': 'HTTP, tokens, limits',
    'aggregator/curation': 'estimates, published',
    'aggregator/intake': 'uploads checked, folded',
    'aggregator/trust': 'whom it believes',
    'aggregator/storage': "a storage's interface",
    'aggregator/storage/sqlite': 'SQLite behind it',
    'aggregator/storage/postgres': 'PostgreSQL behind it',
    'aggregator/statistics': 'sums, intervals',
    'aggregator_client': 'consent, upload, pull',
    'aggregator_client/disk': 'spool, cached database',
    'sampler': 'three countdowns',
    'shader_rewrite': "the library's face",
    'shader_rewrite/blocks': 'by how often blocks run',
    'shader_rewrite/constants': 'words that seldom change',
    'shader_rewrite/variants': 'recipes of A-Z testing',
    'shader_rewrite/zero': 'specialized for zeros',
    'shader_rewrite/quirks': "drivers' compilers",
    'shader_rewrite/instrument': 'counters put in',
    'shader_rewrite/points': 'what can be counted',
    'shader_rewrite/zero/choose': 'what it would save',
    'shader_rewrite/zero/region': 'where zeros reach',
    'shader_rewrite/zero/fold': 'what they make zero',
    'shader_rewrite/zero/candidates': 'what may be zero',
    'shader_rewrite/canonical': 'the form that has a key',
    'shader_rewrite/analysis': 'what a module does',
    'shader_rewrite/ir': 'SPIR-V, read and written',
    'shader_rewrite/partition': 'large shaders in passes',
    'shader_rewrite/partition/schedule': 'operations cut into passes',
    'profile': 'shader key, piecemeal profile, PGO database, and their encodings',
    'base': 'errors, memory, log, configuration, files; every room uses it, which is not drawn',
}

WIRE = 'wire'  # over HTTP: no call, the same encoding

# A life is a way through the rooms: (from, to, what happens there). It begins with (None, room, words).
LIVES = [
    ('A frame', '#2b6cb0', '', [
        (None, 'layer/hooks', 'present, draw, dispatch'),
        ('layer/hooks', 'layer/frame', 'is a window open?'),
        ('layer/frame', 'sampler', 'is it this call?'),
        ('layer/frame', 'layer/shader', 'bind the variant that counts'),
        ('layer/shader', 'layer/memory', 'which has its counters'),
        ('layer/memory', 'layer/counts', 'these are copied and read'),
    ]),
    ('A shader', '#805ad5', '', [
        (None, 'layer/hooks', 'a module, a pipeline'),
        ('layer/hooks', 'layer/shader', 'both are remembered'),
        ('layer/shader', 'layer/core', 'the rest on a background thread'),
        ('layer/shader', 'shader_rewrite/canonical', 'its canonical form and key'),
        ('layer/shader', 'shader_rewrite/points', 'its points are numbered'),
        ('layer/shader', 'shader_rewrite/instrument', 'some get counters'),
        ('layer/shader', 'shader_rewrite/zero', 'or it is specialized'),
        ('shader_rewrite/zero', 'shader_rewrite/quirks', "around drivers' compilers"),
        ('layer/shader', 'layer/trial', 'faster? then it is bound'),
    ]),
    ('A profile', '#b7791f', '', [
        (None, 'layer/counts', 'counters'),
        ('layer/counts', 'aggregator_client/disk', 'a checkpoint in the spool'),
        ('aggregator_client/disk', 'aggregator_client', 'merged into one upload'),
        ('aggregator_client', 'aggregator/service', 'POST', WIRE),
        ('aggregator/service', 'aggregator/intake', 'is it possible?'),
        ('aggregator/intake', 'aggregator/trust', 'does it count?'),
        ('aggregator/intake', 'aggregator/storage', 'stored, then acknowledged'),
        ('aggregator/intake', 'aggregator/statistics', 'folded into sums'),
    ]),
    ('The PGO database, back', '#2f855a', '7 4', [
        (None, 'aggregator/statistics', 'sums'),
        ('aggregator/statistics', 'aggregator/curation', 'estimates, published'),
        ('aggregator/curation', 'aggregator/service', 'kept for who asks'),
        ('aggregator/service', 'aggregator_client', 'GET', WIRE),
        ('aggregator_client', 'aggregator_client/disk', 'kept, for when nobody answers'),
        ('aggregator_client/disk', 'layer/hooks', "read at a session's start"),
        ('layer/hooks', 'layer/shader', 'what to specialize for'),
    ]),
]

# Where a large room stands. What is not here is drawn nowhere, and the script says so.
STRIPS_ABOVE, STRIPS_BELOW = ['bench', 'tools'], ['profile', 'base']
COLUMNS = [['layer'], ['aggregator_client', 'sampler', 'shader_rewrite'], ['aggregator']]

WIDTH, MARGIN = 1200, 20
COLUMN_X = [20, 430, 840]
COLUMN_WIDTH, BOX_WIDTH, BOX_HEIGHT, PITCH = 310, 246, 58, 70
LANE, LANE_Y = 19, [22, 36, 49, 9]  # of a life: how far its lane is from the next; where its number is in a box
HEAD = 30  # of a large room, above its first box
GREY, BAD = '#8a94a3', '#c53030'

DEFINITION = re.compile(r'^(?!static)[A-Za-z_][\w *]*?\b(pm_\w+)\([^;{}]*\)\s*\{', re.M)
CALL = re.compile(r'(?<!struct )(?<!enum )(?<!union )\bpm_\w+')
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\n])*"', re.S)


def read_pairs(sources):
    """(file, file) for each pair of which the first includes the second or calls what it defines."""
    pairs = {(user, used) for user, used, _ in read_includes(sources)}
    code = {path: NOT_CODE.sub('', (ROOT / path).read_text(errors='replace')) for path in sources}
    definer = {}
    for path in sources:
        for name in DEFINITION.findall(code[path]):
            definer.setdefault(name, path)
    for path in sources:
        pairs |= {(path, definer[name]) for name in CALL.findall(code[path]) if name in definer}
    return {pair for pair in pairs if pair[0] != pair[1]}


def top(room):
    return room.split('/')[0]


class House:
    """The rooms that have files, and how often one uses another."""

    def __init__(self):
        self.rooms = Rooms()
        sources, _ = read_sources(self.rooms)
        pairs = read_pairs(sources)
        full = {self.rooms.of(path) for path in sources}
        self.order = [room for room in self.rooms.order if room in full]
        self.uses = collections.Counter()
        self.headers = collections.defaultdict(set)  # room -> which files of profile/ it uses
        for user, used in pairs:
            here, there = self.rooms.of(user), self.rooms.of(used)
            if here != there and there != 'base':
                self.uses[here, there] += 1
            if there == 'profile':
                self.headers[here].add(used)

    def inner(self, large):
        """The rooms of a large one, from top to bottom, its own files among them."""
        return [room for room in self.order if top(room) == large]

    def large_uses(self):
        total = collections.Counter()
        for (here, there), count in self.uses.items():
            if top(here) != top(there):
                total[top(here), top(there)] += count
        return total

    def complaints(self):
        placed = {*STRIPS_ABOVE, *STRIPS_BELOW, *(room for column in COLUMNS for room in column)}
        page = PAGE.read_text()
        for room in self.order:
            if f'\n| `{room}/` | ' not in page:
                yield f'{room} has no row in the table of {PAGE.relative_to(ROOT)}'
            if room not in WORDS:
                yield f'{room} has no words: give it some in WORDS'
            elif top(room) not in STRIPS_BELOW and len(WORDS[room]) > (21 if top(room) == 'tools' else 26):
                yield f'{room}: its words do not fit: {WORDS[room]}'
            if top(room) not in placed:
                yield f'{room} has no place: give {top(room)} one in COLUMNS'
        for name, _, _, steps in LIVES:
            for here, there, words, *how in steps:
                for room in (here, there):
                    if room and room not in self.order:
                        yield f'{name}: {words}: there is no room {room}'
                if not here:
                    continue
                ways = self.uses[here, there] + self.uses[there, here]
                if how and self.headers[here] & self.headers[there]:
                    ways += 1
                if not ways:
                    yield f'{name}: {words}: neither {here} nor {there} includes or calls the other'


class Svg:
    def __init__(self):
        self.back, self.front = [], []

    def add(self, line, front=False):
        (self.front if front else self.back).append('  ' + line)

    def text(self, x, y, text, size=12, anchor='start', weight='', fill='#1a202c'):
        weight = f' font-weight="{weight}"' if weight else ''
        self.add(f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"{weight} fill="{fill}">'
                 f'{html.escape(text)}</text>', True)

    def box(self, x, y, width, height, fill, stroke, radius=5, stroke_width=1.2):
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" fill="{fill}" '
                 f'stroke="{stroke}" stroke-width="{stroke_width}"/>')

    def path(self, d, stroke, width, dash='', arrow=False, front=False, opacity=1):
        dash = f' stroke-dasharray="{dash}"' if dash else ''
        arrow = f' marker-end="url(#{"bad" if stroke == BAD else "head"})"' if arrow else ''
        faint = f' stroke-opacity="{opacity}"' if opacity != 1 else ''
        self.add(f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round"{dash}'
                 f'{arrow}{faint}/>', front)


def thickness(count):
    return 1.1 if count < 5 else 2.2 if count < 20 else 4


class Picture:
    def __init__(self, house):
        self.house, self.svg, self.place = house, Svg(), {}  # room -> (x, y, width, height)
        self.column = {room: i for i, column in enumerate(COLUMNS) for room in column}
        self.large = {}

    def draw_room(self, room, x, y, width, text_x, own=False, size=10.5):
        svg = self.svg
        self.place[room] = (x, y, width, BOX_HEIGHT)
        svg.box(x, y, width, BOX_HEIGHT, '#ffffff', '#4a5568')
        name = 'itself' if own else room.split('/', 1)[-1] + '/'
        svg.text(text_x, y + 26, name, 12.5, weight='bold')
        svg.text(text_x, y + 41, WORDS[room], size, fill='#3a4454')

    def draw_strip(self, room, y, height):
        svg = self.svg
        self.large[room] = (MARGIN, y, WIDTH - 2 * MARGIN, height)
        svg.box(MARGIN, y, WIDTH - 2 * MARGIN, height, '#f3f6fa', '#9aa5b4', 8)

    def draw_tools(self, y):
        """The tools' rooms side by side, their arrows below them."""
        rooms = self.house.inner('tools')
        self.draw_strip('tools', y, 138)
        self.svg.text(MARGIN + 12, y + 20, 'tools/', 14, weight='bold')
        step = (WIDTH - 2 * MARGIN - 20) / len(rooms)
        for i, room in enumerate(rooms):
            self.draw_room(room, MARGIN + 12 + i * step, y + 30, step - 6, MARGIN + 17 + i * step, room == 'tools', 9.5)
        self.arcs(rooms, down=True)

    def draw_columns(self, y):
        bottom = 0
        for number, column in enumerate(COLUMNS):
            x, at = COLUMN_X[number], y
            for large in column:
                rooms = self.house.inner(large)
                room_x = x + COLUMN_WIDTH - BOX_WIDTH - 8 if number == 0 else x + 8
                text_x = room_x + (10 if number == 0 else len(LIVES) * LANE + 6)
                if rooms == [large]:
                    self.draw_room(large, room_x, at + 8, BOX_WIDTH, text_x)
                    self.large[large] = self.place[large]
                    at += PITCH
                    continue
                height = HEAD + len(rooms) * PITCH - PITCH + BOX_HEIGHT + 10
                at += 8 if len(column) > 1 else 0
                self.svg.box(x, at, COLUMN_WIDTH, height, '#f3f6fa', '#9aa5b4', 8)
                self.svg.text(x + 12, at + 20, large + '/', 14, weight='bold')
                self.large[large] = (x, at, COLUMN_WIDTH, height)
                for i, room in enumerate(rooms):
                    self.draw_room(room, room_x, at + HEAD + i * PITCH, BOX_WIDTH, text_x, room == large)
                self.arcs(rooms, left=number == 0)
                at += height
            bottom = max(bottom, at)
        return bottom

    def arcs(self, rooms, left=False, down=False):
        """The arrows between the rooms of a large one, beside them: a longer one goes around a shorter."""
        house, out, into = self.house, collections.defaultdict(list), collections.defaultdict(list)
        at = {room: i for i, room in enumerate(rooms)}
        pairs = [(a, b) for a in rooms for b in rooms if house.uses[a, b]]
        for a, b in pairs:
            out[a].append(b)
            into[b].append(a)
        ports = {}
        for room in rooms:
            ends = [('in', a) for a in sorted(into[room], key=lambda a: -at[a])]
            ends += [('out', b) for b in sorted(out[room], key=lambda b: -at[b])]
            for i, (way, other) in enumerate(ends):
                ports[room, way, other] = (i + 1) / (len(ends) + 1)
        for a, b in pairs:
            share = abs(at[b] - at[a]) / max(len(rooms) - 1, 1)
            (ax, ay, aw, ah), (bx, by, bw, bh) = self.place[a], self.place[b]
            if down:
                y, d = ay + ah, 12 + 42 * share
                x1, x2 = ax + aw * ports[a, 'out', b], bx + bw * ports[b, 'in', a]
                d = f'M{x1:.1f} {y} C{x1:.1f} {y + d:.1f} {x2:.1f} {y + d:.1f} {x2:.1f} {y + 2}'
            else:
                reach = 14 + 48 * share
                x, sign = (ax, -1) if left else (ax + aw, 1)
                y1, y2 = ay + ah * ports[a, 'out', b], by + bh * ports[b, 'in', a]
                d = (f'M{x} {y1:.1f} C{x + sign * reach:.1f} {y1:.1f} {x + sign * reach:.1f} {y2:.1f} '
                     f'{x + sign * 2} {y2:.1f}')
            allowed = b in house.rooms.allowed[a]
            self.svg.path(d, GREY if allowed else BAD, thickness(house.uses[a, b]), arrow=True, opacity=0.85)

    def draw_large_arrows(self):
        """Between large rooms; bench's are told in words."""
        uses, large, svg = self.house.large_uses(), self.large, self.svg
        done = set()

        def arrow(a, b, d):
            done.add((a, b))
            if uses[a, b]:
                allowed = any(top(r) == b for room in self.house.inner(a) for r in self.house.rooms.allowed[room])
                svg.path(d, GREY if allowed else BAD, thickness(uses[a, b]), arrow=True)

        tools_bottom = large['tools'][1] + large['tools'][3]
        floor = large['profile'][1]
        for room in ('layer', 'aggregator_client', 'aggregator'):
            x = large[room][0] + large[room][2] / 2
            arrow('tools', room, f'M{x} {tools_bottom} V{large[room][1] - 2}')
        gutter = COLUMN_X[1] + COLUMN_WIDTH
        y = large['shader_rewrite'][1] + 15
        arrow('tools', 'shader_rewrite', f'M{gutter + 12} {tools_bottom} V{y} H{gutter + 2}')
        arrow('tools', 'profile', f'M{WIDTH - 32} {tools_bottom} V{floor - 2}')
        right = COLUMN_X[0] + COLUMN_WIDTH
        for room in ('aggregator_client', 'sampler', 'shader_rewrite'):
            x, y, _, height = large[room]
            y += height / 2 if large[room] == self.place.get(room) else 15
            arrow('layer', room, f'M{right} {y} H{x - 2}')
        for room in ('layer', 'shader_rewrite', 'aggregator'):
            x = large[room][0] + large[room][2] / 2
            arrow(room, 'profile', f'M{x} {large[room][1] + large[room][3]} V{floor - 2}')
        x, y, width, height = large['aggregator_client']
        arrow('aggregator_client', 'profile', f'M{x + width} {y + 15} H{gutter + 26} V{floor - 2}')
        for a, b in uses:
            if a != 'bench' and (a, b) not in done:
                sys.exit(f'draw_rooms: no way is drawn from {a} to {b}: give it one in draw_large_arrows')

    def draw_lives(self):
        svg = self.svg
        number = 0
        for life, (_, colour, dash, steps) in enumerate(LIVES):
            number = 0 if not dash else number  # the database's way goes on counting where the profile's ends
            for here, there, *_ in steps:
                if here:
                    svg.path(self.way(here, there, life), colour, 2.6, dash, front=True)
            for here, there, *_ in steps:
                x, y = self.stop(there, life)
                if dash and not here:
                    svg.add(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>', True)
                    continue
                number += 1
                svg.add(f'<circle cx="{x}" cy="{y}" r="7.5" fill="{colour}" stroke="#ffffff" stroke-width="1"/>', True)
                svg.text(x, y + 3.3, str(number), 9.5, 'middle', 'bold', '#ffffff')

    def stop(self, room, life):
        x, y, width, _ = self.place[room]
        lane = 12 + life * LANE
        return (x + width - lane if self.column[top(room)] == 0 else x + lane), y + LANE_Y[life]

    def way(self, here, there, life):
        """Within a column along the life's lane; between columns through the space between them."""
        (x1, y1), (x2, y2) = self.stop(here, life), self.stop(there, life)
        a, b = self.column[top(here)], self.column[top(there)]
        if a == b:
            return f'M{x1} {y1} V{y2}'
        left = min(a, b)
        between = COLUMN_X[left] + COLUMN_WIDTH + (COLUMN_X[left + 1] - COLUMN_X[left] - COLUMN_WIDTH) * (
            0.30 + 0.16 * life)
        return f'M{x1} {y1} H{between:.1f} V{y2} H{x2}'

    def draw_legend(self, y):
        svg, number, most = self.svg, 0, 0
        for life, (name, colour, dash, steps) in enumerate(LIVES):
            x, at = MARGIN + 12 + life * 290, y
            svg.path(f'M{x} {at - 4} h30', colour, 3, dash, front=True)
            svg.text(x + 38, at, name, 13, weight='bold')
            number = 0 if not dash else number
            for here, there, words, *_ in steps:
                if dash and not here:
                    continue
                number += 1
                at += 17
                svg.text(x + 12, at, str(number), 11, 'end', 'bold', colour)
                svg.text(x + 18, at, f"{there.split('/')[-1]}/: {words}", 11, fill='#3a4454')
            most = max(most, at)
        y = most + 30
        x = MARGIN + 12
        for count, words in ((1, '1 to 4 pairs of files'), (5, '5 to 19'), (20, '20 or more')):
            svg.path(f'M{x} {y - 4} h34', GREY, thickness(count), arrow=True, front=True)
            svg.text(x + 42, y, words, 11, fill='#3a4454')
            x += 70 + 7 * len(words)
        rest = 'A red one is not allowed.' if any(BAD in line for line in svg.back) else 'None leads upward.'
        svg.text(x, y, f'A grey arrow: the upper room includes the lower, or calls it. {rest}', 11, fill='#3a4454')
        return y + 20

    def draw(self):
        svg, uses = self.svg, self.house.large_uses()
        svg.text(MARGIN, 28, 'The rooms, and the three lives through them', 17, weight='bold')
        self.draw_strip('bench', 44, 30)
        svg.text(MARGIN + 12, 64, 'bench/', 14, weight='bold')
        order = [room for room in dict.fromkeys(map(top, self.house.order)) if uses['bench', room]]
        svg.text(MARGIN + 80, 64, f"{WORDS['bench']}; uses {', '.join(order)}", 11, fill='#3a4454')
        self.draw_tools(88)
        bottom = self.draw_columns(258)
        y = bottom + 30
        for room in STRIPS_BELOW:
            self.draw_strip(room, y, 32)
            svg.text(MARGIN + 12, y + 21, room + '/', 14, weight='bold')
            svg.text(MARGIN + 90, y + 21, WORDS[room], 11, fill='#3a4454')
            y += 40
        self.draw_large_arrows()
        self.draw_lives()
        height = self.draw_legend(y + 24)
        heads = ''.join(f'<marker id="{name}" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="7" '
                        f'refY="4" orient="auto"><path d="M0 0 L9 4 L0 8 z" fill="{colour}"/></marker>'
                        for name, colour in (('head', GREY), ('bad', BAD)))
        return '\n'.join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
            f'height="{height:g}" font-family="DejaVu Sans, Verdana, sans-serif">',
            '  <!-- drawn by scripts/draw_rooms.py -->', f'  <defs>{heads}</defs>',
            f'  <rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>', *svg.back, *svg.front, '</svg>', ''])


def main():
    house = House()
    complaints = list(house.complaints())
    if complaints:
        sys.exit('\n'.join(f'draw_rooms: {line}' for line in complaints))
    drawn = Picture(house).draw()
    if sys.argv[1:] == ['--check']:
        if not PICTURE.exists() or PICTURE.read_text() != drawn:
            sys.exit('draw_rooms: docs/rooms.svg is not how the rooms are; scripts/draw_rooms.py draws it again')
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PICTURE.write_text(drawn)
    return 0


if __name__ == '__main__':
    sys.exit(main())
