# SPDX-License-Identifier: Apache-2.0
"""
The web page in a real browser, without a window: what it shows of profiles that are known, what keys and mouse do, its files, its errors.

Pictures of the views are kept in build/screenshots. A test leaves no message of an error in the console and asks nobody but the agent.
"""
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree

import pytest

from harness import browser, paths, pprof
from harness.agent import Agent
from harness.processes import Processes, wait_until
from harness.store_api import Server
from harness.store_data import MEMORY, TICK, Frame, Pprof, cpu_labels

pytestmark = pytest.mark.agent

STORE = 'pyroscope.store "local" { }\n'
SCREENSHOTS = paths.BUILD / "screenshots"
STEP_S = 30
HOSTILE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(2)</script>"
MEMORY_TYPE = "memory:inuse_space:bytes:space:bytes"


def shop(time_ms, host, heavy):
    """More in `render` at first, more in `parse` afterwards."""
    parse, render = (20, 60) if heavy == "render" else (70, 10)
    p = Pprof(time_ms).add("main serve parse", parse * TICK).add("main serve parse json_decode", 20 * TICK)
    p.add("main serve render", render * TICK).add("main idle", 10 * TICK).add("main walk walk walk", 30 * TICK)
    return cpu_labels("shop", host=host), p.bytes()


def others(time_ms):
    yield cpu_labels("payments", host="beta"), Pprof(time_ms).add("main pay check", 25 * TICK).add("main pay book", 15 * TICK).bytes()
    yield cpu_labels(HOSTILE, host='"><b>bold</b>'), Pprof(time_ms).add([Frame("main"), Frame(SCRIPT), Frame(HOSTILE)], 5 * TICK).bytes()
    memory = Pprof(time_ms, MEMORY, ("space", "bytes", 524_288)).add("main buffer", 10, 4 << 20, 5, 3 << 20).add("main list", 1, 1 << 20, 1,
                                                                                                                 1 << 20)
    yield {"__name__": "memory", "service_name": "shop", "host": "alpha"}, memory.bytes()


class Stage:
    """An agent whose store has some minutes, and the browser that looks at it."""

    def __init__(self, agent, window):
        self.agent, self.url, self.window = agent, agent.url, window
        self.server = Server(agent.url)
        now = int(time.time()) * 1000
        self.times = [now - (number + 1) * STEP_S * 1000 for number in reversed(range(26))]
        for number, at in enumerate(self.times):
            heavy = "render" if number < 13 else "parse"
            self.push(shop(at, "alpha", heavy), shop(at + 1, "beta", heavy), *others(at + 2))

    def push(self, *series):
        answer = self.server.push(*series)
        assert answer.status == 200, answer

    def go(self, **state):
        """The page anew, in this state; waits until it shows it."""
        self.window.open("about:blank")
        self.window.open(self.url + "/#" + urllib.parse.urlencode({"live": "off", "from": "now-30m", **state}))
        self.settled()
        return self.window

    def settled(self):
        self.window.wait("document.readyState === 'complete' && !('busy' in document.body.dataset) && "
                         "![...document.querySelectorAll('#notice-loading')].some(e => e.checkVisibility())")

    def state(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.window.driver.current_url).fragment))

    def rows(self, table="#work-table"):
        """The texts of the cells of the rows that exist."""
        return self.window.js("[...document.querySelectorAll(arguments[0] + ' [data-row]')].map(r => "
                              "[...r.children].map(c => c.innerText.trim()))", table)

    def names(self):
        return [row[0] for row in self.rows()]

    def picture(self, css="#work-flame canvas"):
        """What the canvas shows, as text."""
        return self.window.js("document.querySelector(arguments[0]).toDataURL()", css)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    reason = browser.why_none()
    if reason:
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("page")
    processes = Processes(directory)
    window = None
    try:
        agent = Agent(processes, directory, STORE).wait_ready()
        window = browser.Browser()
        result = Stage(agent, window)
        result.processes = processes
        yield result
    finally:
        if window:
            window.end()
        processes.end_all()


@pytest.fixture
def page(stage):
    """The stage for one test; afterwards nobody has complained, and nobody was asked but the agent."""
    stage.window.messages(), stage.window.requests()
    stage.window.size(1280, 900)
    stage.window.scheme("light")
    stage.allowed = ()
    yield stage
    complaints = [m for m in stage.window.messages() if not any(text in m for text in stage.allowed)]
    assert complaints == []
    assert stage.window.strangers(stage.url) == []


