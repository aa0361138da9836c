"""What two builds' layers do in the same sessions: what they say, what is in their shader stores, and what leaves the
machine. Sessions have a seed and wait for every variant, so that they repeat."""
import glob
import http.server
import os
import re
import shutil
import subprocess
import threading

from . import modules, wire
from .findings import digest

LIMIT = 1800  # seconds a session may take
TRIES = 3
LAYER = "VK_LAYER_PIECEMEAL_cooperative_pgo"
SEED = "7"

ALL = {"SAMPLER_WINDOW_PROBABILITY": "1", "DEBUG_SYNCHRONOUS": "1", "DEBUG_CHECKPOINT_HEARTBEATS": "1"}
MOST = dict(ALL, SAMPLER_API_PROBABILITY="0.5", LOG_LEVEL="debug")
UNTRIED = dict(DEBUG_TRUST_VARIANTS="1", DEBUG_SYNCHRONOUS="1", LOG_LEVEL="debug")

# name: (driver, program, arguments, settings, runs one after the other with these settings besides)
SESSIONS = {
    "postprocess": ("lavapipe-25", "piecemeal-postprocess", ["--frames", "4", "--size", "32x18"],
                    dict(MOST, SAMPLER_BATCH="16"), None),
    "terrain, blocks": ("lavapipe-25", "piecemeal-terrain", ["--frames", "4", "--size", "32x18"],
                        dict(MOST, SAMPLER_KINDS="block"), None),
    "deferred, default log": ("lavapipe-22", "piecemeal-deferred", ["--frames", "3", "--size", "32x18"],
                              dict(ALL, SAMPLER_KINDS="block", SAMPLER_API_PROBABILITY="0.3"), None),
    "terrain, zeros": ("swiftshader", "piecemeal-terrain", ["--frames", "3", "--size", "32x18"],
                       dict(MOST, SAMPLER_KINDS="zero", SAMPLER_BATCH="all"), None),
    "deferred, recorded once": ("swiftshader", "piecemeal-deferred",
                                ["--frames", "3", "--size", "32x18", "--record-once"],
                                dict(MOST, SAMPLER_KINDS="block", SAMPLER_BATCH="all"), None),
    "nothing sampled": ("lavapipe-25", "piecemeal-terrain", ["--frames", "3", "--size", "32x18"],
                        dict(SAMPLER_WINDOW_PROBABILITY="0", LOG_LEVEL="debug"), None),
    "specialized": ("lavapipe-25", "piecemeal-postprocess", ["--frames", "4", "--size", "32x18"],
                    dict(UNTRIED, SAMPLER_WINDOW_PROBABILITY="0"),
                    dict(ALL, SAMPLER_API_PROBABILITY="1", SAMPLER_KINDS="zero", SAMPLER_BATCH="128")),
    "all specialized": ("swiftshader", "piecemeal-postprocess", ["--frames", "4", "--size", "32x18"],
                        dict(UNTRIED, SAMPLER_WINDOW_PROBABILITY="0", DEBUG_SPECIALIZE="all"),
                        dict(ALL, SAMPLER_API_PROBABILITY="1", SAMPLER_KINDS="zero", SAMPLER_BATCH="128")),
}


def driver_manifest(root, name):
    if name == "lavapipe-22":
        return "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
    return os.path.join(root, "build/drivers", name, "icd.json")


def home_environment(home):
    """The caller's environment with nothing of Piecemeal's in it, and every file below home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIECEMEAL_", "VK_", "XDG_"))}
    for part in ("data", "cache", "config", "runtime"):
        kept[f"XDG_{part.upper()}_{'DIR' if part == 'runtime' else 'HOME'}"] = os.path.join(home, part)
        os.makedirs(os.path.join(home, part), mode=0o700, exist_ok=True)
    kept["MESA_SHADER_CACHE_DISABLE"] = "true"
    return kept


def layered_environment(build, home, manifest, settings):
    environment = home_environment(home)
    environment.update({
        "VK_DRIVER_FILES": manifest, "VK_ICD_FILENAMES": manifest, "VK_INSTANCE_LAYERS": LAYER,
        "VK_ADD_LAYER_PATH": os.path.join(build, "share/vulkan/explicit_layer.d"),
        "PIECEMEAL_SAMPLER_SEED": SEED, "PIECEMEAL_LOG_FILE": os.path.join(home, "log")})
    environment.update({"PIECEMEAL_" + key: value for key, value in settings.items()})
    return environment


# ---- where uploads go ----

class Sink:
    """Takes every upload and keeps its body. Ends with the `with` that holds it."""

    def __init__(self):
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                sink.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()

            def do_GET(self):
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.bodies = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def uploads(build, home):
    """What this build sends of the spool in a home: the profiles, without their random ids."""
    environment = home_environment(home)
    piecemeal = os.path.join(build, "tools/piecemeal")
    with Sink() as sink:
        environment["PIECEMEAL_AGGREGATOR_URL"] = sink.url
        subprocess.run([piecemeal, "consent", "grant"], env=environment, check=True, capture_output=True)
        subprocess.run([piecemeal, "sync"], env=environment, check=False, capture_output=True, timeout=LIMIT)
        return [wire.decompress(body) for body in sink.bodies]


# ---- one session ----

def masked_log(home):
    """The layer's lines without what differs from run to run: how the counts fell into checkpoints, and folders."""
    path = os.path.join(home, "log")
    if not os.path.exists(path):
        return b""
    lines = modules.read(path).decode(errors="replace").replace(home, "HOME").splitlines()
    lines = [line for line in lines if "wrote a checkpoint of" not in line]
    return "\n".join(re.sub(r"\b[0-9.]+ ms\b", "N ms", line) for line in lines).encode()


