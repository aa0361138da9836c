"""The rooms of scripts/rooms.txt, the files in them, and who includes whom. What check_rooms.py holds against the file
and draw_rooms.py draws."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCES = {'.c', '.cpp', '.h'}


class Rooms:
    """The rooms of rooms.txt, from top to bottom, and what each may use."""

    def __init__(self, path=ROOT / 'scripts' / 'rooms.txt'):
        self.order, self.uses, errors = [], {}, []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.split('#')[0].strip()
            if not line:
                continue
            room, _, uses = line.partition(':')
            room = room.strip()
            if room in self.uses:
                errors.append(f'{path.name}:{number}: {room} is there twice')
            self.order.append(room)
            self.uses[room] = (number, uses.split())
        place = {room: i for i, room in enumerate(self.order)}
        self.allowed = {}
        for room, (number, uses) in self.uses.items():
            allowed = {room, 'base'}
            for use in uses:
                below = {r for r in self.order[place[room] + 1:] if r == use or r.startswith(use + '/')}
                if not below:
                    errors.append(f'{path.name}:{number}: {use} is no room below {room}')
                allowed |= below
            self.allowed[room] = allowed
        if errors:
            sys.exit('\n'.join(errors))

    def of(self, path):
        """The innermost room of a path relative to the root; None: in none."""
        folder = os.path.dirname(path)
        while folder:
            if folder in self.uses:
                return folder
            folder = os.path.dirname(folder)
        return None


def unit(path):
    """A header and its source are one file to this check."""
    return os.path.splitext(path)[0]


def read_sources(rooms, root=ROOT):
    """Every source and header below the large rooms, relative to the root; and those that are in no room."""
    tops = {room.split('/')[0] for room in rooms.order}
    found, homeless = [], []
    for top in sorted(tops):
        for path in sorted((root / top).rglob('*')):
            if path.suffix in SOURCES:
                relative = str(path.relative_to(root))
                (found if rooms.of(relative) else homeless).append(relative)
    return found, homeless


def read_includes(sources, root=ROOT):
    """(from, to, why) for each include of a file that is in a room."""
    known = set(sources)
    for path in sources:
        for name in INCLUDE.findall((root / path).read_text(errors='replace')):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            to = name if name in known else beside if beside in known else None
            if to:
                yield path, to, 'includes it'
