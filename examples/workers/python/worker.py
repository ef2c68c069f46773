#!/usr/bin/env python3
"""A lockcheck worker: one client of a lock on Redis, SET NX PX.

It gives the lock back with a script that compares and deletes; with --del,
with a bare DEL, which frees whoever holds it by then.
Python 3 standard library only. To run it: lockcheck suite, where lockcheck.yaml
names it, or lockcheck run --worker "python3 worker.py" --on docker.
"""
import json, socket, sys, time, uuid

COMPARE_AND_DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
BARE_DEL = "--del" in sys.argv[1:]


class Unavailable(Exception):
    """Nothing was sent: the operation certainly did not happen."""


class Redis:
    """One connection to a server, made when it is needed. address() returns the server's host:port."""

    def __init__(self, address, timeout):
        self.address, self.timeout, self.stream = address, timeout, None

    def connect(self):
        if self.stream is None:
            host, _, port = self.address().rpartition(":")
            try:
                s = socket.create_connection((host, int(port)), self.timeout)
                self.stream = s.makefile("rwb")
                self.exchange("PING")  # something may accept connections for a server that is down
            except OSError as e:
                self.stream = None
                raise Unavailable(str(e))

    def call(self, *words):
        """Sends one command and returns its reply. After an OSError it may have been executed."""
        self.connect()
        try:
            return self.exchange(*words)
        except OSError:
            self.stream = None  # an answer that comes late must not be taken for another's
            raise

    def exchange(self, *words):
        parts = [str(w).encode() for w in words]
        self.stream.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        self.stream.flush()
        return self.reply()

    def reply(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection ended")
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            n = int(rest)
            return None if n < 0 else self.stream.read(n + 2)[:-2].decode()
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"-":
            self.stream = None  # it may be a replica now: look for the master again
            raise Unavailable(rest.decode())  # an error of the server's: nothing was done
        return int(rest) if kind == b":" else rest.decode()


def master(targets, timeout):
    """Returns a function that returns the master's address: where nodes have replicas, the Sentinels know it."""
    if "masters" not in targets:
        return lambda: targets["redis"][0]
    sentinels = [Redis(lambda at=at: at, timeout) for at in targets["sentinels"]]

    def find():
        for sentinel in sentinels:
            try:
                host, port = sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", targets["masters"][0])
                return f"{host}:{port}"
            except (Unavailable, OSError, TypeError):
                continue  # it is down, or knows no master
        raise Unavailable("no Sentinel knows the master")

    return find


def send(message):
    print(json.dumps(message), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)  # the harness has ended, and so do we
    return json.loads(line)


def acquire(q):
    value, end = str(uuid.uuid4()), time.monotonic() + q["timeout_ms"] / 1000
    while True:
        asked = time.monotonic_ns()  # the lease cannot have begun earlier
        if redis.call("SET", q["lock"], value, "NX", "PX", ttl_ms) == "OK":
            values[q["lock"]] = value
            return {"ok": True, "valid_ms": ttl_ms, "mono_ns": asked}
        if time.monotonic() + ttl_ms / 50000 > end:
            return {"ok": False, "error": "held"}
        time.sleep(ttl_ms / 50000)


def release(q):
    value = values.pop(q["lock"], "")
    if BARE_DEL:
        removed = redis.call("DEL", q["lock"])
    else:
        removed = redis.call("EVAL", COMPARE_AND_DELETE, 1, q["lock"], value)
    return {"ok": True} if removed else {"ok": False, "error": "not-held"}


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


values = {}  # by lock: what our acquisition wrote
while True:
    request = receive()
    op, reply = request["op"], {"ok": True}
    try:
        if op == "init":
            ttl_ms = request["ttl_ms"]
            redis = Redis(master(request["targets"], ttl_ms / 4000), ttl_ms / 4000)
            reply.update(name="python-del" if BARE_DEL else "python", features=["deadline", "clock"])
            reply.update(entries=[{"redis": "{name}"}])  # the key of a lock has its name
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
    except Unavailable as e:
        reply = {"ok": False, "error": "unavailable", "text": str(e)}
    except OSError as e:  # sent, and no answer: nobody knows
        reply = {"ok": False, "error": "unknown", "text": str(e)}
    send({"id": request["id"], **reply})