def of_shop(**more):
    return {"q": '{service_name="shop"}', **more}


# 26 times two hosts, 140 ticks of 10 ms each.
SHOP_TICKS = 26 * 2 * 140
SHOP_SUM, HALF_SUM, PAYMENTS_SUM, ALL_SUM = "72.8 s", "36.4 s", "10.4 s", "84.5 s"


# ---- one profile ----------------------------------------------------------------------------------------------------------------------


def test_first_look(page):
    """Without a word in the address: all services, the hottest function first, what each service had."""
    w = page.go()
    assert page.names()[:2] == ["parse", "render"], page.rows()
    legend = w.text("#legend")
    assert all(name in legend for name in ("shop", "payments", HOSTILE)), legend
    assert w.one("#live").get_attribute("aria-pressed") == "false"
    assert "cores" in w.text("#rate")
    labels = w.js("[...document.querySelectorAll('.flame-box')].map(e => e.getAttribute('aria-label'))")
    assert any("frames" in label for label in labels), labels


def test_pickers(page):
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.select import Select
    w = page.go()
    w.one("#service").click()
    w.one("#service").send_keys("pay", Keys.ENTER)
    w.wait("document.querySelector('#work-sum').innerText.includes(arguments[0])", "the sum of payments", PAYMENTS_SUM)
    assert page.state()["q"] == '{service_name="payments"}' and sorted(page.names()) == ["book", "check", "main", "pay"]
    w.one("#service").click()
    w.click("#service-list [role=option]:first-child")
    w.wait("document.querySelector('#work-sum').innerText.includes(arguments[0])", "the sum of all services", ALL_SUM)
    Select(w.one("#type")).select_by_value(MEMORY_TYPE)
    w.wait("document.querySelector('#work-sum').innerText.includes('MiB')", "bytes")
    assert page.state()["type"] == MEMORY_TYPE and set(page.names()) == {"main", "buffer", "list"}


def test_filter_by_label(page):
    from selenium.webdriver.common.keys import Keys
    w = page.go(**of_shop())
    w.click("#filter-open")
    w.one("#filter-name").send_keys("host", Keys.ENTER)
    w.one("#filter-value").send_keys("alpha", Keys.ENTER)
    w.click("#filter-add")
    w.wait("document.querySelector('#work-sum').innerText.includes(arguments[0])", "half of it", HALF_SUM)
    assert 'host="alpha"' in page.state()["q"] and "host = alpha" in w.text("#filter-chips")
    w.click("#filter-chips .chip-close")
    w.wait("document.querySelector('#work-sum').innerText.includes(arguments[0])", "all of it", SHOP_SUM)
    assert "host" not in page.state()["q"]


def test_time_range(page):
    w = page.go(**of_shop())
    w.click("#range")
    w.click("#range-5m")
    w.wait("location.hash.includes('now-5m')")
    page.settled()
    shown = w.text("#work-sum")
    assert SHOP_SUM not in shown
    x, y, width, height = w.box("#timeline")
    w.drag((x + width / 2, y + height / 2), (x + width - 20, y + height / 2))
    w.wait("/from=\\d+&to=\\d+/.test(location.hash)", "a time that was dragged")
    page.settled()
    assert w.text("#work-sum") != shown
    w.driver.back()
    w.wait("location.hash.includes('now-5m')")


# What a screen reader says of the frame that the keyboard is on.
ACTIVE = """((box) => (document.getElementById(box.getAttribute('aria-activedescendant')) || box).getAttribute('aria-label'))(
    document.querySelector('#work-flame .flame-box'))"""


def test_zoom_by_key(page):
    from selenium.webdriver.common.keys import Keys
    w = page.go(**of_shop())
    w.js("document.querySelector('#work-flame .flame-box').focus()")
    for name in ("main", "serve", "parse"):
        w.keys(Keys.ARROW_DOWN)
        w.wait(ACTIVE + ".startsWith(arguments[0])", f"the frame {name}", name)
    before = page.picture()
    w.keys(Keys.ENTER)
    w.wait("location.hash.includes('zoom=')")
    w.wait("document.querySelector('#work-flame canvas').toDataURL() !== arguments[0]", "another picture", before)
    assert w.visible("#work-reset")
    w.keys(Keys.ESCAPE)
    w.wait("!location.hash.includes('zoom=')")


