#!/usr/bin/env python3
"""Runs tests of the layer on the null driver under Debian 13's validation layer, with it above us and with it below us.
Above it sees what a test calls, below what the driver is given: a kind of message that a test has below and not above is
of calls of ours, and fails unless KNOWN has it, with the reason why it may be.

    validated.py PROGRAM...

What a test comes to under it is not looked at (the validation layer makes calls of its own, which tests count), but that
it does not crash for us alone. Exit status: 0 nothing of ours, 1 something, 77 no Debian 13 validation layer
(scripts/fetch_loader.sh).
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from validation import KNOWN, SAID, SETTINGS  # pylint: disable=wrong-import-position

LIMIT = 600  # seconds for a program

RUN = re.compile(r"\[ RUN +\] (\w+)")


def messages(program, order, options, scratch):
    """({test: {kind: how often}}, text of each, exit status), of a program run with the validation layer in this
    place."""
    env = dict(os.environ, PM_TEST_VALIDATION_LAYER=options.validation, PM_TEST_VALIDATION_ORDER=order,
               VK_LAYER_SETTINGS_PATH=scratch)
    out = subprocess.run([options.loader + "/run", program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", timeout=LIMIT, check=False)
    found, texts, test = collections.defaultdict(collections.Counter), {}, ""
    lines = out.stdout.splitlines()
    for i, line in enumerate(lines):
        run, said = RUN.search(line), SAID.match(line)
        if run:
            test = run.group(1)
        elif said:
            found[test][said.group(1)] += 1
            texts.setdefault((test, said.group(1)), "\n".join(lines[i:i + 6]))
    return found, texts, out.returncode


def ours(above, below):
    """(test, kind) that are there below alone."""
    return sorted((test, kind) for test, kinds in below.items() for kind in kinds if kind not in above.get(test, {}))


def crashed(status):
    """Whether a signal ended it, in the process or in one below it."""
    return status < 0 or status > 128


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    options.loader = source + "/build/loader-13"
    options.validation = options.loader + "/root/usr/share/vulkan/explicit_layer.d"
    if not os.access(options.loader + "/run", os.X_OK):
        print("no Debian 13 validation layer (scripts/fetch_loader.sh)", file=sys.stderr)
        return 77
    failed, seen, used = False, collections.Counter(), set()
    with tempfile.NamedTemporaryFile("w", prefix="validated-") as settings:
        settings.write(SETTINGS)
        settings.flush()
        for program in options.programs:
            name = os.path.basename(program)
            begun = time.monotonic()
            try:
                above, _, status_above = messages(program, "above", options, settings.name)
                below, texts, status_below = messages(program, "below", options, settings.name)
            except subprocess.TimeoutExpired as late:
                print("%s: %s" % (name, late), flush=True)
                failed = True
                continue
            for order, found in (("above", above), ("below", below)):
                seen[order] += sum(sum(kinds.values()) for kinds in found.values())
            if crashed(status_below) and not crashed(status_above):
                print("%s: ends with %d below, %d above" % (name, status_below, status_above))
                failed = True
            for test, kind in ours(above, below):
                if kind in KNOWN:
                    used.add(kind)
                    continue
                print("%s: %s, of us alone (%d times):\n%s" % (name, test, below[test][kind], texts[test, kind]))
                failed = True
            print("%s: %.0f s" % (name, time.monotonic() - begun), flush=True)
    print("%d messages above, %d below, of us %s" %
          (seen["above"], seen["below"], ", ".join(sorted(used)) or "none that is known"))
    if not seen["above"] or not seen["below"]:
        print("the validation layer said nothing: it is not there")  # the tests misuse Vulkan on purpose here and there
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
