"""Chromium by WebDriver (https://www.w3.org/TR/webdriver2/), as much of it as the dashboard's test
needs. Standard library only."""
import base64
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request

TAB, ENTER, SHIFT = "\ue004", "\ue007", "\ue008"
PATIENCE = 120  # seconds


class Browser:
    """A browser without a window; ends with the `with` that holds it."""

    def __init__(self, chromium, chromedriver):
        self.session = None
        self.driver = subprocess.Popen([chromedriver, "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        try:
            self.address = f"http://127.0.0.1:{self._port()}"
            arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--window-size=1200,900"]
            if os.geteuid() == 0:
                arguments.append("--no-sandbox")  # which cannot be had as root
            options = {"binary": chromium, "args": arguments}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "unhandledPromptBehavior": "ignore",
                      "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = answer["sessionId"]
        except BaseException:
            self.end()
            raise

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise AssertionError("chromedriver did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        try:
            if self.session:
                self.command("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(PATIENCE)

    def _send(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:600]}") from error

    def command(self, method, path, body=None):
        return self._send(method, f"/session/{self.session}{path}", body)

    def devtools(self, command, **parameters):
        return self.command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    # ---- what a person does ----

    def open(self, url):
        self.command("POST", "/url", {"url": url})

    def keys(self, *keys, held=None):
        """Presses and lets go one key after the other, where the focus is."""
        actions = [{"type": "keyDown", "value": held}] if held else []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        if held:
            actions.append({"type": "keyUp", "value": held})
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        self.keys(*text)

    def scheme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def size(self, width, height, phone):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=2 if phone else 1, mobile=phone)

    # ---- what there is ----

    def run(self, script, *arguments):
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """Until the script gives something that is true, and what it gives."""
        until = time.monotonic() + PATIENCE
        while True:
            value = self.run(script, *arguments)
            if value:
                return value
            if time.monotonic() > until:
                raise AssertionError(f"never came true: {script}")
            time.sleep(0.02)

    def log(self, kind):
        """What was logged since the last call: "browser" (the console) or "performance"."""
        return self.command("POST", "/se/log", {"type": kind})

    def picture(self, path):
        data = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