def test_zoom_by_mouse_and_back_button(page):
    w = page.go(**of_shop())
    x, y, width, _ = w.box("#work-flame canvas")
    w.mouse(x + width / 2, y + 50)
    w.wait("location.hash.includes('zoom=')")
    zoomed = page.state()["zoom"]
    assert page.state()["fn"] == "serve" and "serve" in w.text("#work-function")
    w.mouse(x + width / 2, y + 70)
    w.wait("!location.hash.includes(arguments[0])", None, "zoom=" + zoomed)
    w.driver.back()
    w.wait("location.hash.includes(arguments[0])", None, "zoom=" + zoomed)
    w.driver.back()
    w.wait("!location.hash.includes('zoom=')")
    w.wait("!document.querySelector('#work-reset').checkVisibility()", "all is shown")


def test_search_and_share(page):
    w = page.go(**of_shop())
    w.type("#work-find", "parse")
    w.wait("document.querySelector('#work-share').innerText.includes('46.4%')", "its share")
    assert page.names() == ["parse"] and page.state()["find"] == "parse"
    w.type("#work-find", "/^(parse|walk)$/")
    w.wait("document.querySelector('#work-share').innerText.includes('67.9%')", "the share of both")
    w.type("#work-find", "nothing like this")
    w.wait("/no match/.test(document.querySelector('#work-share').innerText)")
    assert page.names() == []


def test_icicle_and_flame(page):
    w = page.go(**of_shop())
    assert w.one("#work-layout-icicle").get_attribute("aria-pressed") == "true"
    before = page.picture()
    w.click("#work-layout-flame")
    w.wait("document.querySelector('#work-flame canvas').toDataURL() !== arguments[0]", "the other way up", before)
    assert page.state()["layout"] == "flame"
    w.keys("i")
    w.wait("!location.hash.includes('layout')")


def test_table_and_sandwich(page):
    w = page.go(**of_shop())
    assert page.names()[0] == "parse"
    w.click("#work-table [role=columnheader]:nth-child(3) button")
    w.wait("document.querySelector('#work-table [role=columnheader]:nth-child(3)').getAttribute('aria-sort') === 'descending'")
    names = page.names()
    assert names[0] == "main" and names.index("serve") < names.index("json_decode")
    walk = next(row for row in page.rows() if row[0] == "walk")
    assert "21.4%" in walk[1] and "21.4%" in walk[2], "recursion counts once"
    row = w.js("[...document.querySelectorAll('#work-table [data-row]')].find(r => r.innerText.startsWith('serve')).id")
    x, y, width, height = w.box("#" + row)
    w.mouse(x + 40, y + height / 2)
    w.mouse(x + 40, y + height / 2, clicks=2)
    w.wait("document.querySelector('#work-sandwich').checkVisibility()", "callers and callees")
    assert page.state()["fn"] == "serve" and page.state()["sandwich"] == "on"
    assert w.js("document.querySelectorAll('#work-sandwich canvas').length") == 2
    w.screenshot(SCREENSHOTS / "sandwich-1280-light.png")
    w.click("#work-let-go")
    w.wait("!document.querySelector('#work-sandwich').checkVisibility()", "the flame graph again")


def test_breakdown_by_label(page):
    from selenium.webdriver.support.select import Select
    w = page.go()
    Select(w.one("#by")).select_by_value("host")
    w.wait("document.querySelector('#legend').innerText.includes('alpha')")
    legend = w.text("#legend")
    assert "beta" in legend and '"><b>bold</b>' in legend and "payments" not in legend
    before = page.picture("#timeline")
    w.click("#chart-lines")
    w.wait("document.querySelector('#timeline').toDataURL() !== arguments[0]", "lines", before)
    w.click("#legend [data-name=alpha]")
    w.wait("location.hash.includes('alpha')")
    w.wait("document.querySelector('#work-sum').innerText.includes(arguments[0])", "one host", HALF_SUM)


# ---- two profiles ---------------------------------------------------------------------------------------------------------------------


def change_of(page, name):
    return next(row[3] for row in page.rows("#diff-table") if row[0] == name)


