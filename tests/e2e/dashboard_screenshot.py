"""Draw docs/dashboard.webp: `python -m tests.e2e.dashboard_screenshot [SECONDS]`.

A demo in a temporary checkout serves a mixed load for some seconds, 90 by default. A real Prometheus scrapes it and
executes the queries of deploy/grafana/dashboard.json. Their results are drawn here as plain charts, in the places that
the dashboard gives them: Grafana is not needed.
"""

import base64
import html
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.deployment.checkout import Checkout, Run
from tests.deployment.ports import find_free_port
from tests.deployment.processes import ROOT
from tests.e2e.chromium import launch_chromium

TARGET = ROOT / "docs" / "dashboard.webp"
STEP = 3  # seconds between two points
COLOURS = ("#73bf69", "#5794f2", "#f2cc0c", "#ff780a", "#f2495c", "#b877d9", "#37872d", "#fade2a", "#8ab8ff", "#ffa6b0")
QUERIES = (
    "{ posts(limit: 10) { title author { name } comments(limit: 3) { body } } }",
    "{ post(id: 1) { title body } }",
    "{ authors: posts(limit: 100) { author { name bio } comments { body author { name } } } }",
    "{ broken",
)


def main(seconds: int) -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # PostgreSQL's account must reach its data
        checkout = Checkout(Path(folder, "checkout"))
        metrics, prometheus = f"127.0.0.1:{find_free_port()}", f"127.0.0.1:{find_free_port()}"
        run = checkout.run(CONTENTAPI_METRICS_BIND=metrics, CONTENTAPI_RATE_ANONYMOUS="2000/minute")
        try:
            run.wait_until_ready()
            with start_prometheus(Path(folder), prometheus, metrics) as process:
                time.sleep(STEP)
                start = time.time()
                send_load(run, checkout, seconds)
                end = time.time()
                draw(query_panels(prometheus, start, end))
                process.terminate()
        finally:
            run.interrupt()
            checkout.kill_everything()


def start_prometheus(folder: Path, address: str, target: str) -> subprocess.Popen[bytes]:
    configuration = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "contentapi", "static_configs": [{"targets": [target]}]}],
    }
    path = folder / "prometheus.json"  # JSON is YAML
    path.write_text(json.dumps(configuration))
    command = ["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder / 'prometheus'}"]
    return subprocess.Popen([*command, f"--web.listen-address={address}"], stderr=subprocess.DEVNULL)


