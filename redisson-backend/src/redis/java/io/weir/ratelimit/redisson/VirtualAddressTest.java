// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A failover behind one virtual address, whose open connections stay with the former master. */
@Tag("fault")
class VirtualAddressTest {
    @Test
    @Tag("field")
    void findsTheNewMasterAlthoughTheOldConnectionsSurvive() {
        try (RedisProcess first = RedisProcess.started();
                RedisProcess second = RedisProcess.started();
                VirtualAddress address = new VirtualAddress(first);
                RedisConnection former = first.connect();
                RedisConnection next = second.connect()) {
            RedissonBackend backend = new TestConfig(Map.of(
                            RedisSettings.ADDRESS,
                            "redis://127.0.0.1:" + address.port(),
                            "ratelimit.redis.deadline",
                            "1s",
                            "CircuitBreaker/enabled",
                            "true"))
                    .started();
            try {
                FaultCalls.awaitDecision(backend);
                address.lead(second);
                former.call("REPLICAOF", "127.0.0.1", second.port());
                assertThat(answer(backend)).contains("READONLY");
                Await.until(
                        "a call reaches the new master",
                        Duration.ofSeconds(30),
                        () -> answer(backend).equals("decided"));
                assertThat(next.keys("*k.moved*")).isNotEmpty();
            } finally {
                backend.close();
            }
        }
    }

    private static String answer(RedissonBackend backend) {
        try {
            backend.acquire(List.of(TestBackend.charge("k.moved", 1, FaultCalls.LIMIT)));
            return "decided";
        } catch (BackendException e) {
            return e.getMessage();
        }
    }

    /** A forwarder whose new connections lead to another server than the old ones. */
    private static final class VirtualAddress implements AutoCloseable {
        private final ServerSocket server;
        private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
        private volatile int target;

        VirtualAddress(RedisProcess first) {
            try {
                server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            target = first.port();
            start(this::accept);
        }

        int port() {
            return server.getLocalPort();
        }

        void lead(RedisProcess other) {
            target = other.port();
        }

        private static void start(Runnable task) {
            Thread thread = new Thread(task, "virtual-address");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            try {
                while (true) {
                    Socket caller = server.accept();
                    Socket redis = new Socket(InetAddress.getLoopbackAddress(), target);
                    sockets.addAll(List.of(caller, redis));
                    start(() -> copy(caller, redis));
                    start(() -> copy(redis, caller));
                }
            } catch (IOException e) {
                // The test has ended.
            }
        }

        private static void copy(Socket from, Socket to) {
            try (InputStream in = from.getInputStream();
                    OutputStream out = to.getOutputStream()) {
                in.transferTo(out);
            } catch (IOException e) {
                // One end has closed the connection, which closes the other end.
            }
        }

        @Override
        public void close() {
            try {
                server.close();
                for (Socket socket : sockets) {
                    socket.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
