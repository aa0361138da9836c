#!/usr/bin/env python3
"""The dashboard as a person has it: Chromium against a real server with a storage like a real game's.

    test_dashboard.py PIECEMEAL FILL_STORAGE CHROMIUM CHROMEDRIVER POINTS UPLOADS [--all]

What the pages say is compared with what the API says (which test_api.py holds against its description);
every page is looked at in light and dark, wide and on a phone; keys alone are enough; nothing is asked of
another host; nothing is on the console. --all: light and dark on both, and each page is there within 200 ms.
DASHBOARD_PICTURES=FOLDER keeps a picture of every page.
"""
import json
import os
import sys
from urllib.parse import quote

from browser import ENTER, SHIFT, TAB, Browser

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "service"))
from served import Server, Work

MOST_MS = 200
TRIES = 5  # of a time; the least counts, since others use the machine too
CONTRAST = 4.5  # WCAG 2.2, 1.4.3
TARGET = 24  # CSS pixels, 2.5.8
FINGER = 44  # on a phone, 2.5.5

failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


class Dashboard:
    def __init__(self, browser, server):
        self.browser, self.server = browser, server
        self.origin = f"http://127.0.0.1:{server.port}"

    def get(self, path):
        return self.server.wait(path).json()

    def ready(self):
        self.browser.wait("return document.querySelector('h1') && "
                          "!document.getElementById('main').hasAttribute('aria-busy')")

    def open(self, fragment):
        """A page from its address, in a document of its own."""
        self.browser.open("about:blank")
        self.browser.open(self.origin + "/" + fragment)
        self.ready()

    def leave(self):
        """Before the server goes, which a page would go on asking."""
        self.browser.open("about:blank")

    def text(self, selector):
        return self.browser.run("const e = document.querySelector(arguments[0]); return e && e.textContent", selector)

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def column(self, number, table="table"):
        return self.texts(f"#main .scroll {table} tbody tr > :nth-child({number})")

    def focus(self):
        """What has the focus: its text or label, and whether that can be seen."""
        return self.browser.run("""
            const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
            const label = e.labels && e.labels[0] ? e.labels[0].textContent : e.getAttribute('aria-label') || e.textContent;
            return {tag: e.tagName, text: label.trim(), outline: style.outlineStyle !== 'none',
                    seen: box.bottom > 0 && box.top < innerHeight && box.width > 0, key: e.dataset.focus || ''}""")

    def tab_to(self, wanted, most=400):
        """Presses Tab until that has the focus; everything on the way must show that it has it."""
        for _ in range(most):
            self.browser.keys(TAB)
            now = self.focus()
            if now["tag"] == "BODY":
                continue
            check(now["outline"] and now["seen"], f"the focus on {now} cannot be seen")
            if wanted(now):
                return now
        raise AssertionError("Tab never came to it")


# ---- what holds on every page ----

