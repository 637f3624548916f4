// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.fixtures.Resp;
import io.weir.ratelimit.redisson.script.Script;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A server that lacks an ability: it answers as a Redis does, except that lines of Lua precede each script, and hide or replace what a script
 * finds.
 */
public final class LackingRedis implements AutoCloseable {
    private final URI redis;
    private final @Nullable String prelude;
    private final boolean silent;
    private final ServerSocket listener;
    private final Map<String, String> scripts = new ConcurrentHashMap<>();
    private final List<Socket> sockets = new ArrayList<>();

    private LackingRedis(String redis, @Nullable String prelude, boolean silent) throws IOException {
        this.redis = URI.create(redis);
        this.prelude = prelude;
        this.silent = silent;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /** Starts a server whose scripts begin with lines of Lua. */
    public static LackingRedis inFrontOf(String redis, String prelude) {
        return started(redis, prelude, false);
    }

    /** Starts a server that knows no scripts. */
    public static LackingRedis withoutScripts(String redis) {
        return started(redis, null, false);
    }

    /** Starts a server that answers nothing on a connection after an {@code EVAL}. */
    public static LackingRedis silentAboutEval(String redis) {
        return started(redis, "", true);
    }

    private static LackingRedis started(String redis, @Nullable String prelude, boolean silent) {
        try {
            return new LackingRedis(redis, prelude, silent);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String address() {
        return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void start(Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException e) {
                        // a connection ended
                    }
                },
                "lacking-redis");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = keep(listener.accept());
            start(() -> serve(client));
        }
    }

    private synchronized Socket keep(Socket socket) {
        sockets.add(socket);
        return socket;
    }

    private void serve(Socket client) throws IOException {
        try (client;
                Socket server = keep(new Socket(redis.getHost(), redis.getPort()))) {
            InputStream commands = new BufferedInputStream(client.getInputStream());
            InputStream replies = new BufferedInputStream(server.getInputStream());
            boolean mute = false;
            while (true) {
                List<Object> words = new ArrayList<>((List<?>) Resp.read(commands));
                String name = text(words.get(0)).toLowerCase(Locale.ROOT);
                mute |= silent && name.equals("eval");
                if (mute) {
                    continue;
                }
                if (prelude == null && (name.startsWith("eval") || name.equals("script"))) {
                    client.getOutputStream().write(("-ERR unknown command '" + name + "'\r\n").getBytes(UTF_8));
                    continue;
                }
                server.getOutputStream().write(Resp.command(changed(name, words)));
                client.getOutputStream().write(read(replies));
            }
        }
    }

    /** Returns a command with the lines before its script. Digests remain those of the original scripts. */
    private List<Object> changed(String name, List<Object> words) {
        if (name.equals("eval")) {
            words.set(1, prelude + text(words.get(1)));
        } else if (name.equals("script") && text(words.get(1)).equalsIgnoreCase("load")) {
            for (Script script : List.of(Script.ACQUIRE, Script.REFUND)) {
                if (script.text().equals(text(words.get(2)))) {
                    scripts.put(script.digest(), prelude + script.text());
                }
            }
        } else if (name.equals("evalsha") && scripts.containsKey(text(words.get(1)))) {
            words.set(0, "EVAL");
            words.set(1, scripts.get(text(words.get(1))));
        }
        return words;
    }

    private static byte[] read(InputStream replies) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        copy(replies, bytes);
        return bytes.toByteArray();
    }

    /** Copies one reply. */
    private static void copy(InputStream in, ByteArrayOutputStream out) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c >= 0; c = in.read()) {
            line.write(c);
            if (c == '\n') {
                break;
            }
        }
        if (line.size() == 0) {
            throw new IOException("the connection is closed");
        }
        out.write(line.toByteArray());
        String text = line.toString(UTF_8).strip();
        if (text.charAt(0) == '$' && !text.equals("$-1")) {
            out.write(in.readNBytes(Integer.parseInt(text.substring(1)) + 2));
        } else if (text.charAt(0) == '*') {
            for (int i = 0; i < Integer.parseInt(text.substring(1)); i++) {
                copy(in, out);
            }
        }
    }

    private static String text(Object word) {
        return word instanceof byte[] bytes ? new String(bytes, UTF_8) : String.valueOf(word);
    }

    @Override
    public synchronized void close() {
        try {
            listener.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
