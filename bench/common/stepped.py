"""Programs that draw a frame when told to, and the processor time or the instructions that each takes of them.

A scene of ours (examples/, --step), or a game or program that step_frames.c makes wait and draw the same frames each
time. What belongs to a session is a temporary folder's, which may begin with what another one left (state). Of time the
layer's compile threads do not count: a player's have a share of their own (limits.background_share). lavapipe draws on
the thread that asks for it (LP_NUM_THREADS=0).
"""
import math
import os
import pathlib
import random
import re
import select
import shutil
import statistics
import subprocess
import sys
import tempfile

COMPILES = "piecemeal"  # what layer/core/compiler.c calls its threads
WRITES = "piecemeal-write"  # likewise those that write files, some of them each second
MOST_SECONDS = 300  # for one frame, in which a level may be loaded and variants compiled
MOST_COUNTED_SECONDS = 3600  # likewise, under callgrind
KINDS = ("data", "config", "cache", "state")  # of XDG's folders
# What the layer logs of a variant that counts, and of a specialized one.
FIRST_USES = re.compile("first use of a variant|specialized, is used from now on")
PRELOAD = "{preload}"  # where in a game's command what is preloaded goes: piecemeal itself does without


class Run:
    """A scene that draws when told to; with a build tree, with its layer and what is set of it; or under callgrind.

    run: further options of piecemeal run; state: the folder whose data, config and cache this begins with."""

    apart = (COMPILES,)  # threads whose time does not count

    def __init__(self, name, command, build=None, sets=(), callgrind=False, run=(), state=None):
        self.name, self.times, self.first = name, [], []
        self.folder = tempfile.TemporaryDirectory(prefix="piecemeal-bench-")
        self.log = pathlib.Path(self.folder.name, "log")
        environment = dict(os.environ, LP_NUM_THREADS="0", HOME=self.folder.name)
        for kind in KINDS:
            environment[f"XDG_{kind.upper()}_HOME"] = os.path.join(self.folder.name, kind)
            if state and (state / kind).exists():
                shutil.copytree(state / kind, os.path.join(self.folder.name, kind))
        self.most_seconds = MOST_COUNTED_SECONDS if callgrind else MOST_SECONDS
        if callgrind:
            # The game itself may be started by others. Nothing is counted until it is asked for.
            at = command.index(PRELOAD) + 1 if PRELOAD in command else 0
            command = [*command[:at], "valgrind", "--tool=callgrind", "--trace-children=yes",
                       "--instr-atstart=no", "--smc-check=all-non-file",
                       f"--callgrind-out-file={self.folder.name}/executed.%p", *command[at:]]
        command = list(command)
        if build:
            words = [word for one in (*sets, "log.level=debug", f"log.file={self.log}") for word in ("--set", one)]
            command = [str(build / "tools/piecemeal"), "run", *run, *words, "--", *command]
        self.start(command, environment)
        self.known, self.known_uses, self.draws = {}, 0, None

    def start(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.tells, self.told = self.process.stdin, self.process.stdout

    def ask(self, what=b"."):
        self.tells.write(what)
        self.tells.flush()

    def drawn(self):
        """Waits for the frame, of which there is one at a time; what its line says."""
        if not select.select([self.told], [], [], self.most_seconds)[0]:
            self.process.terminate()
            raise SystemExit(f"{self.name}: draws no frame")
        line = self.told.readline()
        if not line:
            raise SystemExit(f"{self.name}: ended, {self.process.wait()}; {self.said()}")
        return line.strip()

    def said(self):
        """The last that it wrote."""
        output = pathlib.Path(self.folder.name, "output")
        return output.read_text(errors="replace")[-300:].strip() if output.exists() else ""

    def draw(self):
        self.ask()
        return self.drawn()

    def uses(self):
        """How many variants were used for the first time, or are from now on: drivers compile them then."""
        return len(FIRST_USES.findall(self.log.read_text(errors="replace"))) if self.log.exists() else 0

    def settle(self, frames):
        """Draws until no variant was used for the first time in so many frames; how many were drawn."""
        drawn, uses, since = 0, 0, 0
        while since < frames:
            self.draw()
            drawn += 1
            found = self.uses()
            uses, since = found, since + 1 if found == uses else 0
        return drawn

    def program(self):
        """The process that draws."""
        if self.draws is None:
            below = [self.process.pid]
            while below:
                self.draws = int(below[0])
                below = pathlib.Path(f"/proc/{self.draws}/task/{self.draws}/children").read_text().split()
        return self.draws

    def threads(self):
        """Nanoseconds of processor time by thread, of the program that draws."""
        times = {}
        for thread in pathlib.Path(f"/proc/{self.program()}/task").iterdir():
            try:
                if (thread / "comm").read_text().strip() not in self.apart:
                    times[thread.name] = int((thread / "schedstat").read_text().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
        return times

    def spent(self):
        """Milliseconds since the last call, of threads that are there."""
        now = self.threads()
        spent = sum(time - self.known.get(thread, 0) for thread, time in now.items())
        self.known = now
        return spent / 1e6

    def measure(self):
        """A frame, and what the layer's other threads did since the last one; and the first uses of variants in it."""
        self.draw()
        self.times.append(self.spent())
        uses = self.uses()
        self.first.append(uses - self.known_uses)
        self.known_uses = uses

    def begin(self):
        """What is measured begins here."""
        self.spent()
        self.known_uses = self.uses()

    def executed(self, frames):
        """Millions of instructions a frame, of all threads, over so many frames that are drawn for it."""
        def tell(what):
            told = subprocess.run(["callgrind_control", what, str(self.program())], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if told.returncode:
                raise SystemExit(f"{self.name}: {told.stdout}")

        tell("--instr=on")
        for _ in range(frames):
            self.draw()
        tell("--dump")
        tell("--instr=off")
        counted = 0
        for file in pathlib.Path(self.folder.name).glob(f"executed.{self.program()}.*"):
            counted += sum(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith("totals:"))
            file.unlink()
        if not counted:
            raise SystemExit(f"{self.name}: callgrind counted nothing")
        return counted / frames / 1e6

    def end(self):
        self.tells.close()
        self.process.wait()
        self.told.close()
        self.folder.cleanup()


class Game(Run):
    """A game or program that step_frames.c makes wait: its command, in which {folder} is the session's own."""

    def __init__(self, name, command, library, build=None, sets=(), callgrind=False, run=(), state=None):
        self.library = library
        super().__init__(name, [PRELOAD, *command], build, sets, callgrind, run, state)
        self.drawn()  # its first frame, unasked

    def start(self, command, environment):
        waits, tells = os.pipe()
        told, says = os.pipe()
        os.makedirs(os.path.join(self.folder.name, "home"), exist_ok=True)
        where = command.index(PRELOAD)
        command[where:where + 1] = ["env", f"LD_PRELOAD={self.library}", f"STEP_WAIT={waits}", f"STEP_TELL={says}"]
        command = [word.replace("{folder}", self.folder.name) for word in command]
        with open(os.path.join(self.folder.name, "output"), "wb") as output:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, pass_fds=(waits, says))
        os.close(waits)
        os.close(says)
        self.tells, self.told = os.fdopen(tells, "wb"), os.fdopen(told, "rb")


def draw_all(runs, what=b"."):
    """A frame of each, side by side."""
    for run in runs:
        run.ask(what)
    return [run.drawn() for run in runs]


def measure_in_turn(runs):
    """A frame of each, one after the other, in an order drawn anew."""
    for run in random.sample(runs, len(runs)):
        run.measure()


def draw_same(runs):
    """A frame of each, which is to be the same picture; none of scenes of ours, which say no sum."""
    if not all(isinstance(run, Game) for run in runs):
        return
    pictures = set(draw_all(runs, b"#"))
    if len(pictures) > 1:
        raise SystemExit(f"they do not draw the same: {len(pictures)} pictures of {len(runs)} processes")


def middle(values):
    """The median with the 95 % interval that the order of the values gives."""
    values = sorted(values)
    count = len(values)
    half = 1.96 * math.sqrt(count) / 2
    low, high = max(math.floor(count / 2 - half), 0), min(math.ceil(count / 2 + half), count - 1)
    return statistics.median(values), values[low], values[high]


def make(options, name, build=None, sets=(), **more):
    """The scene or game of the options (parse)."""
    if options.command:
        return Game(name, options.command, options.builds[-1] / "bench/step_frames.so", build, sets, **more)
    scene, _, number = options.scene.partition("-")
    command = [str(options.builds[-1] / f"examples/piecemeal-{scene}"), "--size", options.size, "--step"]
    return Run(name, command + (["--scene", number] if number else []), build, sets, **more)


def parse(parser):
    """The options, with the scene's or game's, which come last: SCENE[-NUMBER] SIZE BUILD… or GAME SIZE BUILD… -- COMMAND…"""
    parser.add_argument("scene")
    parser.add_argument("size")
    parser.add_argument("builds", nargs="+", type=lambda text: pathlib.Path(text).resolve())
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:split])
    options.command = words[split + 1:]
    return options
