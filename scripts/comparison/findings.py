"""What was compared, and what differs."""
import hashlib
import os
import threading

SHOWN = 40  # differences printed of each part; all are counted


class Findings:
    """Counts things compared by what they are, and keeps what differs. Any thread may add."""

    def __init__(self, kept):
        self.kept = kept  # folder for both sides of what differs
        self.lock = threading.Lock()
        self.counted = {}  # what: [things, bytes]
        self.differences = []
        self.notes = {}

    def count(self, what, size, things=1):
        with self.lock:
            entry = self.counted.setdefault(what, [0, 0])
            entry[0] += things
            entry[1] += size

    def note(self, text):
        with self.lock:
            self.notes[text] = self.notes.get(text, 0) + 1

    def differs(self, what, name, before=None, after=None):
        """before, after: bytes to keep, or None."""
        with self.lock:
            self.differences.append(f"{what}: {name}")
            number = len(self.differences)
        if before is not None and after is not None and number <= SHOWN:
            os.makedirs(self.kept, exist_ok=True)
            for side, data in (("before", before), ("after", after)):
                with open(os.path.join(self.kept, f"{number}.{side}"), "wb") as file:
                    file.write(data)

    def same(self, what, name, before, after):
        """Compares two byte strings, counts them, and says whether they are the same."""
        self.count(what, len(before))
        if before == after:
            return True
        self.differs(what, name, before, after)
        return False

    def report(self):
        """Prints all; the exit status."""
        for what, (things, size) in sorted(self.counted.items()):
            print(f"{what}: {things} compared, {size} bytes")
        for text, times in sorted(self.notes.items()):
            print(f"note: {text}" + (f" ({times} times)" if times > 1 else ""))
        for line in self.differences[:SHOWN]:
            print(f"DIFFERS: {line}")
        total = sum(size for _, size in self.counted.values())
        things = sum(things for things, _ in self.counted.values())
        if self.differences:
            print(f"{len(self.differences)} of {things} differ; both sides are in {self.kept}")
            return 1
        print(f"the same: {things} things, {total} bytes")
        return 0


def digest(data):
    return hashlib.blake2b(data, digest_size=16).hexdigest()
