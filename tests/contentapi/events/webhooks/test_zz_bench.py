import subprocess, sys, time, os
import pytest
from django.db import connection
from threading import Event as StopEvent
from contentapi.events.webhooks.sender import Sender
from tests.contentapi.events.webhooks.hooks import *
from tests.factories import make_author, make_post
import cProfile, pstats
pytestmark = pytest.mark.django_db(transaction=True)
SERVER = '''
import socket, sys, selectors
s = socket.create_server(("127.0.0.1", 0), backlog=512); print(s.getsockname()[1], flush=True)
s.setblocking(False)
sel = selectors.DefaultSelector(); sel.register(s, 1, None)
bufs = {}
while True:
    for key, _ in sel.select():
        if key.data is None:
            c, _ = s.accept(); c.setblocking(False); c.setsockopt(6,1,1); sel.register(c, 1, c); bufs[c] = b""
            continue
        c = key.data
        d = c.recv(65536)
        if not d: sel.unregister(c); c.close(); continue
        b = bufs[c] + d
        while True:
            i = b.find(b"\\r\\n\\r\\n")
            if i < 0: break
            h = b[:i].lower(); j = h.find(b"content-length:"); n = int(h[j+15:].split(b"\\r\\n")[0])
            if len(b) < i+4+n: break
            b = b[i+4+n:]
            c.sendall(b"HTTP/1.1 204 No Content\\r\\n\\r\\n")
        bufs[c] = b
'''
def test_bench(settings):
    allow_local_receivers(settings)
    p = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
    port = int(p.stdout.readline())
    try:
        hooks = [make_hook(f"http://127.0.0.1:{port}/x") for _ in range(int(os.environ.get("HOOKS", "1")))]
        for _ in range(int(os.environ.get("EVENTS","2000"))): make_author()
        relay()
        sender = Sender()
        t = time.perf_counter()
        pr = cProfile.Profile()
        if os.environ.get("PROF"): pr.enable()
        sender.run(StopEvent())
        while sender.lanes.lines: sender.run(StopEvent())
        if os.environ.get("PROF"): pr.disable()
        dt = time.perf_counter() - t
        n = Delivery.objects.filter(state="delivered").count()
        open("/tmp/WA-bench.txt","a").write(f"{len(hooks)} hooks {n} deliveries {dt:.2f} s {n/dt:.0f}/s load {os.getloadavg()}\n")
        if os.environ.get("PROF"):
            pstats.Stats(pr, stream=open("/tmp/WA-prof.txt","w")).sort_stats("cumtime").print_stats(40)
    finally:
        p.kill()
