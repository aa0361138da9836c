#!/usr/bin/env python3
"""bench/common/stepped.py and step_frames.c, window_processor.py and gain_processor.py: test_stepped.py SOURCE:BUILD"""
import math
import pathlib
import random
import shutil
import sys
import tempfile
import time
import unittest

SOURCE, BUILD = (pathlib.Path(word) for word in sys.argv.pop(1).split(":"))
sys.path[:0] = [str(SOURCE / room) for room in ("bench/common", "bench/cost", "bench/gain")]
import gain_processor  # noqa: E402
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

    def test_clocks_are_alike_and_sleep_takes_no_time(self):
        self.runs = games("clocks", count=3)
        begun = time.monotonic()
        for _ in range(5):
            stepped.draw_all(self.runs)
        self.assertLess(time.monotonic() - begun, 40)  # of 50 s by either
        stepped.draw_same(self.runs)

    def test_what_others_show(self):
        for how in ("glx", "vulkan", "encodes"):
            self.runs += games(how)
            for run in self.runs[-2:]:
                pictures = [run.draw() for _ in range(3)]
                self.assertEqual(pictures, [b"0" * 16] * 3)
        pictures = stepped.draw_all(self.runs, b"#"), stepped.draw_all(self.runs, b"#")
        for one, other in zip(*(row[:2] for row in pictures)):
            self.assertNotEqual(one, other)  # OpenGL's are summed up
        self.assertEqual(len(set(pictures[1][:2])), 1)

    def test_a_session_begins_with_a_state(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("data", "home"):
                pathlib.Path(folder, kind).mkdir()
                pathlib.Path(folder, kind, "known").write_text(kind)
            self.runs = [stepped.Game("game", [str(BUILD / "tests/system/stepped_game")], LIBRARY,
                                      state=pathlib.Path(folder))]
            own = pathlib.Path(self.runs[0].folder.name)
            self.assertEqual((own / "data/known").read_text(), "data")
            self.assertFalse((own / "home/known").exists())
            self.assertTrue(pathlib.Path(folder, "data/known").exists())

    def beside(self, name):
        """Milliseconds of a frame while a thread that is called so has worked for 300 ms."""
        run = self.runs[-1]
        run.draw()
        run.spent()
        threads = list(pathlib.Path(f"/proc/{run.program()}/task").iterdir())
        own = next(thread for thread in threads if (thread / "comm").read_text().strip() == name)
        begun = int((own / "schedstat").read_text().split()[0])
        while int((own / "schedstat").read_text().split()[0]) - begun < 300_000_000:
            time.sleep(0.02)
        run.measure()
        return run.times[-1]

    def test_compile_threads_do_not_count(self):
        self.runs = games("compiles", count=1)
        self.assertLess(self.beside("piecemeal"), 100)

    def test_what_writes_counts_unless_told(self):
        self.runs = games("writes", count=1)
        self.assertGreater(self.beside("piecemeal-write"), 200)
        self.runs[-1].apart = (stepped.COMPILES, stepped.WRITES)
        self.assertLess(self.beside("piecemeal-write"), 100)

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


class Frames:
    """What gain_processor reads of a process: the times of its frames, where variants were used first, and its log."""

    def __init__(self, times, first=(), said=None):
        self.times, self.first = times, [int(i in first) for i in range(len(times))]
        self.said, self.log = said, self

    def exists(self):
        return self.said is not None

    def read_text(self, errors):
        return self.said


class Gain(unittest.TestCase):
    def test_how_many_more_frames(self):
        none = [Frames([10.0] * 40), Frames([10.0] * 40)]
        way = [Frames([8.0] * 40, first=(3, 20, 39)), Frames([5.0] * 40)]
        found = gain_processor.gains(way, none)
        self.assertEqual([count for _, count in found], [35, 40])  # without those of a first use, and the next ones
        self.assertEqual([gain_processor.percent(gain) for gain, _ in found], ["+25.00", "+100.00"])

    def test_noise_favours_nobody(self):
        def process(seed):
            drawn = random.Random(seed)
            return Frames([10 * math.exp(drawn.expovariate(20)) for _ in range(4000)])

        none = [process(seed) for seed in range(3)]
        way = [process(seed) for seed in range(3, 6)]
        found, usual = ([gain for gain, _ in gain_processor.gains(runs, none)] for runs in (way, none))
        self.assertAlmostEqual(gain_processor.interval(found, usual)[0], 0, delta=0.002)

    def test_a_long_frame_says_little(self):
        none = [Frames([10.0 + i % 5 for i in range(100)])]
        times = [time / 1.02 for time in none[0].times]
        times[50] = 1000.0
        (gain, _), = gain_processor.gains([Frames(times)], none)
        self.assertAlmostEqual(math.exp(gain), 1.02)

    def test_the_interval_is_of_processes(self):
        middle, (low, high) = gain_processor.interval([0.9, 1.0, 1.1], [-0.1, 0.0, 0.1])
        self.assertAlmostEqual(middle, 1)
        self.assertAlmostEqual(high - middle, 2.776 * math.sqrt(2 * 0.01 / 3), delta=0.002)  # of 4 degrees
        self.assertAlmostEqual(middle - low, high - middle)
        self.assertEqual(gain_processor.interval([1.0], [0.0, 0.1])[1], None)
        for degrees, point in ((3, 3.182), (10, 2.228), (1e9, 1.960)):
            self.assertAlmostEqual(gain_processor.student(degrees), point, delta=0.03)

    def test_too_few_frames(self):
        none = [Frames([10.0] * 16)]
        way = gain_processor.Way("zeros", [Frames([8.0] * 16, first=range(0, 16, 2))])
        self.assertIn("too few frames", gain_processor.row("game", way, none))

    def test_rows(self):
        said = "".join(f"piecemeal: info: shader {key}, specialized, is used from now on\n" for key in ("a0", "b1", "a0"))
        way = gain_processor.Way("zeros", [Frames([8.0] * 9, said=said), Frames([8.0] * 9, said="")], "1 of 2")
        none = [Frames([10.0] * 9), Frames([10.0] * 9)]
        self.assertEqual(gain_processor.row("game", way, none),
                         "| game | zeros | 1 of 2 | 2 | 10.00 | +25.00 % (+25.00 to +25.00) | +25.00 to +25.00 | 9 |")
        self.assertEqual(gain_processor.row("game", gain_processor.Way("no layer", none), none),
                         "| game | no layer | – | – | 10.00 | – | +0.00 to +0.00 | 9 |")


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