LOOKED_AT = """
const problems = [];
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const over = (top, below) => { // alpha compositing
  const a = top[3] === undefined ? 1 : top[3];
  return [0, 1, 2].map((i) => a * top[i] + (1 - a) * below[i]);
};
const light = (c) => {
  const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (e) => {
  const chain = [];
  for (; e; e = e.parentElement) chain.push(parse(getComputedStyle(e).backgroundColor));
  return chain.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode()); ) {
  const e = node.parentElement;
  if (!node.textContent.trim() || !e.getClientRects().length || e.closest('noscript, :disabled, title')) continue;
  const style = getComputedStyle(e), back = behind(e);
  const ink = over(parse(e.closest('svg') ? style.fill : style.color), back);
  const [dark, bright] = [light(ink), light(back)].sort((a, b) => a - b);
  const contrast = (bright + 0.05) / (dark + 0.05);
  if (contrast < arguments[0]) problems.push(`contrast ${contrast.toFixed(2)} of "${node.textContent.trim().slice(0, 40)}"`);
}
if (document.documentElement.scrollWidth > innerWidth)
  problems.push(`is ${document.documentElement.scrollWidth} wide, on ${innerWidth}`);
for (const e of document.querySelectorAll('button, input, select, nav a' + (arguments[1] > 40 ? ', td a, .crumbs a' : ''))) {
  const box = e.getBoundingClientRect();
  if (box.width && Math.min(box.width, box.height) < arguments[1]) problems.push(`"${e.textContent}" is ${box.width} by ${box.height}`);
}
const left = (selector) => document.querySelector(selector).getBoundingClientRect().left;
if (Math.abs(left('.brand') - left('h1')) > 1) problems.push(`the header begins at ${left('.brand')}, the content at ${left('h1')}`);
for (const e of document.querySelectorAll('figure svg text')) {
  const box = e.getBoundingClientRect(), whole = e.closest('svg').getBoundingClientRect();
  if (box.left < whole.left - 1 || box.right > whole.right + 1) problems.push(`the label "${e.textContent}" is clipped`);
}
for (const e of document.querySelectorAll('input:not([hidden]), select'))
  if (!e.labels.length) problems.push(`${e.name} has no label`);
for (const e of document.querySelectorAll('table'))
  if (!e.caption && !e.closest('[aria-label]')) problems.push('a table has no name');
for (const e of document.querySelectorAll('svg'))
  if (e.getAttribute('role') === 'img' ? !e.getAttribute('aria-label') : e.getAttribute('aria-hidden') !== 'true') problems.push('a drawing has no name');
for (const e of document.querySelectorAll('th')) if (!e.scope) problems.push('a heading has no scope');
if (document.querySelectorAll('h1').length !== 1) problems.push('has not one h1');
if (!document.documentElement.lang || !document.title) problems.push('has no language or title');
if (document.querySelectorAll('img, iframe, object, main script, main style, [onclick], [onerror]').length) problems.push('has markup from outside');
return problems;
"""


def look(dashboard, name, fragment, ways):
    browser = dashboard.browser
    pictures = os.environ.get("DASHBOARD_PICTURES")
    for scheme, phone in ways:
        browser.size(*((390, 844) if phone else (1400, 900)), phone)
        browser.scheme(scheme)
        dashboard.open(fragment)
        what = f"{name}, {scheme}{', phone' if phone else ''}"
        for problem in browser.run(LOOKED_AT, CONTRAST, FINGER if phone else TARGET):
            check(False, f"{what}: {problem}")
        ground = browser.run("return getComputedStyle(document.body).backgroundColor")
        check((ground == "rgb(255, 255, 255)") == (scheme == "light"), f"{what}: is on {ground}")
        if pictures:
            browser.picture(os.path.join(pictures, what.replace(", ", "-").replace(" ", "_") + ".png"))
    browser.size(1200, 900, False)
    browser.scheme("light")


def check_quiet(dashboard, expected=()):
    """The console is empty but for these, and nothing was asked of anybody else."""
    for entry in dashboard.browser.log("browser"):
        if not any(text in entry["message"] for text in expected):
            check(False, f"on the console: {entry['message']}")
    asked = 0
    for entry in dashboard.browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        url = message["params"]["request"]["url"]
        asked += url.startswith(dashboard.origin + "/")
        check(url.startswith((dashboard.origin + "/", "data:image/svg+xml,", "about:", "chrome:")), f"asks for {url}")
    check(asked > 0, "no request was seen")


# ---- the pages ----

def check_games(dashboard):
    dashboard.open("#/")
    games = dashboard.get("/v1/games?sort=uploads")["games"]
    check(dashboard.column(1) == [game["name"] for game in games], "the names of the games")
    check(dashboard.column(4) == [f"{game['points']:,}" for game in games], "the points of the games")
    check(dashboard.text("title") == "Games – Piecemeal", "the title of the games")
    for game in games:
        name = game["name"]
        dashboard.open("#/")
        dashboard.browser.run("[...document.querySelectorAll('td a')].find(a => a.textContent === arguments[0]).click()", name)
        dashboard.browser.wait("return document.querySelector('h1').textContent === arguments[0]", name)
        dashboard.ready()
        check(dashboard.text("title") == f"{name} – Piecemeal", f"the title of {name!r}")
        dashboard.browser.run("document.querySelector('td .key a').click()")
        dashboard.browser.wait("return document.querySelector('h1').textContent.startsWith('Shader ')")
        dashboard.ready()
        check(dashboard.column(1) != [], f"the points of a shader of {name!r}")
        dashboard.browser.run("history.back()")
        dashboard.browser.wait("return document.querySelector('h1').textContent === arguments[0]", name)