def test_compare_times(page):
    """The first half against the second: `parse` grew, `render` shrank."""
    middle = page.times[13] - 10_000
    begin = page.times[0] - 10_000
    w = page.go(view="compare", lf=begin, lt=middle, rf=middle + 1, rt=page.times[-1] + 10_000, lq='{service_name="shop"}',
                rq='{service_name="shop"}')
    w.wait("document.querySelectorAll('#diff-table [data-row]').length > 3")
    assert "+" in change_of(page, "parse") and change_of(page, "render").strip()[0] in "-−", page.rows("#diff-table")
    baseline = next(row for row in page.rows("#diff-table") if row[0] == "parse")
    assert "14.3%" in baseline[1] and "50.0%" in baseline[2], baseline
    w.screenshot(SCREENSHOTS / "diff-1280-light.png")
    w.click("#compare-swap")
    wait_until(lambda: "+" in change_of(page, "render"), 10, "the other way round")


def test_compare_labels(page):
    w = page.go(view="compare", lq='{service_name="shop"}', rq='{service_name="payments"}', lf="now-30m", lt="now", rf="now-30m", rt="now")
    w.wait("document.querySelectorAll('#diff-table [data-row]').length > 3")
    assert {"parse", "pay"} <= {row[0] for row in page.rows("#diff-table")}
    assert SHOP_SUM in w.text("#diff-sum") and PAYMENTS_SUM in w.text("#diff-sum")
    w.click("#compare-labels")
    w.wait("document.querySelector('#diff-sum').innerText.split(arguments[0]).length === 3", "both are the same", SHOP_SUM)


# ---- what changes by itself -----------------------------------------------------------------------------------------------------------


def test_live(page):
    """A new profile appears without a load of the page; with `live` off it does not."""
    w = page.go(live="on", **of_shop())
    w.driver.execute_script("window.same = true")
    page.push((cpu_labels("shop", host="gamma"), Pprof(int(time.time() * 1000)).add("main brand_new", 90 * TICK).bytes()))
    wait_until(lambda: "brand_new" in page.names(), 20, "the new function")
    assert w.js("window.same") is True
    # It would ask again by a timer; what is left are short ones, of things that move.
    w.driver.execute_script("window.timers = []; const real = window.setTimeout;"
                            "window.setTimeout = (f, ms) => { timers.push(ms); return real(f, ms); };")
    w.click("#live")
    assert page.state()["live"] == "off"
    w.driver.execute_script("window.timers.length = 0")
    page.push((cpu_labels("shop", host="gamma"), Pprof(int(time.time() * 1000)).add("main newest", 60 * TICK).bytes()))
    w.click("#refresh")
    wait_until(lambda: "newest" in page.names(), 20, "the newest function")
    page.settled()
    assert [ms for ms in w.js("window.timers") if ms >= 1000] == []


# ---- files and links ------------------------------------------------------------------------------------------------------------------


EARLIER = '{service_name="shop",host!="gamma"}'


def test_downloads(page):
    w = page.go(q=EARLIER)

    def download(kind, pattern):
        w.click("#work-download")
        w.click(f"#work-download-{kind}")
        return w.downloaded(pattern)
    profile = pprof.parse(download("pprof", "*.pb.gz"))
    assert profile.total == SHOP_TICKS * TICK and profile.sample_types == [("cpu", "nanoseconds")]
    assert ("main", "serve", "parse", "json_decode") in {s.frames for s in profile.samples}
    lines = download("folded", "*.txt").decode().splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == SHOP_TICKS * TICK
    assert any(line.startswith("main;serve;parse;json_decode ") for line in lines)
    picture = ElementTree.fromstring(download("svg", "*.svg"))
    assert picture.tag.endswith("svg") and "json_decode" in "".join(picture.itertext())
    png = download("png", "*.png")
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and len(png) > 2000