def send_load(run: Run, checkout: Checkout, seconds: int) -> None:
    key = (checkout.folder / "var" / "demo_api_key").read_text()
    end = time.monotonic() + seconds
    threads = [Thread(target=send_requests, args=[run, key, number, end]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def send_requests(run: Run, key: str, number: int, end: float) -> None:
    """Send reads, writes and mistakes until the monotonic time `end`, first slower and then faster."""
    chance = random.Random(number)  # noqa: S311 - a load
    start = time.monotonic()
    while time.monotonic() < end:
        headers = {"X-API-Key": key} if chance.random() < 0.6 else {}
        kind = chance.random()
        if kind < 0.6:
            send(run, "/graphql", {"query": chance.choice(QUERIES)}, headers)
        elif kind < 0.75:
            status = chance.choice(["draft", "published"])
            send(run, "/posts", {"title": "Tides", "body": "High water at noon.", "status": status}, headers)
        else:
            send(run, chance.choice(["/posts", "/posts/1", "/posts/0", "/orders", "/nowhere"]), None, headers)
        progress = (time.monotonic() - start) / (end - start)
        time.sleep(chance.random() * 0.15 * (1.1 - progress))


def send(run: Run, path: str, body: object, headers: dict[str, str]) -> None:
    content = None if body is None else json.dumps(body).encode()
    request = Request(f"http://localhost:{run.port}{path}", content, {"Content-Type": "application/json", **headers})
    try:
        with urlopen(request, timeout=30) as response:  # noqa: S310 - loopback
            response.read()
    except HTTPError as error:
        error.read()


Series = list[tuple[str, list[tuple[float, float]]]]


def query_panels(address: str, start: float, end: float) -> list[tuple[dict[str, Any], Series]]:
    """Return each panel with its series: the legend, and the points by time."""
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())
    panels = []
    for panel in dashboard["panels"]:
        series: Series = []
        for target in panel["targets"]:
            query = target["expr"].replace("$__rate_interval", "15s").replace("$instance", ".*")
            parameters = urlencode({"query": query, "start": start, "end": end, "step": STEP})
            with urlopen(f"http://{address}/api/v1/query_range?{parameters}", timeout=30) as response:
                for found in json.load(response)["data"]["result"]:
                    legend = target["legendFormat"]
                    for label, value in found["metric"].items():
                        legend = legend.replace("{{" + label + "}}", value)
                    points = [(when, float(value)) for when, value in found["values"] if value != "NaN"]
                    series.append((legend, points))
        panels.append((panel, series))
    return panels


def draw(panels: list[tuple[dict[str, Any], Series]]) -> None:
    """Write the screenshot of all panels."""
    body = "".join(draw_panel(panel, series) for panel, series in panels)
    page_text = (
        "<style>body{background:#111217;color:#ccccdc;font:12px sans-serif;margin:8px;display:grid;gap:8px;"
        "grid-template-columns:repeat(3,1fr)}section{background:#181b1f;border:1px solid #2c3235;padding:8px}"
        "h2{font-size:13px;margin:0 0 6px}svg{width:100%;height:150px;display:block}"
        "p{margin:4px 0 0;line-height:1.5}i{display:inline-block;width:12px;height:3px;margin:0 4px 3px 8px}</style>"
    )
    with launch_chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_content(page_text + body)
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        session = page.context.new_cdp_session(page)
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        found = session.send(
            "Page.captureScreenshot", {"format": "webp", "quality": 70, "clip": clip, "captureBeyondViewport": True}
        )
        TARGET.write_bytes(base64.b64decode(found["data"]))
    sys.stdout.write(f"{len(panels)} panels; {TARGET.name} has {TARGET.stat().st_size:,} bytes.\n")


def draw_panel(panel: dict[str, Any], series: Series) -> str:
    """Return a panel as HTML: its title, lines, the largest value and a legend with the last values."""
    unit = panel["fieldConfig"]["defaults"]["unit"]
    points = [point for _, each in series for point in each]
    first, last = min((when for when, _ in points), default=0), max((when for when, _ in points), default=1)
    largest = max((value for _, value in points), default=0) or 1
    lines, legend = [], []
    for number, (name, each) in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        places = " ".join(
            f"{(when - first) / ((last - first) or 1) * 600:.1f},{145 - value / largest * 135:.1f}"
            for when, value in each
        )
        lines.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        value = format_value(each[-1][1], unit) if each else "no data"
        legend.append(f'<i style="background:{colour}"></i>{html.escape(name)}: {value}')
    label = f'<text x="2" y="10" fill="#8e8e9e" font-size="10">{format_value(largest, unit)}</text>'
    chart = f'<svg viewBox="0 0 600 150" preserveAspectRatio="none">{"".join(lines)}{label}</svg>'
    return f"<section><h2>{html.escape(panel['title'])}</h2>{chart}<p>{' '.join(legend)}</p></section>"


def format_value(value: float, unit: str) -> str:
    match unit:
        case "percentunit":
            return f"{value:.1%}"
        case "bytes" | "Bps":
            return f"{value / 1e6:.1f} MB" if value >= 1e6 else f"{value / 1e3:.1f} kB"
        case "s":
            return f"{value * 1000:.2f} ms"
        case "reqps":
            return f"{value:.1f}/s"
    return f"{value:.2f}".rstrip("0").rstrip(".")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 90)
