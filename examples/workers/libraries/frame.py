"""The protocol of a lockcheck worker with one client, for the locks beside this file.

../python/worker.py is a complete worker of one page, without this module.
"""
import json, sys, threading, time

writing = threading.Lock()  # libraries call back in threads of their own


def send(message):
    with writing:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)  # the harness has ended, and so do we
    return json.loads(line)


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


def serve(lock, unknown):
    """Lets lock.init, lock.acquire and lock.release answer. After an exception of the
    class unknown nobody knows whether the operation happened."""
    while True:
        request = receive()
        op = request["op"]
        try:
            if op in ("init", "acquire", "release"):
                reply = getattr(lock, op)(request)
            elif op in ("read", "write"):
                reply = access(request)
            elif op == "clock":
                reply = {"ok": True, "mono_ns": time.monotonic_ns()}
            else:
                reply = {"ok": False, "error": "unsupported"}
        except unknown as e:
            reply = {"ok": False, "error": "unknown", "text": f"{type(e).__name__}: {e}"}
        send({"id": request["id"], **reply})
