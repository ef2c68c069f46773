#!/usr/bin/env python3
"""A worker with a broken lock on Redis: SETNX of "1", and a bare DEL.

Nothing says whose entry it is, so that a client whose lease has ended removes
the entry of the next one. With --forever the entry has no lease at all.
"""
import json, socket, sys, time

FOREVER = "--forever" in sys.argv[1:]


class Unsent(Exception):
    """Nothing was sent: the operation certainly did not happen."""


class Redis:
    def __init__(self, target, timeout):
        self.host, _, self.port = target.rpartition(":")
        self.timeout, self.stream = timeout, None

    def call(self, *words):
        if self.stream is None:
            try:
                self.stream = socket.create_connection((self.host, int(self.port)), self.timeout).makefile("rwb")
                self.exchange("PING")
            except OSError as e:
                self.stream = None
                raise Unsent(str(e))
        try:
            return self.exchange(*words)
        except OSError:
            self.stream = None
            raise

    def exchange(self, *words):
        self.stream.write(" ".join(words).encode() + b"\r\n")
        self.stream.flush()
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection ended")
        if line[:1] == b"-":
            raise Unsent(line.decode())
        return line[1:-2].decode()


def acquire(q):
    set = ["SETNX", q["lock"], "1"] if FOREVER else ["SET", q["lock"], "1", "NX", "PX", str(ttl_ms)]
    end = time.monotonic() + q["timeout_ms"] / 1000
    while time.monotonic() < end:
        if redis.call(*set) in ("OK", "1"):
            return {"ok": True}
        time.sleep(ttl_ms / 50000)
    return {"ok": False, "error": "held"}


def access(q):
    print(json.dumps({"id": q["id"], "do": "resource." + q["op"], **({"value": q["value"]} if "value" in q else {})}), flush=True)
    return {"ok": True, **{k: v for k, v in json.loads(sys.stdin.readline()).items() if k == "value"}}


for line in sys.stdin:
    request = json.loads(line)
    op, reply = request["op"], {"ok": True}
    try:
        if op == "init":
            ttl_ms = request["ttl_ms"]
            redis = Redis(request["targets"]["redis"][0], ttl_ms / 4000)
            reply.update(name="setnx", features=[])
        elif op == "acquire":
            reply = acquire(request)
        elif op == "release":
            redis.call("DEL", request["lock"])
        else:
            reply = access(request)
    except Unsent as e:
        reply = {"ok": False, "error": "unavailable", "text": str(e)}
    except OSError as e:
        reply = {"ok": False, "error": "unknown", "text": str(e)}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
