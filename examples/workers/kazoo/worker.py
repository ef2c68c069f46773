#!/usr/bin/env python3
"""A lockcheck worker: one client of kazoo's Lock (Debian: python3-kazoo).

It has no listener for the end of its session, which kazoo's manual advises to add.
lockcheck run --on docker --store zookeeper --worker "python3 worker.py"
"""
import json, sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout


def send(message):
    print(json.dumps(message), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)  # the harness has ended, and so do we
    return json.loads(line)


def acquire(q):
    lock = client.Lock("/" + q["lock"])
    try:
        if not lock.acquire(timeout=q["timeout_ms"] / 1000):
            return {"ok": False, "error": "timeout", "text": "acquire returned False"}
    except LockTimeout as e:
        return {"ok": False, "error": "timeout", "text": str(e)}
    locks[q["lock"]] = lock
    return {"ok": True}


def release(q):
    lock = locks.pop(q["lock"])
    lock.release()
    return {"ok": True}


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
            client = KazooClient(hosts=",".join(request["targets"]["zookeeper"]), timeout=request["ttl_ms"] / 1000)
            client.start_async()
            reply.update(name="kazoo", features=[], entries=[{"zookeeper": "/{name}"}])
        elif op == "acquire":
            reply = acquire(request)
        elif op == "release":
            reply = release(request)
        elif op in ("read", "write"):
            reply = access(request)
        else:
            reply = {"ok": False, "error": "unsupported"}
    except KazooException as e:  # no answer: nobody knows
        reply = {"ok": False, "error": "unknown", "text": f"{type(e).__name__}: {e}"}
    send({"id": request["id"], **reply})
