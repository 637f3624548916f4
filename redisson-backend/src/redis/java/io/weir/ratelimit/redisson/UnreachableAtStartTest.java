// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestAuthority;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.redisson.client.RedisSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The warning after a start without Redis, and the failures of calls, name the servers and the cause. */
@Tag("ci")
@Tag("fault")
class UnreachableAtStartTest {
    private static final String SECRET = "wr0ng-secret";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Map<String, String> expected = new LinkedHashMap<>();

    /** Adds a case: an address, and the end of the messages about it. */
    private void expect(String address, String servers, String detail) {
        expected.put(address, servers + detail);
    }

    @Test
    void namesTheServersAndTheCause() {
        try (TestFolder folder = TestFolder.create();
                RedisProcess plain = RedisProcess.started();
                RedisProcess secured = RedisProcess.started("--requirepass", "the-r1ght-secret");
                FaultProxy tls = FaultProxy.inFrontOf(
                        plain, TestAuthority.create(folder.path(), "some").serverFor("ip:127.0.0.1"))) {
            String closed = RedisProcess.notStarted().address();
            String closedToo = RedisProcess.notStarted().address();
            String unknown = "redis://no-such-host.invalid:6379";
            expect(closed, closed, " yet: connection refused");
            expect(closed + "," + closedToo, closed + ", " + closedToo, " yet: connection refused");
            expect(unknown, unknown, " yet: the host is unknown");
            expect(
                    "redis://127.0.0.1:" + tls.port(),
                    "redis://127.0.0.1:" + tls.port(),
                    " yet: the server uses TLS; its address must begin with rediss://");
            String withTls = plain.address().replace("redis:", "rediss:");
            expect(
                    withTls,
                    withTls,
                    " yet: the server did not answer; if it does not use TLS, the address must begin with redis://");
            expect(secured.address(), secured.address(), " answered NOAUTH, a password is required");
            expect(
                    secured.address(SECRET),
                    secured.address(),
                    " answered WRONGPASS, the user or the password is wrong");
            expect(
                    plain.address() + "," + plain.address(),
                    plain.address() + ", " + plain.address(),
                    " answered ERR, the server is not a node of a cluster");
            assertReported();
        }
    }

    /** Starts a backend for each case, since all of them need seconds to report what they cannot reach. */
    private void assertReported() {
        Map<String, RedissonBackend> backends = new LinkedHashMap<>();
        try (LogCapture log = new LogCapture()) {
            try {
                expected.forEach((address, detail) -> backends.put(
                        address,
                        new TestConfig(Map.of(RedisSettings.ADDRESS, address))
                                .withDeadline(FaultCalls.DEADLINE)
                                .started()));
                Await.until(
                        "a warning of each backend",
                        TIMEOUT,
                        () -> warnings(log).size() >= expected.size());
                expected.forEach(
                        (address, detail) -> assertFails(Objects.requireNonNull(backends.get(address)), detail));
            } finally {
                backends.values().forEach(RedissonBackend::close);
            }
            assertThat(warnings(log))
                    .hasSameSizeAs(expected.keySet())
                    .allMatch(warning -> warning.startsWith("WARNING WEIR-319 "));
            expected.forEach((address, detail) -> assertThat(warnings(log))
                    // The name service may need longer than the warning waits.
                    .filteredOn(warning ->
                            warning.contains(address.contains(".invalid") ? address : " at " + detail + ". "))
                    .as("the warning about " + address)
                    .hasSize(1));
            assertThat(log.lines()).noneMatch(line -> line.contains(SECRET));
        }
    }

    private static void assertFails(RedissonBackend backend, String detail) {
        Await.until(
                "a failure that ends with " + detail,
                TIMEOUT,
                () -> FaultCalls.failure(backend).getMessage().endsWith(" at " + detail));
        assertThat(FaultCalls.asyncFailure(backend)).hasMessageEndingWith(" at " + detail);
    }

    private static List<String> warnings(LogCapture log) {
        return log.lines().stream().filter(line -> line.startsWith("WARNING")).toList();
    }
}
