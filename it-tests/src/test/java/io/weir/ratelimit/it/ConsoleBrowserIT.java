// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.Browser;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console of the example in a browser under load. Creates the screenshots of the documentation. */
@Tag("server")
@Tag("ci")
class ConsoleBrowserIT {
    private static final String NAMESPACE = "it-" + UUID.randomUUID();
    private static final Path SCREENSHOTS = Path.of("target/screenshots");
    private static final List<String> PATHS = List.of(
            "api/hello",
            "api/search?q=we",
            "api/bursty",
            "api/orgs/acme/teams/sales/users/ann/orders",
            "api/plans/me",
            "api/report",
            "api/hello");

    private final RedisFixture redis = RedisFixture.shared();

    @TempDir
    Path profile;

    @AfterEach
    void dropKeys() {
        try (RedisConnection connection = redis.connect()) {
            connection.drop("weir:2:{" + NAMESPACE + ":*");
            connection.drop("weir:1:fleet:{" + NAMESPACE + "}:*");
        }
    }

    @Test
    void findsAndResetsARejectedCaller() throws Exception {
        try (Browser browser = Browser.start(profile);
                Server server = LibertyServer.named("console")
                        .systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", "2s")
                        .systemProperty("ratelimit.namespace", NAMESPACE)
                        .systemProperty("ratelimit.trusted-proxies", "127.0.0.0/8")
                        .systemProperty("ratelimit.policies.hello.limit", "5/1h")
                        .start()) {
            call(server, 40);
            browser.open(server.baseUri().resolve("ratelimit"), 1440, 880);
            call(server, 260);
            browser.until(
                    "rejections are shown",
                    () -> browser.text("#rejected-share").endsWith(" %"));
            assertThat(browser.text("#instances")).contains("redisson, up");
            open(browser, "hello");
            assertThat(browser.text(".details:not([hidden])"))
                    .contains("Most rejected", "Most active", "ratelimit.policies.hello.limit", "5/1h")
                    .doesNotContain("203.0.113.");
            browser.screenshot(SCREENSHOTS.resolve("console.png"));
            browser.run("document.querySelector('.details:not([hidden]) button').click()");
            browser.until(
                    "the most rejected caller is shown",
                    () -> browser.text("#result").contains("5 per 1 h"));
            browser.run("document.querySelector('#result .actions button').click()");
            browser.run("document.querySelector('#lookup').scrollIntoView()");
            browser.resize(1000, 420);
            browser.run("document.querySelector('#lookup-title').scrollIntoView()");
            browser.screenshot(SCREENSHOTS.resolve("console-caller.png"));
            browser.run("document.querySelector('#result .danger').click()");
            browser.until("the caller is reset", () -> browser.text("#result").contains("The key was reset."));
            assertThat(browser.text("#result")).contains("untouched");
            assertThat(server.messages()).contains("WEIR-502 Key i.~");
            browser.preferScheme("dark");
            browser.resize(360, 900);
            browser.run("scrollTo(0, 0)");
            assertThat(browser.run("return document.documentElement.scrollWidth <= innerWidth"))
                    .isEqualTo(true);
            browser.screenshot(SCREENSHOTS.resolve("console-narrow-dark.png"));
            assertThat(browser.errors()).isEmpty();
            assertThat(browser.requests())
                    .isNotEmpty()
                    .allSatisfy(address -> assertThat(address.getAuthority())
                            .isEqualTo(server.baseUri().getAuthority()));
        }
    }

    private static void open(Browser browser, String policy) {
        browser.run(
                "[...document.querySelectorAll('.opener')].find(it => it.textContent === arguments[0]).click()",
                policy);
        browser.until(
                "keys are shown", () -> browser.text(".details:not([hidden])").contains("~"));
    }

    /** Sends requests from several addresses with different frequencies. */
    private static void call(Server server, int times) {
        for (int i = 0; i < times; i++) {
            String address = "203.0.113." + (1 + Math.min(i % 7, i % 4));
            Http.get(server.baseUri().resolve(PATHS.get(i % PATHS.size())), "X-Forwarded-For", address);
            LockSupport.parkNanos(20_000_000L + 1_000_000L * (i % 30));
        }
    }
}