def check_game(dashboard):
    dashboard.open("#/games/Watch")
    whole = dashboard.get("/v1/games/Watch")
    history = dashboard.get("/v1/games/Watch/coverage")["samples"]
    values = dict(zip(dashboard.texts(".tiles .name"), dashboard.texts(".tiles .value")))
    share = int(1000 * whole["points_covered"] / whole["points"]) / 10
    check(values["of the points covered"] == f"{share:.1f}%", f"covered is {values['of the points covered']}, not {share}")
    check(values["points"] == f"{whole['points']:,}" and values["shaders"] == f"{whole['shaders']:,}", "the numbers of the game")
    lines = dashboard.browser.run("""return [...document.querySelectorAll('figure')].map(f =>
        [...f.querySelectorAll('path.line')].map(p => p.getAttribute('d').split(/[ML]/).length - 1))""")
    check([len(one) for one in lines] == [3, 1], f"the charts have {lines} points")
    check(all(count == len(history) for count in lines[0]), "a line lacks samples")
    rows = dashboard.browser.run("return document.querySelector('figure details tbody').rows.length")
    check(rows == len(history), "the numbers of a chart")
    # The line of what is covered ends where the last number says, between the axis' marks.
    ends = dashboard.browser.run("""const p = document.querySelector('path.one');
        const marks = [...document.querySelector('figure svg[role=img]').querySelectorAll('line.grid')].map(l => +l.getAttribute('y1'));
        const texts = [...document.querySelector('figure svg[role=img]').querySelectorAll('text[text-anchor=end]')];
        const labels = texts.filter(t => t.getAttribute('x') === texts[0].getAttribute('x')).map(t => t.textContent); // no time
        return [p.getPointAtLength(p.getTotalLength()).y, marks, labels]""")
    scale = {"K": 1e3, "M": 1e6}
    top = ends[2][-1].replace(",", "")
    top = float(top[:-1]) * scale[top[-1]] if top[-1] in scale else float(top)
    y = ends[1][0] + (ends[1][-1] - ends[1][0]) * history[-1]["points_covered"] / top
    check(abs(y - ends[0]) < 1, f"the line ends at {ends[0]}, not {y}")
    shaders = dashboard.get("/v1/games/Watch/shaders")["shaders"]
    keys = dashboard.browser.run("return [...document.querySelectorAll('[aria-label=Shaders] td .key a')].map(a => a.title)")
    check(keys == [shader["key"] for shader in shaders], "the shaders, most lanes first")
    texts = dashboard.browser.run("return [...document.querySelectorAll('[aria-label=Shaders] td .key a')].map(a => a.textContent)")
    check(texts == [shader["name"] or shader["key"][:12] for shader in shaders], f"what shaders are called: {texts}")
    check(any(shader["name"] for shader in shaders) and any(not shader["name"] for shader in shaders), "no shader has a name, or all do")
    best = dashboard.get("/v1/games/Watch/candidates?limit=5")["candidates"]
    keys = dashboard.browser.run("return [...document.querySelectorAll('[aria-label=\"Zero candidates\"] td .key a')].map(a => a.title)")
    check(keys == [one["key"] for one in best], "the zero candidates")
    check_races(dashboard)
    rows = dashboard.browser.run("""const table = document.querySelector('[aria-label="Shaders that are left alone"] table');
        return [...table.tBodies[0].rows].map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent))""")
    expected = [[one["text"], f"{one['shaders']:,}", f"{one['tokens']:,}"] for one in whole["left_alone"]]
    check(rows == expected and len(rows) == 2, f"the shaders that are left alone: {rows}")
    dashboard.open("#/games/Watch/candidates")
    check(len(dashboard.column(1)) == 50, "all zero candidates")
    check_measured(dashboard)
    check_timings(dashboard)
    dashboard.open("#/games/nothing%20like%20it")
    check(dashboard.text("h1") == "Not found", "a game that is not there")


