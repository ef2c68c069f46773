#!/usr/bin/env node
// A lockcheck worker: one client of a lock on Redis, SET NX PX. A release is a script that
// compares and deletes. Node 20 without any package.
// lockcheck run --on docker --worker "node worker.js"
"use strict";
const net = require("node:net"), { randomUUID } = require("node:crypto"), readline = require("node:readline");
const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";
const failure = (code, text) => Object.assign(new Error(text), { code });

// call sends one command and resolves to its reply: a number, a string, or null. If it rejects
// with the code unknown, the server may have executed the command.
let socket = null, ttl = 0, port = 0, host = "";
async function call(...words) {
  if (!socket) {
    socket = net.connect({ host, port });
    // Something may accept connections for a server that is down.
    await exchange(["PING"]).catch((e) => { throw failure("unavailable", e.message); });
  }
  return exchange(words);
}

function exchange(words) {
  return new Promise((resolve, reject) => {
    const s = socket;
    let text = "";
    const done = (settle, value) => {
      clearTimeout(timer);
      s.removeAllListeners().on("error", () => {});
      settle(value);
    };
    const fail = (why) => { s.destroy(); socket = null; done(reject, failure("unknown", why)); };
    const timer = setTimeout(fail, ttl / 4, "no answer in time");
    s.on("error", (e) => fail(e.message)).on("close", () => fail("the connection ended")).on("data", (data) => {
      text += data;
      const end = text.indexOf("\r\n"), rest = text.slice(1, end);
      if (end < 0) return;
      if (text[0] === "$" && rest !== "-1" && text.length < end + 4 + Number(rest)) return;
      if (text[0] === "-") return done(reject, failure("unavailable", rest)); // the server's error: nothing was done
      if (text[0] === "$") return done(resolve, rest === "-1" ? null : text.slice(end + 2, -2));
      done(resolve, text[0] === ":" ? Number(rest) : rest);
    });
    s.write(`*${words.length}\r\n` + words.map((w) => `$${Buffer.byteLength(String(w))}\r\n${w}\r\n`).join(""));
  });
}

const values = {}, asked = {}; // by lock: what our acquisition wrote; by request: who waits for the resource
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

const operations = {
  async init(q) {
    ttl = q.ttl_ms;
    [host, port] = q.targets.redis[0].split(":");
    return { name: "node", features: ["deadline", "clock"], entries: [{ redis: "{name}" }] };
  },
  clock: async () => ({ mono_ns: Number(process.hrtime.bigint()) }),
  async acquire(q) {
    const value = randomUUID(), end = performance.now() + q.timeout_ms;
    for (;;) {
      const mono_ns = Number(process.hrtime.bigint()); // the lease cannot have begun earlier
      if (await call("SET", q.lock, value, "NX", "PX", ttl) === "OK") {
        values[q.lock] = value;
        return { valid_ms: ttl, mono_ns };
      }
      if (performance.now() + ttl / 50 > end) throw failure("held");
      await new Promise((resolve) => setTimeout(resolve, ttl / 50));
    }
  },
  async release(q) {
    if (!await call("EVAL", RELEASE, 1, q.lock, values[q.lock])) throw failure("not-held");
  },
  read: access, write: access,
};

// The guarded resource lives in the harness: ask it, from here.
function access(q) {
  send({ id: q.id, do: "resource." + q.op, value: q.value });
  return new Promise((resolve, reject) => {
    asked[q.id] = (a) => (a.error ? reject(failure(a.error)) : resolve({ value: a.value }));
  });
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  if (!line.startsWith("{")) return;
  const q = JSON.parse(line), answers = asked[q.id];
  if (answers) return delete asked[q.id], answers(q);
  const operation = operations[q.op] ?? (() => Promise.reject(failure("unsupported")));
  operation(q).then((a) => send({ id: q.id, ok: true, ...a }), (e) => {
    send({ id: q.id, ok: false, error: e.code ?? "unknown", text: e.message });
  });
}).on("close", () => process.exit(0)); // the harness has ended, and so do we
