// A lockcheck worker: one client of a lock on Redis, SET NX PX. A release is a script that
// compares and deletes. Java 17 without any library.
// lockcheck run --on docker --worker "java Worker.java"
import java.io.*;
import java.net.*;
import java.util.*;
import java.util.regex.*;

class Worker {
    static final String RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";
    static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    static final Map<String, String> values = new HashMap<>(); // by lock: what our acquisition wrote
    static InetSocketAddress server;
    static Socket socket; // null: not connected
    static int ttl;
    /** It certainly did not happen; the message is the protocol's word for the reason. */
    static class Definite extends Exception { Definite(String word) { super(word); } }
    /** Sends one command and returns its reply. After an IOException it may have been executed. */
    static String call(String... words) throws Exception {
        boolean ready = socket != null;
        try {
            if (!ready) {
                socket = new Socket();
                socket.setSoTimeout(ttl / 4);
                socket.connect(server, ttl / 4);
                exchange("PING"); // something may accept connections for a server that is down
                ready = true;
            }
            return exchange(words);
        } catch (IOException e) {
            socket.close(); // an answer that comes late must not be taken for another's
            socket = null;
            throw ready ? e : new Definite("unavailable");
        }
    }
    static String exchange(String... words) throws IOException, Definite {
        String command = "*" + words.length + "\r\n", reply = "";
        for (String w : words) command += "$" + w.getBytes("UTF-8").length + "\r\n" + w + "\r\n";
        socket.getOutputStream().write(command.getBytes("UTF-8"));
        for (int b; !reply.endsWith("\r\n"); reply += (char) b) // no reply here has a second line
            if ((b = socket.getInputStream().read()) < 0) throw new EOFException();
        if (reply.startsWith("-")) throw new Definite("unavailable"); // an error of the server's: nothing was done
        return reply.trim();
    }
    /** Performs a request, and returns the rest of its answer. */
    static String perform(String q, String op, String lock, String value) throws Exception {
        switch (op) {
            case "init":
                ttl = Integer.parseInt(field(q, "ttl_ms"));
                String[] at = field(q, "redis").split(":");
                server = new InetSocketAddress(at[0], Integer.parseInt(at[1]));
                return ",'name':'java','features':['deadline','clock'],'entries':[{'redis':'{name}'}]".replace('\'', '"');
            case "clock": return ",\"mono_ns\":" + System.nanoTime();
            case "acquire":
                long end = System.nanoTime() + Long.parseLong(field(q, "timeout_ms")) * 1_000_000;
                for (String ours = UUID.randomUUID().toString(); ; Thread.sleep(ttl / 50)) {
                    long asked = System.nanoTime(); // the lease cannot have begun earlier
                    if (call("SET", lock, ours, "NX", "PX", "" + ttl).equals("+OK")) {
                        values.put(lock, ours);
                        return ",\"valid_ms\":" + ttl + ",\"mono_ns\":" + asked;
                    } else if (asked + ttl * 20_000L > end) throw new Definite("held");
                }
            case "release":
                if (call("EVAL", RELEASE, "1", lock, values.get(lock)).equals(":1")) return "";
                throw new Definite("not-held");
            case "read": case "write": // the guarded resource lives in the harness: ask it, from here
                System.out.println(head(q) + ",\"do\":\"resource." + op + "\",\"value\":" + value + "}");
                String a = in.readLine();
                if (field(a, "error") != null) throw new Definite(field(a, "error"));
                return op.equals("read") ? ",\"value\":" + field(a, "value") : "";
            default: throw new Definite("unsupported");
        }
    }
    static String field(String q, String name) { // of a list its first string, or null; it does not know escapes
        Matcher m = Pattern.compile("\"" + name + "\":\\[?\"?([^\",}\\]]*)").matcher(q);
        return m.find() ? m.group(1) : null;
    }
    static String head(String q) { return "{\"id\":" + field(q, "id"); }
    public static void main(String[] args) throws IOException {
        for (String q, result; (q = in.readLine()) != null; ) { // it ends when the harness has ended
            if (!q.startsWith("{")) continue;
            try {
                result = "true" + perform(q, field(q, "op"), field(q, "lock"), field(q, "value"));
            } catch (Exception e) { // without an answer nobody knows what happened
                result = "false,\"error\":\"" + (e instanceof Definite ? e.getMessage() : "unknown") + "\"";
            }
            System.out.println(head(q) + ",\"ok\":" + result + "}");
        }
    }
}