def check_races(dashboard):
    answer = dashboard.get("/v1/games/Watch/variants")["races"]
    rows = dashboard.browser.run("""return [...document.querySelectorAll('[aria-label="Races of variants"] tbody tr')].map(row =>
        [row.querySelector('.key a').title, ...[...row.cells].map(cell => cell.textContent)])""")
    check([row[0] for row in rows] == [one["key"] for one in answer] and len(rows) == 2, f"the races: {rows}")
    for row, one in zip(rows, answer):
        won = one["winner"]
        check(row[2].startswith(won["variant"]) and "faster" in row[2] if won else row[2] == "none yet", f"a race says {row[2]}")
        left = sum(not variant["lost"] for variant in one["variants"])
        check(row[3] == f"{int(1000 * left / len(one['variants'])) / 10:.1f}%", f"a race says {row[3]}, not {left}")


def check_measured(dashboard):
    answer = dashboard.get("/v1/games/Watch/candidates")["candidates"]
    cells = dashboard.browser.run("""const table = document.querySelector('[aria-label="Zero candidates"] table');
        const at = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent.includes('measured'));
        return [...table.tBodies[0].rows].map(row => row.cells[at].textContent)""")
    for cell, one in zip(cells, answer):
        check(cell.strip() == "–" if one["measured"] is None else one["measured"]["verdict"] in cell, f"a candidate was measured: {cell}")
        several = one["measured"] is not None and one["measured"]["timings"] > 1
        check(several == ("the one with most sessions" in cell), f"of how many timings it is: {cell}")
    check(any(one["measured"] for one in answer), "no candidate was measured")


def check_timings(dashboard):
    dashboard.open("#/games/Watch?kind=timing&sort=time")
    answer = dashboard.get("/v1/games/Watch/shaders?kind=timing&sort=time")["shaders"]
    rows = dashboard.browser.run("""return [...document.querySelectorAll('[aria-label=Shaders] tbody tr')].map(row =>
        [row.querySelector('.key a').title, ...[...row.cells].map(cell => cell.textContent)])""")
    check([row[0] for row in rows] == [one["key"] for one in answer], "the timings, what is surely fastest first")
    for row, one in zip(rows, answer):
        measured = row[4].split("% ")
        expected = 100 * (1 / one["time"]["ratio"] - 1 if one["time"]["ratio"] <= 1 else one["time"]["ratio"] - 1)
        tiny = measured[0] == "< 0.1"
        check(expected < 0.1 if tiny else abs(float(measured[0].replace(",", "")) - expected) <= 0.06,
              f"a timing says {row[4]}")
        check(measured[1] == ("faster" if one["time"]["ratio"] <= 1 else "slower"), f"a timing says {row[4]}")
        spread = one["time"]["spread"]
        check((row[3] == "–") == (spread is None) and (spread is None or abs(float(row[3][1:]) - spread) <= 0.006 * spread),
              f"how sure a trial is: {row[3]}, {spread}")
        check(row[5] == one["time"]["verdict"], "the verdict of a timing")
    linked = dashboard.browser.run("""return [...document.querySelectorAll('[aria-label=Shaders] tbody tr')].map(row =>
        row.cells[0].querySelectorAll('a').length)""")
    check(linked == [2 if one["original_known"] else 1 for one in answer], f"the originals of timings: {linked}")
    first = dashboard.browser.run("return [...document.querySelectorAll('[aria-label=Timings] td .key a')].map(a => a.title)")
    check(first == [one["key"] for one in answer[:5]], "the best timings of a game")
    one = answer[0]
    dashboard.open(f"#/games/Watch/shaders/{one['key']}/{one['profile']}")
    tiles = dashboard.browser.run("return [...document.querySelectorAll('.tiles li')].map(li => li.innerText.trim())")
    check(any(one["time"]["verdict"] in tile for tile in tiles), f"the page of a timing: {tiles}")