def test_link_restores_all(page):
    state = {"q": EARLIER, "by": "host", "chart": "lines", "layout": "flame", "find": "parse", "sort": "name", "from": "now-20m",
             "show": "both", "fn": "parse"}
    w = page.go(**state)
    url = w.driver.current_url
    first = w.driver.current_window_handle
    w.driver.switch_to.new_window("window")
    try:
        w.open(url)
        page.settled()
        assert all(page.state().get(k, v) == v for k, v in state.items())
        assert w.js("document.querySelector('#work-find').value") == "parse" and w.js("document.querySelector('#by').value") == "host"
        assert all(w.one(css).get_attribute("aria-pressed") == "true" for css in ("#work-layout-flame", "#chart-lines"))
        assert "host" in w.text("#filter-chips") and "parse" in w.text("#work-function")
    finally:
        w.driver.close()
        w.driver.switch_to.window(first)


# ---- the agent itself -----------------------------------------------------------------------------------------------------------------


def test_status(page):
    from selenium.webdriver.common.keys import Keys
    w = page.go(view="status")
    assert "pyroscope.store.local" in w.text("#status-components") and "healthy" in w.text("#status-components")
    assert "64 MiB" in w.text("#status-store") and "6 hours" in w.text("#status-store")
    assert w.one("#view-status").get_attribute("aria-current") == "page"
    w.one("#process").send_keys(str(page.agent.process.pid), Keys.ENTER)
    w.wait("document.querySelectorAll('#process-answer .card').length === 1", "an answer about the agent")
    assert str(page.agent.process.pid) in w.text("#process-answer") and "profiled" in w.text("#process-answer")
    w.type("#process", "4194305")
    w.keys(Keys.ENTER)
    w.wait("document.querySelector('#process-answer').innerText.includes('4194305')", "an answer about nobody")


def test_errors_of_the_asker(page):
    page.allowed = ("Failed to load resource",)
    w = page.go(q="{a")
    w.wait("document.querySelector('#notice-query')")
    w.click("#notice-query button")
    w.wait("document.querySelector('#work').checkVisibility()", "the profile without the filter")
    w = page.go(q='{service_name="nobody"}')
    w.wait("document.querySelector('#notice-nothing')")
    assert "nobody" in w.text("#notice-nothing")
    old = int(time.time() - 7200) * 1000
    w = page.go(**{"from": old, "to": old + 60_000})
    w.wait("document.querySelector('#notice-nothing')")


def test_empty_store_and_no_store(page, tmp_path):
    w = page.window
    empty = Agent(page.processes, tmp_path, STORE, name="empty.alloy").wait_ready()
    w.open(empty.url)
    w.wait("document.querySelector('#notice-waiting')", "the first profile is on its way")
    Server(empty.url).push((cpu_labels("first"), Pprof(int(time.time() * 1000)).add("main first_of_all", TICK).bytes()))
    w.wait("document.querySelector('#work') && document.querySelector('#work').checkVisibility()", "the first profile, by itself")
    page.allowed = ("Failed to load resource", "net::ERR")
    assert empty.stop() == 0
    w.click("#refresh")
    w.wait("document.querySelector('#banner').checkVisibility()", "the agent has ended")
    assert page.names() == ["first_of_all", "main"], "what was there stays"
    none = Agent(page.processes, tmp_path, "logging { }\n", name="none.alloy").wait_ready()
    w.open(none.url)
    w.wait("document.querySelector('#notice-nostore')")
    assert "pyroscope.store" in w.text("#notice-nostore")
    w.open("about:blank")
    assert all(any(url.startswith(a.url) for a in (empty, none)) or url == "about:blank" for url in w.requests())
    assert none.stop() == 0


def test_agent_out_of_reach(page):
    """A sentence says so, what was there stays, and it goes on when the agent can be reached again."""
    page.allowed = ("Failed to load resource", "net::ERR")
    w = page.go(live="on", **of_shop())
    w.offline(True)
    try:
        w.click("#refresh")
        w.wait("document.querySelector('#banner').checkVisibility()", "the banner")
        assert page.names(), "what was there stays"
    finally:
        w.offline(False)
    w.wait("!document.querySelector('#banner').checkVisibility()", "it is back")


# ---- names that are no names ----------------------------------------------------------------------------------------------------------


def test_hostile_names_are_text(page):
    for state in ({}, {"by": "host"}, {"q": '{service_name="' + HOSTILE + '"}', "fn": SCRIPT, "sandwich": "on"},
                  {"find": HOSTILE, "by": HOSTILE},
                  {"view": "compare", "lq": '{service_name="' + HOSTILE + '"}'}, {"view": "status", "process": SCRIPT}):
        w = page.go(**state)
        assert w.alert() is None
        assert w.js("document.querySelectorAll('img:not([src=\"page/icon.svg\"]), b').length") == 0, state
    w = page.go(q='{service_name="' + HOSTILE + '"}')
    assert {SCRIPT, HOSTILE} <= set(w.js("[...document.querySelectorAll('#work-table [title]')].map(e => e.title)"))


