#!/usr/bin/env python3
"""A lockcheck worker: one client of redis-py's Lock (Debian: python3-redis).

With --forever the lock has no timeout, which is redis-py's default. With --extend each
critical section begins with an extend. lockcheck run --on docker --worker "python3 redispy.py"
"""
import json, sys, time

import redis
from redis.exceptions import LockError, LockNotOwnedError, RedisError

FOREVER, EXTEND = "--forever" in sys.argv[1:], "--extend" in sys.argv[1:]


def send(message):
    print(json.dumps(message), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)  # the harness has ended, and so do we
    return json.loads(line)


def acquire(q):
    lock = client.lock(q["lock"], timeout=None if FOREVER else ttl, sleep=ttl / 50, blocking_timeout=q["timeout_ms"] / 1000)
    if not lock.acquire():
        return {"ok": False, "error": "held"}
    locks[q["lock"]] = lock
    if not EXTEND:
        return {"ok": True}  # only the lock knows when its last try began, and with it the lease
    asked = time.monotonic_ns()  # the lease cannot have begun earlier
    lock.extend(ttl, replace_ttl=True)
    return {"ok": True, "valid_ms": int(ttl * 1000), "mono_ns": asked}


def release(q):
    """Repeats a release whose answer did not come, as a careful program does."""
    lock = locks[q["lock"]]
    end = time.monotonic() + ttl
    while True:
        try:
            lock.release()
            return {"ok": True}
        except LockNotOwnedError:
            return {"ok": False, "error": "not-held"}
        except LockError as e:  # nothing was sent
            return {"ok": False, "error": "unknown", "text": str(e)}
        except RedisError:
            if time.monotonic() > end:
                raise
            time.sleep(ttl / 20)


def access(q):
    """The guarded resource lives in the harness: ask it, from here."""
    ask = {"id": q["id"], "do": "resource." + q["op"]}
    if q["op"] == "write":
        ask["value"] = q["value"]
    send(ask)
    answer = receive()
    if "error" in answer:
        return {"ok": False, "error": answer["error"]}
    return {"ok": True, "value": answer["value"]} if q["op"] == "read" else {"ok": True}


locks = {}
while True:
    request = receive()
    op, reply = request["op"], {"ok": True}
    try:
        if op == "init":
            ttl = request["ttl_ms"] / 1000
            host, _, port = request["targets"]["redis"][0].rpartition(":")
            client = redis.Redis(host=host, port=int(port), socket_timeout=ttl / 4, socket_connect_timeout=ttl / 4)
            reply.update(name="redis-py", features=["deadline", "clock"], entries=[{"redis": "{name}"}])
        elif op == "clock":
            reply.update(mono_ns=time.monotonic_ns())
        elif op == "acquire":
            reply = acquire(request)
        elif op == "release":
            reply = release(request)
        elif op in ("read", "write"):
            reply = access(request)
        else:
            reply = {"ok": False, "error": "unsupported"}
    except RedisError as e:  # no answer: nobody knows
        reply = {"ok": False, "error": "unknown", "text": str(e)}
    send({"id": request["id"], **reply})