def check_left_out(dashboard):
    answer = dashboard.get("/v1/games/Watch/shaders?kind=zero")["shaders"]
    dashboard.open("#/games/Watch?kind=zero")
    cells = dashboard.browser.run("""const table = document.querySelector('[aria-label=Shaders] table');
        const at = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent.includes('Points'));
        return [...table.tBodies[0].rows].map(row => row.cells[at].textContent)""")
    for cell, one in zip(cells, answer):
        left_out = "" if one["left_out"] is None else f"{one['left_out']:,} left out"
        check(cell == f"{one['points']:,}{left_out}", f"the points of zeros say {cell}")
    for one in (next(one for one in answer if one["left_out"] is not None), next(one for one in answer if one["left_out"] is None)):
        dashboard.open(f"#/games/Watch/shaders/{one['key']}/{one['profile']}")
        values = dict(zip(dashboard.texts(".tiles .name"), dashboard.texts(".tiles .value")))
        expected = None if one["left_out"] is None else f"{one['left_out']:,}"
        check(values.get("left out, not worth measuring") == expected, f"the page of zeros says {values}")


def check_axis(points, places):
    """The estimate stands below the bar of its value, within its interval."""
    seen = 0
    for point, place in zip(points, places):
        measure = point["measures"][0]
        if not place:
            continue
        check(place["low"] <= place["mark"] <= place["high"] + 1, f"the interval of point {point['point']}: {place}")
        value = measure["ratio"]
        bar = place["bars"].get(str(0 if value == 0 else 11 if value == 1 else int(10 * value) + 1)) if value <= 1 else None
        if bar:
            check(bar[0] - 1 <= place["mark"] <= bar[1] + 1.5, f"point {point['point']} is at {value}: {place}")
            seen += 1
    check(seen > 0, "no estimate stands below its bar")


def check_shader(dashboard):
    shader = dashboard.get("/v1/games/Watch/shaders?kind=block")["shaders"][0]
    fragment = f"#/games/Watch/shaders/{shader['key']}/{shader['profile']}"
    dashboard.open(fragment)
    answer = dashboard.get("/v1/games/Watch/shaders/" + fragment.split("shaders/")[1])
    cells = dashboard.column(2)
    check(len(cells) == min(50, shader["points"]), "the points of a shader")
    lanes = shader["environment"]["subgroup_size"]
    check(dashboard.text(".verdict").startswith(f"How often its blocks run, where subgroups have {lanes} lanes. "
          + ("Published: clients have it." if shader["published"] else "Not published yet: ")), dashboard.text(".verdict"))
    bars = dashboard.browser.run("""return [...document.querySelectorAll('tbody tr')].map(row => {
        const drawing = row.cells[1].querySelector('svg[role=img]');
        return drawing ? Object.fromEntries([...drawing.querySelectorAll('rect')].map(r => [r.dataset.bin, +r.getAttribute('height')])) : null})""")
    places = dashboard.browser.run("""return [...document.querySelectorAll('tbody tr')].map(row => {
        const drawing = row.cells[1].querySelector('svg[role=img]');
        const [mark, span] = ['mark', 'span'].map(name => drawing && drawing.querySelector('line.' + name));
        return drawing ? {mark: +mark.getAttribute('x1'), low: +span.getAttribute('x1'), high: +span.getAttribute('x2'),
            bars: Object.fromEntries([...drawing.querySelectorAll('rect')].map(r => [r.dataset.bin,
                [+r.getAttribute('x'), +r.getAttribute('x') + +r.getAttribute('width')]]))} : null})""")
    check_axis(answer["points"], places)
    for point, cell, heights in zip(answer["points"], cells, bars):
        measure = point["measures"][0]
        if measure["sessions"] == 0:
            check(cell == "no sample" and heights is None, f"point {point['point']} has no sample")
            continue
        first = float(cell.split(" [")[0].replace(",", "").replace("\u2212", "-"))
        check(abs(first - measure["ratio"]) <= 0.006 * abs(measure["ratio"]), f"point {point['point']}: {cell}")
        most = max(measure["histogram"])
        for i, count in enumerate(measure["histogram"]):
            height = heights.get(str(i), 0)
            check((height > 0) == (count > 0) and (count < most or height == 22), f"a bar of point {point['point']}")
    dashboard.browser.run("document.querySelector('.crumbs a:last-child').click()")
    dashboard.browser.wait("return document.querySelector('[aria-label=\"Profiles of the shader\"]')")
    check(shader["profile"] in "".join(dashboard.column(1)), "the profiles of a shader")


