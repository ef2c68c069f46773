"""A worker whose lock is a row of the table orders: holder is NULL if nobody holds it."""
import json, os, sys, time

import pymysql


def send(message):
    print(json.dumps(message), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def execute(statement, *values):
    global db
    if db is None or not db.open:
        host, _, port = target.rpartition(":")
        db = pymysql.connect(host=host, port=int(port), user=os.environ["LOCKCHECK_USER"], password=os.environ["LOCKCHECK_PASSWORD"],
                             database=os.environ["LOCKCHECK_DATABASE"], autocommit=True, read_timeout=ttl, connect_timeout=ttl)
    try:
        with db.cursor() as c:
            return c.execute(statement, values)
    except pymysql.MySQLError:
        db.close()
        raise


def acquire(q):
    end = time.monotonic() + q["timeout_ms"] / 1000
    execute("INSERT IGNORE INTO orders (name) VALUES (%s)", q["lock"])
    while not execute("UPDATE orders SET holder = %s WHERE name = %s AND holder IS NULL", me, q["lock"]):
        if time.monotonic() > end:
            return {"ok": False, "error": "held"}
        time.sleep(ttl / 50)
    return {"ok": True}


def access(q):
    send({"id": q["id"], "do": "resource." + q["op"], "value": q.get("value")})
    answer = receive()
    if "error" in answer:
        return {"ok": False, "error": answer["error"]}
    return {"ok": True, "value": answer.get("value")}


db = None
while True:
    q = receive()
    reply = {"ok": True}
    try:
        if q["op"] == "init":
            me, ttl, target = q["clients"][0], max(q["ttl_ms"] / 1000, 1), q["targets"]["mysql"][0]
            reply["entries"] = [{"mysql": {"table": "orders", "key": "name", "owner": "holder"}}]
        elif q["op"] == "acquire":
            reply = acquire(q)
        elif q["op"] == "release":
            execute("UPDATE orders SET holder = NULL WHERE name = %s AND holder = %s", q["lock"], me)
        elif q["op"] in ("read", "write"):
            reply = access(q)
        else:
            reply = {"ok": False, "error": "unsupported"}
    except pymysql.MySQLError as e:
        reply = {"ok": False, "error": "unknown", "text": str(e)}
    send({"id": q["id"], **reply})
