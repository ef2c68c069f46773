#!/usr/bin/env python3
"""A lockcheck worker: one client of MySQL's GET_LOCK, by PyMySQL (Debian: python3-pymysql).

The lock belongs to the connection. After an error nobody knows whether it has the lock,
so the connection is closed, which frees it. With --swallow an error counts as success.
lockcheck run --on docker --store mysql --worker "python3 get_lock.py"
"""
import sys, time

import pymysql

from frame import serve


class Lock:
    conn = None

    def init(self, q):
        self.ttl = q["ttl_ms"] / 1000
        host, _, port = q["targets"]["mysql"][0].rpartition(":")
        self.server = {"host": host, "port": int(port), "user": "lockcheck", "database": "lockcheck"}
        self.server.update(dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), self.ttl))
        return {"ok": True, "name": "get-lock", "entries": [{"mysql": "get_lock", "name": "{name}"}]}

    def ask(self, query, *args):
        """Returns the value of a query: 1 for success."""
        try:
            if self.conn is None:
                self.conn = pymysql.connect(**self.server)
            with self.conn.cursor() as cursor:
                cursor.execute(query, args)
                return cursor.fetchone()[0]
        except pymysql.Error:
            if self.conn is not None:
                self.conn._force_close()  # close() would first send a message
                self.conn = None
            if "--swallow" not in sys.argv[1:]:
                raise
            return 1

    def acquire(self, q):
        end = time.monotonic() + q["timeout_ms"] / 1000
        while time.monotonic() < end:
            if self.ask("SELECT GET_LOCK(%s, %s)", q["lock"], self.ttl / 4) == 1:
                return {"ok": True}
        return {"ok": False, "error": "held"}

    def release(self, q):
        if self.ask("SELECT RELEASE_LOCK(%s)", q["lock"]) == 1:
            return {"ok": True}
        return {"ok": False, "error": "not-held"}


serve(Lock(), pymysql.Error)
