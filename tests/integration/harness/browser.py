# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that keeps what a person would not see: messages of the console, and where each request went."""
import json
import os
import shutil
import tempfile
import urllib.parse
from pathlib import Path

from .processes import wait_until

SECONDS = 20  # ceiling of each wait


def why_none():
    """Why there is no browser here; None when there is one."""
    try:
        import selenium.webdriver  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not installed (packages chromium and chromium-driver)"
    return None


def _options():
    from selenium.webdriver.chrome.options import Options
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-features=OptimizationHints,Translate,MediaRouter",
                     "--force-device-scale-factor=1",
                     "--window-size=1280,900", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return options


class Browser:
    """One browser and the tab that tests share."""

    def __init__(self):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        self.downloads = Path(tempfile.mkdtemp(prefix="xagent-downloads-"))
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=_options())
        self.driver.set_page_load_timeout(20)
        self.driver.set_script_timeout(20)
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))
        self._seen = []

    def end(self):
        self.driver.quit()
        shutil.rmtree(self.downloads, ignore_errors=True)

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    # ---- what the page is looked at with

    def open(self, url):
        self.driver.get(url)

    def size(self, width, height):
        """Of the page itself; a window cannot be as narrow as a telephone."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def offline(self, on):
        self.cdp("Network.enable")
        self.cdp("Network.emulateNetworkConditions", offline=on, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def screenshot(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        assert self.driver.save_screenshot(str(path))

    # ---- what it says

    def js(self, expression, *arguments):
        """The value of an expression; `arguments` are its `arguments`."""
        return self.driver.execute_script(f"return ({expression});", *arguments)

    def wait(self, expression, what=None, *arguments, seconds=SECONDS):
        """Until the expression is true; its value."""
        return wait_until(lambda: self.js(expression, *arguments), seconds, what or expression)

    def all(self, css):
        return self.driver.find_elements("css selector", css)

    def one(self, css):
        return self.driver.find_element("css selector", css)

    def text(self, css):
        """What can be seen of an element, "" where there is none."""
        return self.js("(document.querySelector(arguments[0]) || {innerText: ''}).innerText", css)

    def visible(self, css):
        return self.js("(e => !!e && e.checkVisibility())(document.querySelector(arguments[0]))", css)

    # ---- hands

    def click(self, css):
        self.wait("(e => !!e && e.checkVisibility())(document.querySelector(arguments[0]))", f"{css} can be seen", css)
        self.one(css).click()

    def type(self, css, text):
        element = self.one(css)
        element.clear()
        element.send_keys(text)

    def keys(self, *keys):
        """To what has the focus."""
        from selenium.webdriver import ActionChains
        ActionChains(self.driver).send_keys(*keys).perform()

    def mouse(self, x, y, clicks=1, button="left"):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else button, clickCount=clicks)

    def drag(self, begin, end):
        self.cdp("Input.dispatchMouseEvent", type="mousePressed", x=begin[0], y=begin[1], button="left", clickCount=1)
        for step in range(1, 6):
            at = [b + (e - b) * step / 5 for b, e in zip(begin, end)]
            self.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1], button="left", buttons=1)
        self.cdp("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1)

    def box(self, css):
        """(x, y, width, height) in the window."""
        return self.js("(r => [r.x, r.y, r.width, r.height])(document.querySelector(arguments[0]).getBoundingClientRect())", css)

    # ---- what a person does not see

    def messages(self, level="SEVERE"):
        """Errors of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == level]

    def requests(self):
        """URLs of the requests since the last call."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def strangers(self, origin):
        """Requests that went elsewhere."""
        own = urllib.parse.urlsplit(origin).netloc
        return [url for url in self.requests() if url.split(":")[0] not in ("data", "blob", "about",
                                                                            "chrome") and urllib.parse.urlsplit(url).netloc != own]

    def alert(self):
        """The text of a dialogue that is open."""
        from selenium.common.exceptions import NoAlertPresentException
        try:
            return self.driver.switch_to.alert.text
        except NoAlertPresentException:
            return None

    def downloaded(self, pattern):
        """The bytes of the file that has come; it is removed."""
        path = wait_until(lambda: next((p for p in self.downloads.glob(pattern) if p.stat().st_size), None), SECONDS, f"a file {pattern}")
        data = path.read_bytes()
        path.unlink()
        return data
