#!/usr/bin/env python3
"""bench/cost/stepped.py, step_frames.c and window_processor.py with a game of two pixels: test_stepped.py SOURCE BUILD"""
import math
import pathlib
import shutil
import sys
import time
import unittest

SOURCE, BUILD = (pathlib.Path(word) for word in sys.argv.pop(1).split(":"))
sys.path.insert(0, str(SOURCE / "bench/cost"))
import stepped  # noqa: E402
import window_processor  # noqa: E402

LIBRARY = BUILD / "bench/step_frames.so"


def games(*arguments, count=2, callgrind=False):
    return [stepped.Game(f"game {i}", [str(BUILD / "tests/system/stepped_game"), *arguments], LIBRARY,
                         callgrind=callgrind) for i in range(count)]


class Steps(unittest.TestCase):
    def setUp(self):
        self.runs = []
        self.addCleanup(lambda: [run.end() for run in self.runs])

    def test_processes_draw_the_same(self):
        self.runs = games(count=3)
        pictures = [stepped.draw_all(self.runs, b"#") for _ in range(20)]
        self.assertEqual([len(set(row)) for row in pictures], [1] * 20)
        self.assertEqual(len({row[0] for row in pictures}), 20)
        stepped.draw_same(self.runs)

    def test_a_process_ahead_is_found(self):
        self.runs = games()
        self.runs[0].draw()
        with self.assertRaisesRegex(SystemExit, "do not draw the same"):
            stepped.draw_same(self.runs)

    def test_what_differs_is_found(self):
        self.runs = games("differs")
        stepped.draw_all(self.runs)
        with self.assertRaisesRegex(SystemExit, "do not draw the same: 2 pictures"):
            stepped.draw_same(self.runs)

    def test_compile_threads_do_not_count(self):
        self.runs = games("compiles", count=1)
        run = self.runs[0]
        run.draw()
        run.spent()
        threads = list(pathlib.Path(f"/proc/{run.program()}/task").iterdir())
        own = next(thread for thread in threads if (thread / "comm").read_text().strip() == "piecemeal")
        begun = int((own / "schedstat").read_text().split()[0])
        while int((own / "schedstat").read_text().split()[0]) - begun < 300_000_000:
            time.sleep(0.02)
        run.measure()
        self.assertLess(run.times[0], 100)

    @unittest.skipUnless(shutil.which("callgrind_control"), "callgrind is not installed")
    def test_instructions_of_the_frames_alone(self):
        self.runs = games("works", callgrind=True)
        once, often = self.runs[0].executed(1), self.runs[1].executed(4)
        self.assertGreater(once, 2)
        self.assertLess(once, 12)  # of a million turns
        self.assertAlmostEqual(often / once, 1, delta=0.001)
        self.runs[0].draw()
        self.assertAlmostEqual(self.runs[0].executed(2) / once, 1, delta=0.001)

    def test_it_ends_when_it_is_not_told_to_draw(self):
        run = games(count=1)[0]
        run.tells.close()
        self.assertNotEqual(run.process.wait(60), 0)
        run.end()


class Side:
    """What window_processor.compare reads of a process: the window is open in every second block of ten frames."""

    def __init__(self, count):
        self.opens, self.run = [i // 10 % 2 == 1 for i in range(count)], self
        self.first = [int(is_open and i % 10 == 3) for i, is_open in enumerate(self.opens)]
        self.times = [22.0 if first else 11.0 for first in self.first]


class Compare(unittest.TestCase):
    def test_a_window_against_the_pauses_beside_it(self):
        side = Side(100)
        # The process is slower throughout, ever more so, and frames at first uses are slow.
        ratios = [0.3 + 0.001 * i + 0.01 * is_open + 5 * first
                  for i, (is_open, first) in enumerate(zip(side.opens, side.first))]
        found = window_processor.compare(ratios, side)
        self.assertEqual([count for _, count in found], [9] * 5)
        for difference, _ in found[:-1]:
            self.assertAlmostEqual(difference, 0.01, delta=0.0002)  # one frame of ten is left out
        self.assertEqual(window_processor.percent(math.log(1.005)), "+0.50")

    def test_first_uses_stand_apart(self):
        side = Side(40)
        ratios = [math.log(time / 10) for time in side.times]
        uses, more = window_processor.first_uses(ratios, [10] * 40, side)
        self.assertEqual(uses, 2)
        self.assertAlmostEqual(more, 22)

    def test_windows_in_the_log(self):
        self.assertEqual(window_processor.blocks([False, True, True, False]),
                         [(0, 1, False), (1, 3, True), (3, 4, False)])


if __name__ == "__main__":
    unittest.main()