# ---- how it looks ---------------------------------------------------------------------------------------------------------------------


VIEWS = {"page": {}, "function": of_shop(fn="parse", find="parse"), "compare": {"view": "compare"}, "status": {"view": "status"}}


def overflow(window):
    """Elements that reach over the right border, unless something that scrolls holds them."""
    return window.js("""(() => {
        const wide = document.scrollingElement.scrollWidth, room = document.documentElement.clientWidth;
        return wide <= room ? [] : [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > room + 1)
            .map(e => e.id || e.className || e.tagName);
    })()""")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", VIEWS)
def test_fits(page, name, scheme):
    page.window.scheme(scheme)
    w = page.go(**VIEWS[name])
    for width, height in ((1280, 900), (400, 850)):
        w.size(width, height)
        w.wait("innerWidth === arguments[0]", None, width)
        w.screenshot(SCREENSHOTS / f"{name}-{width}-{scheme}.png")
        assert overflow(w) == [], (name, width)
    background = w.js("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
    assert (sum(background) / 3 < 100) == (scheme == "dark"), background


# Controls of which the middle is not their own: something lies over them.
COVERED = """(() => [...document.querySelectorAll(':is(#toolbar, .panel-head) :is(button, input, select)')].filter(e => {
    if (!e.checkVisibility()) return false;
    const r = e.getBoundingClientRect();
    if (r.width < 20 || r.height < 20) return true;
    const at = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
    return r.bottom < innerHeight && r.top > 0 && at && !(e === at || e.contains(at) || at.contains(e));
}).map(e => e.id))()"""


NAMELESS = """[...document.querySelectorAll('button, input, select, textarea, a, canvas')].filter(e => e.checkVisibility() &&
    e.tabIndex >= 0 && !(e.innerText || e.getAttribute('aria-label') || e.title || (e.labels && e.labels.length))).map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [1280, 400])
def test_controls_can_be_reached(page, width):
    """By a finger: none lies under another. By a screen reader: each has a name."""
    page.window.size(width, 850)
    for state in ({}, {"view": "compare"}, {"view": "status"}):
        w = page.go(**state)
        assert w.js(COVERED) == [], state
        assert w.js(NAMELESS) == [], state


def test_keys(page):
    w = page.go(**of_shop())
    w.keys("?")
    w.wait("document.querySelector('#help').open")
    assert "Find a function" in w.text("#help")
    w.click("#help-close")
    w.keys("/")
    w.wait("document.activeElement.id === 'work-find'")
    w.js("document.activeElement.blur()")
    for key, view in (("2", "compare"), ("3", "status"), ("1", "profile")):
        w.keys(key)
        w.wait("document.getElementById(arguments[0]).checkVisibility()", None, view)
    page.settled()


def test_colours_are_chosen_and_kept(page):
    w = page.go()
    for theme in ("light", "dark", "light"):
        wait_until(lambda: w.click("#theme") or w.js("document.documentElement.dataset.theme") == theme, 5, theme)
    w.js("localStorage.clear()")


# ---- one file -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.bpf
def test_file_of_profile(page, tmp_path):
    """What `xagent profile -f html` writes works from a disk, alone."""
    path = tmp_path / "profile.html"
    page.processes.start("sh", "-c", "while :; do :; done")
    done = page.processes.run(paths.XAGENT, "profile", "-d", "1", "-f", "html", "-o", path)
    assert done.popen.returncode == 0, done.err
    w = page.window
    w.open("about:blank")
    w.requests()
    w.open(path.as_uri())
    w.wait("document.querySelector('.flame-box canvas')", "a flame graph")
    assert "frames" in w.one(".flame-box").get_attribute("aria-label")
    w.screenshot(SCREENSHOTS / "file-1280-light.png")
    assert {urllib.parse.urlsplit(url).scheme for url in w.requests()} <= {"file", "about", "data", "blob"}
    assert overflow(w) == []
    w.open("about:blank")
