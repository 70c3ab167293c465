"""A browser driven over the WebDriver protocol with nothing but the standard library.

Chromium through its own chromedriver: open a page, run a script in it, send a DevTools command, read its logs. Every
call has a time limit, and closing ends what was started.
"""

import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

REQUEST_SECONDS = 330
SCRIPT_SECONDS = 300


def missing_programs():
    """What is not on this machine, as a sentence; empty when all is there."""
    absent = [name for name in ("chromedriver", "chromium") if not shutil.which(name)]
    return f"{' and '.join(absent)} not found (Debian: chromium, chromium-driver)" if absent else ""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    def __init__(self):
        self.port = free_port()
        self.profile = tempfile.TemporaryDirectory(prefix="lockstep-web-")
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}", "--silent"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._wait_until_ready(60)
            self.session = self._open_session()
        except BaseException:
            self._end_driver()
            raise

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=REQUEST_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {json.load(error)['value'].get('message', '')}") from error

    def _wait_until_ready(self, seconds):
        end = time.monotonic() + seconds
        while True:
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                raise RuntimeError(f"chromedriver did not answer within {seconds} s")
            time.sleep(0.1)

    def _open_session(self):
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", f"--user-data-dir={self.profile.name}"]
        options = {"browserName": "chrome", "timeouts": {"script": 1000 * SCRIPT_SECONDS}, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                   "goog:chromeOptions": {"args": arguments}}
        return self._call("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def _in_session(self, path, body):
        return self._call("POST", f"/session/{self.session}{path}", body)

    def open(self, url):
        self._in_session("/url", {"url": url})

    def run(self, script, *arguments):
        """The value a script returns in the page; its arguments are `arguments[0]` and so on."""
        return self._in_session("/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """The same for a script that calls its last argument when it is done."""
        return self._in_session("/execute/async", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self._in_session("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def console(self):
        return self._in_session("/se/log", {"type": "browser"})

    def requests(self):
        """The addresses that pages have asked for since the last call."""
        entries = [json.loads(entry["message"])["message"] for entry in self._in_session("/se/log", {"type": "performance"})]
        return [entry["params"]["request"]["url"] for entry in entries if entry["method"] == "Network.requestWillBeSent"]

    def show_as(self, width, scheme):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", media="screen",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def _end_driver(self):
        self.driver.terminate()
        try:
            self.driver.wait(20)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.profile.cleanup()

    def close(self):
        try:
            self._call("DELETE", f"/session/{self.session}")
        finally:
            self._end_driver()
