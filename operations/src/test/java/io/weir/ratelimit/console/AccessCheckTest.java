// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.runtime.HttpResource.Answer;
import io.weir.ratelimit.runtime.HttpResource.Login;
import io.weir.ratelimit.runtime.HttpResource.Request;
import io.weir.ratelimit.spi.CallContext;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The limit of the logins of an address. */
class AccessCheckTest {
    private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);
    private final CallerQuotas.Logins logins = new CallerQuotas.Logins(
            call -> Identity.address(call.peerAddress().orElseThrow()),
            new IdentityEncoder(Optional.empty()),
            new LocalBackend(100, () -> TimeUnit.NANOSECONDS.toMicros(nanos.get())));
    private final AccessCheck check = new AccessCheck(new Audit(nanos::get), () -> logins);

    /** The check of credentials by the server. */
    @FunctionalInterface
    private interface Server {
        Login login() throws IOException;
    }

    /** A request with credentials, whose user gets no role. */
    private record Attempt(Server server) implements Request {
        @Override
        public CallContext caller() {
            return TestCall.fromAddress("203.0.113.7").withHeader("authorization", "Basic x");
        }

        @Override
        public boolean hasUser() {
            return false;
        }

        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String path() {
            return "";
        }

        @Override
        public byte[] body(int limit) {
            return new byte[0];
        }

        @Override
        public Login login() throws IOException {
            return server.login();
        }
    }

    private AccessCheck.Result attempt(Server server) throws IOException {
        return check.of(new Access(true, Optional.of("operator"), false), new Attempt(server));
    }

    private Answer answer(Server server) throws IOException {
        return attempt(server).answer().orElseThrow();
    }

    /** Makes logins at once, and returns the answer to a further one. */
    private Answer whileChecking(int number, Login result) throws IOException {
        Answer[] further = new Answer[1];
        attempt(() -> {
            further[0] = number == 1 ? answer(() -> Login.SUCCEEDED) : whileChecking(number - 1, result);
            return result;
        });
        return further[0];
    }

    @Test
    void aLoginWhileOthersAreCheckedWaitsForThemOnly() throws Exception {
        assertThat(whileChecking(5, Login.SUCCEEDED).status())
                .as("the sixth login at once; its user has no role")
                .isEqualTo(403);
        try (LogCapture log = new LogCapture()) {
            nanos.addAndGet(TimeUnit.MINUTES.toNanos(2));
            Answer seventh = whileChecking(6, Login.SUCCEEDED);
            assertThat(seventh.status()).isEqualTo(429);
            assertThat(seventh.headers()).containsEntry("Retry-After", "1");
            assertThat(seventh.body()).contains("are checked at once");
            assertThat(log.lines()).first().asString().contains("WEIR-503", "are checked at once");
        }
        assertThat(answer(() -> Login.SUCCEEDED).status())
                .as("all of them were accepted")
                .isEqualTo(403);
    }

    @Test
    void theWaitAfterRejectedLoginsIsRoundedUp() throws Exception {
        for (int guess = 0; guess < 6; guess++) {
            attempt(() -> Login.ANSWERED);
        }
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(500));
        Answer rejected = answer(() -> Login.SUCCEEDED);
        assertThat(rejected.headers()).containsEntry("Retry-After", "10");
        assertThat(rejected.body()).contains("Too many logins of this address were rejected.");
    }
}