def stored_shaders(home):
    """The shader store, one name and content after the other."""
    out = []
    for path in sorted(glob.glob(os.path.join(home, "data/piecemeal/**/*.pmshader"), recursive=True)):
        data = modules.read(path)
        out.append(f"{os.path.basename(path)} {digest(wire.decompress(data[8:]))}")
    for path in sorted(glob.glob(os.path.join(home, "data/piecemeal/shaders/raw/*"))):
        out.append(f"{os.path.basename(path)} {digest(modules.read(path))}")
    return "\n".join(out).encode()


def run(build, program, root, home, session):
    """Runs a session in a fresh home. What came of it: name to bytes."""
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    driver, name, arguments, settings, first = SESSIONS[session]
    manifest = driver_manifest(root, driver)
    command = [os.path.join(program, "examples", name), "--quiet", "--hash", os.path.join(home, "hashes"), *arguments]
    if first is not None:
        # What the first session counts is the second's database.
        environment = home_environment(home)
        environment.update(layered_environment(build, home, manifest, first))
        environment.update(PIECEMEAL_SPOOL=os.path.join(home, "data/piecemeal/local/spool"))
        subprocess.run(command, env=environment, check=True, timeout=LIMIT, capture_output=True)
        subprocess.run([os.path.join(build, "tools/piecemeal"), "run", "--local", "--", "true"],
                       env=home_environment(home), check=True, timeout=LIMIT, capture_output=True)
    environment = layered_environment(build, home, manifest, settings)
    if first is not None:
        environment.update(PIECEMEAL_DATABASES=os.path.join(home, "data/piecemeal/local/databases"))
    done = subprocess.run(command, env=environment, check=False, timeout=LIMIT, capture_output=True)
    if os.path.isdir(os.path.join(home, "data/piecemeal/spool")):
        shutil.copytree(os.path.join(home, "data/piecemeal/spool"), os.path.join(home, "spooled"))
    sent = uploads(build, home)
    os.makedirs(os.path.join(home, "sent"))
    for number, profile in enumerate(sent):
        with open(os.path.join(home, "sent", str(number)), "wb") as file:
            file.write(profile)
    sent = [wire.without(profile, wire.UPLOAD_ID) for profile in sent]
    return {
        "status": b"%d %b" % (done.returncode, done.stderr),
        "pictures": modules.read(os.path.join(home, "hashes")) if done.returncode == 0 else b"",
        "log lines": masked_log(home),
        "shader store": stored_shaders(home),
        "uploads": b"\n".join(sorted(sent)),
    }


def compare(before, after, root, work, findings, say):
    """before, after: build folders. The home of each session of the build before stays: work/NAME/before."""
    for session, (driver, *_) in SESSIONS.items():
        if not os.path.exists(driver_manifest(root, driver)):
            findings.note(f"no driver {driver}")
            continue
        say(f"session: {session}")
        folder = os.path.join(work, session.replace(", ", "-").replace(" ", "-"))
        seen = ([], [])
        # A busy machine can make a session differ from itself: what one build came to in any try is right.
        for _ in range(TRIES):
            for build, runs, side in ((before, seen[0], "before"), (after, seen[1], "after")):
                runs.append(run(build, before, root, os.path.join(folder, side), session))
            if any(one == other for one in seen[0] for other in seen[1]):
                break
        if len(seen[0]) > 1:
            findings.note(f"{session}: was run {len(seen[0])} times")
        best = next(((one, other) for one in seen[0] for other in seen[1] if one == other), (seen[0][0], seen[1][0]))
        for what, data in best[0].items():
            findings.same(f"session, {what}", session, data, best[1][what])
        if not best[0]["log lines"] and SESSIONS[session][3].get("LOG_LEVEL") == "debug":
            findings.differs("the session said nothing", session)
