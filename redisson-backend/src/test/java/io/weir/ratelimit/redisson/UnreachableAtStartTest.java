// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestAuthority;
import io.weir.ratelimit.fixtures.TestFolder;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The warning after a start without Redis, and the failures of calls, name the servers and the cause. */
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
            expected.forEach(UnreachableAtStartTest::assertReported);
        }
    }

    private static void assertReported(String address, String detail) {
        try (LogCapture log = new LogCapture()) {
            RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, address)).started();
            try {
                Await.until(
                        "a warning about " + address,
                        TIMEOUT,
                        () -> !warnings(log).isEmpty());
                Await.until(
                        "a failure that ends with " + detail,
                        TIMEOUT,
                        () -> FaultCalls.failure(backend).getMessage().endsWith(" at " + detail));
                assertThat(FaultCalls.asyncFailure(backend)).hasMessageEndingWith(" at " + detail);
            } finally {
                backend.close();
            }
            assertThat(warnings(log)).singleElement().asString().startsWith("WARNING WEIR-319 ");
            // The name service may need longer than the warning waits.
            assertThat(warnings(log).get(0)).contains(address.contains(".invalid") ? address : " at " + detail + ". ");
            assertThat(log.lines()).noneMatch(line -> line.contains(SECRET));
        }
    }

    private static List<String> warnings(LogCapture log) {
        return log.lines().stream().filter(line -> line.startsWith("WARNING")).toList();
    }
}
