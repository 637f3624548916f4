// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The load script on a server that allows the first calls of each API key. */
class LoadScriptTest {
    private static final int LIMIT = 3;

    private static Tool wrk;

    @TempDir
    private Path folder;

    private final Map<String, Integer> calls = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;
    private int rejection = 429;
    private String retryAfter = "3600";

    @BeforeAll
    static void find() {
        wrk = Tool.named("wrk");
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            int call = calls.merge(exchange.getRequestHeaders().getFirst("X-API-Key"), 1, Integer::sum);
            if (call > LIMIT && retryAfter != null) {
                exchange.getResponseHeaders().set("Retry-After", retryAfter);
            }
            exchange.sendResponseHeaders(call > LIMIT ? rejection : 200, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void end() {
        server.stop(0);
        threads.shutdownNow();
    }

    private LoadScript run(int clients, String... options) {
        return LoadScript.run(wrk, clients, 1, uri(), options);
    }

    private URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    @Test
    void obeyingClientsWaitUntilTheRetryAfterHasPassed() {
        LoadScript report = run(2);
        assertThat(calls)
                .containsOnlyKeys("client-1", "client-2")
                .allSatisfy((key, number) -> assertThat(number).isLessThanOrEqualTo(LIMIT + 1));
        assertThat(report.clients()).as(report.text()).hasSize(2).allSatisfy(client -> {
            assertThat(client.allowed()).isEqualTo(Math.min(LIMIT, client.calls()));
            assertThat(client.rejected()).isLessThanOrEqualTo(1);
            assertThat(client.early()).isZero();
            assertThat(client.due()).isZero();
        });
        assertThat(report.text()).contains("calls without a response: 0");
    }

    @Test
    void otherClientsDoNotWait() {
        LoadScript report = run(2, "obey=no");
        assertThat(report.clients()).as(report.text()).hasSize(2).allSatisfy(client -> {
            assertThat(client.allowed()).isEqualTo(Math.min(LIMIT, client.calls()));
            assertThat(client.rejected()).isEqualTo(client.calls() - client.allowed());
            // The first rejection contains the first Retry-After.
            assertThat(client.early()).isEqualTo(Math.max(0, client.rejected() - 1));
            assertThat(client.earlyAllowed()).isZero();
        });
        assertThat(report.statuses().values().stream()
                        .mapToInt(Integer::intValue)
                        .sum())
                .isEqualTo(report.all().calls());
        assertThat(report.statuses().get(200)).isEqualTo(report.all().allowed());
    }

    @Test
    void callsAfterTheRetryAfterAreCounted() {
        retryAfter = "0";
        LoadScript.Client all = run(1).all();
        // Each rejection but the last one is followed by another call.
        assertThat(all.due()).isEqualTo(Math.max(0, all.rejected() - 1));
        assertThat(all.dueAllowed()).isZero();
        assertThat(all.early()).isZero();
    }

    @Test
    void rejectionWithoutRetryAfterIsReported() {
        retryAfter = null;
        LoadScript report = run(1);
        assertThat(report.text())
                .contains("rejections without Retry-After in seconds: "
                        + report.all().rejected());
    }

    @Test
    void unavailableWithoutRetryAfterIsAnotherResult() {
        rejection = 503;
        retryAfter = null;
        LoadScript.Client all = run(1, "obey=no").all();
        assertThat(all.other()).isEqualTo(all.calls() - all.allowed());
        assertThat(all.rejected()).isZero();
    }

    @Test
    void keysOfAFileAreDistributedOverThreads() throws IOException {
        Path keys = Files.writeString(folder.resolve("keys"), "a\nb\nc\nd\n");
        List<LoadScript.Client> clients =
                run(2, "clients=2", "keys=" + keys, "obey=no").clients();
        assertThat(calls).containsOnlyKeys("a", "b", "c", "d");
        assertThat(clients).extracting(LoadScript.Client::name).containsExactly("1", "2", "3", "4");
        // The clients of a thread call in turn.
        assertThat(clients.get(0).calls() - clients.get(1).calls()).isBetween(0, 1);
        assertThat(clients.get(2).calls() - clients.get(3).calls()).isBetween(0, 1);
    }

    @Test
    void rateBoundsTheCallsOfAThread() {
        // Without the rate, there are thousands of calls.
        assertThat(run(1, "obey=no", "rate=2").all().calls()).isLessThan(100);
    }

    @Test
    void missingKeyIsAnError() throws IOException {
        Path keys = Files.writeString(folder.resolve("keys"), "a\n");
        assertThatThrownBy(() -> run(2, "keys=" + keys))
                .hasMessageContaining("has no line 2, which is the API key of client 2");
    }

    @Test
    void unknownOptionIsAnError() {
        assertThatThrownBy(() -> run(1, "obeys=no")).hasMessageContaining("unknown option obeys=no");
    }

    @Test
    void severalConnectionsOfAThreadAreReported() {
        String script = OperationsFiles.LOAD_SCRIPT.toAbsolutePath().toString();
        assertThat(wrk.run(folder, "-t1", "-c4", "-d1s", "-s", script, uri().toString(), "--", "obey=no"))
                .contains("The results are wrong, because a thread had several connections");
    }
}