REASONS = (
    ({"for": "tokens", "point": None, "have": 2, "need": 5, "sessions_a_day": 1.5, "days": None, "players": None}, "2 of 5 tokens on one day."),
    ({"for": "sessions", "point": 7, "have": 3, "need": 20, "sessions_a_day": 1, "days": 17, "players": None},
     "point 7 has 3 of 20 sessions; about 17 days more, at 1 session a day."),
    ({"for": "interval", "point": 2, "have": 0.22, "need": 0.05, "sessions_a_day": 40, "days": 9, "players": None},
     "point 2 is known to ±0.22, needs ±0.05; about 9 days more, at 40 sessions a day."),
    ({"for": "interval", "point": 2, "have": 0.22, "need": 0.05, "sessions_a_day": 40, "days": None, "players": 120},
     "point 2 is known to ±0.22, needs ±0.05; about 120 players on one day."),
)
LIARS = (({"tokens": 17, "error": 0.0621}, "If 17 tokens of a day's lie, no estimate below is off by more than 0.063."),
         ({"tokens": 1, "error": 0.1231}, "If 1 token of a day's lies, no estimate below is off by more than 0.124."),
         ({"tokens": 0, "error": 0.25}, "One token that lies may put an estimate below off by 0.25."), (None, None))


def check_reasons(dashboard):
    """Why a shader is not published, and how many may lie about it; the reasons are ours, since this server has no tokens."""
    shader = dashboard.get("/v1/games/Watch/shaders?kind=block")["shaders"][0]
    fragment = f"#/games/Watch/shaders/{shader['key']}/{shader['profile']}"
    cases = [({"published": False, "waits": waits}, f"Not published yet: {words}", None) for waits, words in REASONS]
    cases += [({"published": True, "waits": None, "lying": lying}, "Published: clients have it.", words) for lying, words in LIARS]
    for given, sentence, note in cases:
        dashboard.open("#/")
        dashboard.browser.run("""const [given, place] = arguments, real = window.fetch;
            window.fetch = async (address, options) => {
                const answer = await real(address, options);
                if (!address.startsWith(place)) return answer;
                const page = await answer.json();
                Object.assign(page.shader, given);
                return new Response(JSON.stringify(page), {headers: {'Content-Type': 'application/json'}});
            };
            location.hash = arguments[2]""", given, "/v1/games/Watch/shaders/" + shader["key"], fragment)
        dashboard.browser.wait("return document.querySelector('h1').textContent.startsWith('Shader ')")
        dashboard.ready()
        check(dashboard.text(".verdict").endswith(sentence), f"of {given} it says: {dashboard.text('.verdict')}")
        notes = [text for text in dashboard.texts(".note") if "lie" in text]
        check(notes == ([note] if note else []), f"of {given} it says: {notes}")


def check_quarantine(dashboard):
    entries = dashboard.get("/v1/quarantine")["entries"]
    dashboard.open("#/quarantine")
    check(dashboard.column(1) == [entry["reason"] for entry in entries], "the reasons of the quarantine")
    check(dashboard.column(2) == [entry["game"] for entry in entries], "the games of the quarantine")
    check(dashboard.text(".verdict") == f"{len(entries)} uploads are in quarantine. None of them counted.", dashboard.text(".verdict"))
    dashboard.open("#/quarantine?search=nothing%20like%20it")
    check(dashboard.text(".verdict") == "No upload of a game with such a name is in quarantine.", "a quarantine of nothing")
    status = dashboard.get("/v1/status")
    dashboard.open("#/service")
    check(dashboard.column(1) == [name.replace("_", " ") for name in status["uploads"]], "what became of uploads")
    check(all(words.endswith(".") for words in dashboard.column(3)), f"what the answers mean: {dashboard.column(3)}")
    check(dashboard.text(".verdict") == "It runs, and waits for the first upload.", dashboard.text(".verdict"))


