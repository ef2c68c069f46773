#!/usr/bin/env python3
"""A lockcheck worker: one client of redis-py's Lock (Debian: python3-redis).

With --forever the lock has no timeout, which is redis-py's default. With --extend each
critical section begins with an extend. With --del a release is a bare DEL: it frees the
lock of whoever has it by then.
lockcheck run --on docker --worker "python3 redis_py.py"
"""
import sys, time

import redis
from redis.exceptions import LockError, LockNotOwnedError, RedisError
from redis.sentinel import Sentinel

from frame import serve

FOREVER, EXTEND, BARE_DEL = (flag in sys.argv[1:] for flag in ("--forever", "--extend", "--del"))


class Lock:
    locks = {}

    def init(self, q):
        self.ttl = q["ttl_ms"] / 1000
        limits = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), self.ttl / 4)
        at = {kind: [a.rsplit(":", 1) for a in addresses] for kind, addresses in q["targets"].items()}
        if "masters" in at:  # nodes have replicas, and the Sentinels know the master
            self.client = Sentinel(at["sentinels"], **limits).master_for(q["targets"]["masters"][0])
        else:
            self.client = redis.Redis(*at["redis"][0], **limits)
        features = ["deadline", "clock"] if EXTEND else []  # only an extend says when the lease began
        return {"ok": True, "name": "redis-py", "features": features, "entries": [{"redis": "{name}"}]}

    def acquire(self, q):
        lock = self.client.lock(q["lock"], timeout=None if FOREVER else self.ttl, sleep=self.ttl / 50)
        if not lock.acquire(blocking_timeout=q["timeout_ms"] / 1000):
            return {"ok": False, "error": "held"}
        self.locks[q["lock"]] = lock
        if not EXTEND:
            return {"ok": True}
        asked = time.monotonic_ns()  # the lease cannot have begun earlier
        lock.extend(self.ttl, replace_ttl=True)
        return {"ok": True, "valid_ms": int(self.ttl * 1000), "mono_ns": asked}

    def release(self, q):
        """Repeats a release whose answer did not come, as a careful program does."""
        lock = self.locks[q["lock"]]
        end = time.monotonic() + self.ttl
        while True:
            try:
                if BARE_DEL:
                    self.client.delete(q["lock"])
                else:
                    lock.release()
                return {"ok": True}
            except LockNotOwnedError:
                return {"ok": False, "error": "not-held"}
            except LockError as e:  # nothing was sent
                return {"ok": False, "error": "unknown", "text": str(e)}
            except RedisError:
                if time.monotonic() > end:
                    raise
                time.sleep(self.ttl / 20)


serve(Lock(), RedisError)
