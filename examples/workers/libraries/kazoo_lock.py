#!/usr/bin/env python3
"""A lockcheck worker: one client of kazoo's Lock (Debian: python3-kazoo).

As kazoo's manual advises, it has a listener for the state of its session: without a
connection it no longer believes that it holds. With --unwatched it has none.
lockcheck run --on docker --store zookeeper --worker "python3 kazoo_lock.py"
"""
import sys

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, LockTimeout

from frame import send, serve


class Lock:
    locks, held = {}, set()

    def init(self, q):
        self.name = q["clients"][0]
        self.client = KazooClient(hosts=",".join(q["targets"]["zookeeper"]), timeout=q["ttl_ms"] / 1000)
        if "--unwatched" not in sys.argv[1:]:
            self.client.add_listener(self.watch)
        self.client.start_async()
        return {"ok": True, "name": "kazoo", "entries": [{"zookeeper": "/{name}"}]}

    def watch(self, state):
        while state != KazooState.CONNECTED and self.held:
            send({"event": "lost", "client": self.name, "lock": self.held.pop()})

    def acquire(self, q):
        lock = self.client.Lock("/" + q["lock"])
        try:
            if not lock.acquire(timeout=q["timeout_ms"] / 1000):
                return {"ok": False, "error": "timeout", "text": "acquire returned False"}
        except LockTimeout as e:
            return {"ok": False, "error": "timeout", "text": str(e)}
        self.locks[q["lock"]] = lock
        self.held.add(q["lock"])
        return {"ok": True}

    def release(self, q):
        self.held.discard(q["lock"])
        self.locks.pop(q["lock"]).release()
        return {"ok": True}


serve(Lock(), KazooException)