def check_service(dashboard):
    """The first sentence of the service's page, once there were uploads. It is taken from a status of ours, since no
    server of a test has a full disk."""
    for uploads, sentence in (({"stored": 2, "duplicate": 1}, "It runs: it took 3 uploads, and refused none."),
                              ({"stored": 1, "invalid": 1100}, "It runs: it took 1 upload, and refused 1,100."),
                              ({"stored": 9, "busy": 5, "full": 2}, "Not all is well: of 16 uploads 2 could not be stored."),
                              ({"busy": 5}, "It runs: it took 0 uploads, and refused none. 5 were asked to come later.")):
        dashboard.open("#/")
        dashboard.browser.run("""const given = arguments[0], real = window.fetch;
            window.fetch = async (address, options) => {
                const answer = await real(address, options);
                if (address !== '/v1/status') return answer;
                const status = await answer.json();
                Object.assign(status.uploads, given);
                return new Response(JSON.stringify(status), {headers: {'Content-Type': 'application/json'}});
            };
            location.hash = '#/service'""", uploads)
        dashboard.browser.wait("return document.querySelector('h1').textContent === 'Service'")
        dashboard.ready()
        check(dashboard.text(".verdict") == sentence, f"of {uploads} it says: {dashboard.text('.verdict')}")


# ---- keys ----

def check_keys(dashboard):
    browser = dashboard.browser
    dashboard.open("#/")
    browser.keys(TAB)
    skip = dashboard.focus()
    check(skip["text"] == "Skip to the content" and skip["seen"], f"the first Tab goes to {skip}")
    browser.keys(ENTER)
    check(browser.run("return document.activeElement.id") == "main", "the link that skips")
    check(browser.run("return location.hash") == "#/", "it goes to another page")
    dashboard.tab_to(lambda now: now["text"] == "Uploads")
    for order in ("ascending", "descending"):
        browser.keys(ENTER)
        browser.wait("return document.activeElement.closest('th') && document.activeElement.closest('th').ariaSort === arguments[0]", order)
        uploads = [int(cell.replace(",", "")) for cell in dashboard.column(2)]
        check(uploads == sorted(uploads, reverse=order == "descending"), f"the games are not {order}")
        check(dashboard.focus()["text"] == "Uploads", "the focus is lost by sorting")
    dashboard.tab_to(lambda now: now["text"] == "Watch")
    browser.keys(ENTER)
    browser.wait("return document.querySelector('h1').textContent === 'Watch'")
    dashboard.ready()
    check(browser.run("return document.activeElement.tagName") == "H1", "the heading of a page has no focus")
    # Search, by a key's beginning, and back to all.
    shaders = dashboard.get("/v1/games/Watch/shaders?limit=500")
    key = shaders["shaders"][-1]["key"]
    dashboard.tab_to(lambda now: now["key"] == "search")
    browser.type(key[:10])
    browser.keys(ENTER)
    browser.wait("const a = [...document.querySelectorAll('[aria-label=Shaders] td .key a')]; return a.length > 0 && a.every(e => e.title === arguments[0])", key)
    dashboard.ready()
    check(dashboard.focus()["key"] == "search", "the focus is lost by searching")
    browser.run("document.activeElement.value = ''")
    browser.keys(ENTER)
    browser.wait("return document.querySelectorAll('[aria-label=Shaders] td .key a').length === 50")
    dashboard.tab_to(lambda now: now["text"] == "Next")
    browser.keys(ENTER)
    browser.wait("return document.querySelector('.pager').textContent.includes('51–')")
    dashboard.ready()
    shown = browser.run("return [...document.querySelectorAll('[aria-label=Shaders] td .key a')].map(a => a.title)")
    check(shown == [shader["key"] for shader in shaders["shaders"][50:100]], "the second page")
    check(dashboard.focus()["text"] in ("Next", "Previous") or dashboard.focus()["tag"] == "H1", "the focus is lost by paging")
    browser.keys(TAB, held=SHIFT)
    check(dashboard.focus()["tag"] != "BODY", "the focus cannot go back")
    browser.run("history.back()")
    browser.wait("return !location.hash.includes('offset')")


# ---- who may ----

