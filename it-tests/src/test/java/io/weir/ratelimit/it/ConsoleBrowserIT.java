// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.Browser;
import io.weir.ratelimit.redisson.RedisProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The operators' page of the example in a browser, while clients call. Leaves the pictures that the documents show. */
class ConsoleBrowserIT {
    private static final Path PICTURES = Path.of("target/pictures");
    private static final List<String> PATHS = List.of(
            "api/hello",
            "api/search?q=we",
            "api/bursty",
            "api/orgs/acme/teams/sales/users/ann/orders",
            "api/plans/me",
            "api/report",
            "api/hello");

    @TempDir
    Path profile;

    @Test
    void anOperatorFindsWhoIsRefusedAndResetsThem() throws Exception {
        try (Browser browser = Browser.start(profile);
                RedisProcess redis = RedisProcess.started();
                Server server = LibertyServer.named("console")
                        .systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", "2s")
                        .systemProperty("ratelimit.namespace", "example")
                        .systemProperty("ratelimit.trusted-proxies", "127.0.0.0/8")
                        .systemProperty("ratelimit.policies.hello.limit", "5/1h")
                        .start()) {
            call(server, 40);
            browser.open(server.baseUri().resolve("ratelimit"), 1440, 880);
            call(server, 260);
            browser.until(
                    "refusals are shown", () -> browser.text("#total-refusals").endsWith(" %"));
            assertThat(browser.text("#state")).isEqualTo("up");
            assertThat(browser.text("#backend")).isEqualTo("redisson");
            open(browser, "hello");
            assertThat(browser.text(".details:not([hidden])"))
                    .contains("Most refused", "Most active", "ratelimit.policies.hello.limit", "5/1h")
                    .doesNotContain("203.0.113.");
            browser.picture(PICTURES.resolve("console.png"));
            browser.run("document.querySelector('.details:not([hidden]) button').click()");
            browser.until(
                    "the most refused caller is shown",
                    () -> browser.text("#result").contains("5 per 1 h"));
            browser.run("document.querySelector('#result .actions button').click()");
            browser.run("document.querySelector('#lookup').scrollIntoView()");
            browser.resize(1000, 420);
            browser.run("document.querySelector('#lookup-title').scrollIntoView()");
            browser.picture(PICTURES.resolve("console-caller.png"));
            browser.run("document.querySelector('#result .danger').click()");
            browser.until("the caller is reset", () -> browser.text("#result").contains("It was reset."));
            assertThat(browser.text("#result")).contains("untouched");
            assertThat(server.messages()).contains("WEIR-502 somebody who is not logged in reset the key i.~");
            browser.prefer("dark");
            browser.resize(360, 900);
            browser.run("scrollTo(0, 0)");
            assertThat(browser.run("return document.documentElement.scrollWidth <= innerWidth"))
                    .isEqualTo(true);
            browser.picture(PICTURES.resolve("console-narrow-dark.png"));
            assertThat(browser.complaints()).isEmpty();
            assertThat(browser.requested())
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

    /** Clients of several addresses, some of whom call more than others. */
    private static void call(Server server, int times) {
        for (int i = 0; i < times; i++) {
            String address = "203.0.113." + (1 + Math.min(i % 7, i % 4));
            Http.get(server.baseUri().resolve(PATHS.get(i % PATHS.size())), "X-Forwarded-For", address);
            LockSupport.parkNanos(20_000_000L + 1_000_000L * (i % 30));
        }
    }
}
