"""A browser without a window, driven by chromedriver with nothing but Python's own library (W3C WebDriver)."""

import base64
import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
DRIVERS = ["chromedriver", "chromium-driver"]


def find():
    """The programs that are there, and what is missing."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = next(filter(None, map(shutil.which, DRIVERS)), None)
    missing = [name for name, found in [("Chromium or Chrome", browser), ("chromedriver", driver)] if not found]
    return browser, driver, missing


class Browser:
    """One browser; closed by `with`."""

    def __init__(self, browser, driver):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix="dyad-browser-")
        self.process = subprocess.Popen(
            [driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.base = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                urllib.request.urlopen(self.base + "/status", timeout=2).read()
                break
            except OSError:
                time.sleep(0.05)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]
        arguments += [f"--user-data-dir={self.profile}", "--disable-background-networking", "--no-first-run"]
        options = {
            "binary": browser,
            "args": arguments,
            "perfLoggingPrefs": {"enableNetwork": True, "enablePage": False},
        }
        capabilities = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.base += "/session/" + answer["sessionId"]
        # A machine may be busy.
        self._send("POST", "/timeouts", {"script": 300_000, "pageLoad": 300_000})
        # What the browser shows of itself at first is none of our pages.
        self.load("about:blank")
        for kind in ("browser", "performance"):
            self.log(kind)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._send("DELETE", "")
        except OSError:
            pass
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=320) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._send("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def look(self, width=1280, height=900, dark=False, media="screen"):
        """How the page is looked at: the size of the window, the colors that are preferred, screen or print."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def load(self, address):
        """Loads an address."""
        self._send("POST", "/url", {"url": address})

    def open(self, path):
        """Loads a file."""
        self.load(pathlib.Path(path).resolve().as_uri())

    @contextlib.contextmanager
    def tab(self):
        """A new tab, which is closed at the end."""
        own = self._send("GET", "/window")
        self._send("POST", "/window", {"handle": self._send("POST", "/window/new", {"type": "tab"})["handle"]})
        try:
            yield
        finally:
            self._send("DELETE", "/window")
            self._send("POST", "/window", {"handle": own})

    def reload(self):
        """Loads the page again."""
        self._send("POST", "/refresh", {})

    def run(self, script, *arguments):
        """What a function's body returns in the page."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """What a function's body passes to the callback that is its last argument."""
        return self._send("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def _element(self, selector, command, **parameters):
        """A command of the first element that matches."""
        using = {"using": "css selector", "value": selector}
        element = next(iter(self._send("POST", "/element", using).values()))
        self._send("POST", f"/element/{element}/{command}", parameters)

    def click(self, selector):
        """Clicks as a mouse does; an error if something else is in the way."""
        self._element(selector, "click")

    def type(self, selector, text):
        """Types into an input; into one for files, the path of a file."""
        self._element(selector, "value", text=text)

    def act(self, kind, actions, **settings):
        """Actions of one keyboard or pointer."""
        self._send("POST", "/actions", {"actions": [{"type": kind, "id": kind, "actions": actions, **settings}]})

    def log(self, kind):
        """What was written to a log since it was asked for last."""
        return self._send("POST", "/se/log", {"type": kind})

    def errors(self, levels=("SEVERE",)):
        """Messages on the console since they were asked for last."""
        return [entry["message"] for entry in self.log("browser") if entry["level"] in levels]

    def requests(self):
        """Addresses that were requested since they were asked for last."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [message for message in messages if message["method"] == "Network.requestWillBeSent"]
        return {message["params"]["request"]["url"] for message in sent}

    def screenshot(self, path, height_at_most=16000):
        """The whole page as a picture."""
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height_at_most), "scale": 1}
        shot = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path):
        """The page as it is printed."""
        printed = self.command("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)
        pathlib.Path(path).write_bytes(base64.b64decode(printed["data"]))