def check_login(browser, piecemeal, work):
    readers = work.write("readers", "secret-of-the-operator\n")
    with Server(piecemeal, work.storage, "--dashboard-token-file", readers) as server:
        dashboard = Dashboard(browser, server)
        server.wait_for_games("secret-of-the-operator")  # until then it may answer 503, which the console shows
        dashboard.open("#/games/Watch")
        check(dashboard.text("h1") == "Sign in", "who has no token is not asked for one")
        for token, answer in (("wrong", "Sign in"), ("secret-of-the-operator", "Watch")):
            check(dashboard.focus()["text"] == "Token", f"the field has not the focus, but {dashboard.focus()}")
            browser.type(token)
            browser.keys(ENTER)
            if answer == "Watch":
                browser.wait("return document.querySelector('h1').textContent === 'Watch'")
            else:
                browser.wait("return document.querySelector('[role=alert]')")
                check("not known" in dashboard.text("[role=alert]"), "what a wrong token is told")
        kept = browser.run("return location.href + document.cookie + JSON.stringify(localStorage)")
        check("secret" not in kept, "the token is kept elsewhere")
        browser.run("document.getElementById('leave').click()")
        browser.wait("return document.querySelector('h1').textContent === 'Sign in'")
        check(browser.run("return sessionStorage.length") == 0, "signing out forgets the token")
        check_quiet(dashboard, expected=["401"])
        dashboard.leave()
    uploaders = work.write("uploaders", "player\n")
    with Server(piecemeal, work.storage, "--token-file", uploaders) as server:
        dashboard = Dashboard(browser, server)
        dashboard.open("#/")
        check("--dashboard-token-file" in (dashboard.text("[role=alert]") or ""), "a closed dashboard says how to open it")
        check_quiet(dashboard, expected=["403"])
        dashboard.leave()


# ---- times ----

def check_times(dashboard, fragments):
    """From choosing a page until it is painted with its content."""
    browser = dashboard.browser
    for name, fragment in fragments.items():
        times = []
        for _ in range(TRIES):
            dashboard.open("#/nowhere")
            times.append(browser.command("POST", "/execute/async", {"args": [fragment], "script": """
                const [fragment, done] = arguments, main = document.getElementById('main'), begin = performance.now();
                new MutationObserver((_, observer) => {
                  if (main.hasAttribute('aria-busy')) return;
                  observer.disconnect();
                  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
                }).observe(main, {attributes: true});
                location.hash = fragment;"""}))
        check(dashboard.text("h1") not in ("Not found", "This did not work"), f"{name} is not there")
        fetched = browser.run("return performance.getEntriesByType('resource').filter(e => e.name.includes('/v1/')).map(e => e.duration)")
        print(f"{name}: {min(times):.0f} ms (of {TRIES}: {', '.join(f'{time:.0f}' for time in times)}), answers at most {max(fetched):.0f} ms")
        check(min(times) < MOST_MS, f"{name} takes {min(times):.0f} ms")


def main():
    arguments = [one for one in sys.argv[1:] if not one.startswith("--")]
    piecemeal, fill, chromium, chromedriver, points, uploads = arguments
    with Work(fill, points, uploads) as work, Browser(chromium, chromedriver) as browser:
        with Server(piecemeal, work.storage) as server:
            server.wait_for_games()
            dashboard = Dashboard(browser, server)
            shaders = {kind: dashboard.get(f"/v1/games/Watch/shaders?sort=points&kind={kind}")["shaders"][0]
                       for kind in ("block", "zero", "timing")}
            hostile = quote('"><script>document.title=\'broken\'</script>', safe="")
            fragments = {"games": "#/", "a game": "#/games/Watch", "zero candidates": "#/games/Watch/candidates",
                         "a game of another name": f"#/games/{hostile}", "quarantine": "#/quarantine", "service": "#/service",
                         **{f"a shader, {kind}": f"#/games/Watch/shaders/{one['key']}/{one['profile']}" for kind, one in shaders.items()}}
            check_games(dashboard)
            check_game(dashboard)
            check_left_out(dashboard)
            check_shader(dashboard)
            check_reasons(dashboard)
            check_quarantine(dashboard)
            check_service(dashboard)
            check_keys(dashboard)
            check_quiet(dashboard, expected=["404"])
            ways = [("light", False), ("dark", True)]
            if "--all" in sys.argv:
                ways += [("dark", False), ("light", True)]
            for name, fragment in fragments.items():
                look(dashboard, name, fragment, ways)
            if "--all" in sys.argv:
                check_times(dashboard, fragments)
            check_quiet(dashboard)
            dashboard.leave()
        check_login(browser, piecemeal, work)
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
