"""Time and memory of the worst feeds that are still read, measured in a separate process."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

WORST = """
import re, time
from pathlib import Path
from chalicelib.feeds.reading import entries

entry = "<item><title>t{0}</title><guid>{0}</guid><description><![CDATA[{1}]]></description></item>"
rss = '<rss version="2.0"><channel>{}</channel></rss>'
documents = [
    rss.format("".join(entry.format(n, "<p>a <b>b</b></p>" * 14) for n in range(3000))),
    rss.format("".join(entry.format(n, "<p>a <b>b</b></p>" * 9) for n in range(1200))) + "<&",
    rss.format("".join(entry.format(n, "x" * 4800) for n in range(1000))),
    rss.format(entry.format(1, "<div>" * 190_000)),
    '<feed xmlns="http://www.w3.org/2005/Atom">' + "<entry><x>" * 90 + "<y xml:base='a/'/>" * 4000,
]
slowest = 0
for document in documents:
    begun = time.process_time()
    try:
        entries.parse(document.encode(), "application/xml", "https://blog.example.org/feed")
    except entries.NotAFeed as refused:
        print(refused.reason)
    slowest = max(slowest, time.process_time() - begun)
# getrusage would also count the parent process.
print(slowest, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_the_worst_feed_takes_less_than_ten_seconds_and_256_megabytes():
    run = subprocess.run([sys.executable, "-c", WORST], cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, run.stdout.splitlines()[-1].split())
    assert seconds < 8
    assert megabytes < 200
