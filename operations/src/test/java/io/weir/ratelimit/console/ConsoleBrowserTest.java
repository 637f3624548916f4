// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

/** The page in a browser. */
@Tag("ci")
class ConsoleBrowserTest extends PageInBrowser {
    private static final PolicyLimits HELLO =
            new PolicyLimits("hello", List.of(Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofSeconds(10))));

    private void open() {
        open(1440, 900);
    }

    private void assertNoErrorsAndNoExternalRequests() {
        assertThat(browser.errors()).isEmpty();
        assertThat(browser.requests())
                .isNotEmpty()
                .allSatisfy(address -> assertThat(address.getAuthority()).isEqualTo("127.0.0.1:" + server.port()));
    }

    private void decide(long remaining, boolean rejected) {
        Quota quota = TestQuota.of("hello", "hello", 5, 5, Duration.ofSeconds(10), remaining, rejected, 0, 0, 0);
        server.rates.decided(new DecisionEvent(
                "Hello.get",
                List.of(new Charge(HELLO, "i.1", 1)),
                rejected
                        ? new Decision.Rejected(Results.of(quota))
                        : new Decision.Allowed(Results.of(quota), Receipt.EMPTY),
                1));
    }

    /** Makes the policy one that has decided, since only those have top keys. */
    private void decideOnce() {
        decide(4, false);
        server.nanos.addAndGet(1_000_000_000);
    }

    @Test
    void showsTheStateOfTheInstance() {
        open();
        assertThat(browser.driver().getCurrentUrl()).endsWith("/app/ratelimit/");
        assertThat(browser.text("header"))
                .contains("The figures are those of this instance only", "a reset apply to the backend");
        assertThat(browser.text("#instances"))
                .contains("host-1/4711-3f2a (this instance)", "redisson, up", "closed", "1.0");
        assertThat(browser.text("#reporting")).isEqualTo("1");
        assertThat(browser.text("#policies")).contains("hello", "plan", "enforce", "5/10s");
        assertThat(browser.text("#reload")).contains("all values apply");
        assertNoErrorsAndNoExternalRequests();
    }

    @Test
    void refreshesItself() {
        open();
        assertThat(browser.text("#rejected-share")).isEqualTo("–");
        for (int i = 0; i < 30; i++) {
            decide(0, i % 3 == 0);
        }
        server.nanos.addAndGet(1_000_000_000);
        browser.until(
                "the rejected share is a third",
                () -> browser.text("#rejected-share").equals("33.3 %"));
        assertThat(browser.text("#policies")).contains("3.0", "1.0", "33.3 %", "100.0 % / 100.0 %");
        assertThat(browser.text("#outcomes")).contains("allowed", "2.0", "20", "rejected", "10");
        server.operations.backend = FakeOperations.report(BackendHealth.State.DEGRADED, true);
        browser.until("the breaker is open", () -> browser.text("#instances").contains("open, next probe in 17 s"));
        click("#instances .opener");
        assertThat(browser.text("#instances")).contains("timeout, 13 s ago", "4,711", "test server 1");
        assertThat(browser.text("#degraded")).isEqualTo("1");
        server.nanos.addAndGet(61_000_000_000L);
        browser.until(
                "the minute is over", () -> browser.text("#rejected-share").equals("–"));
        assertNoErrorsAndNoExternalRequests();
    }

    @Test
    void expandsAPolicy() {
        decideOnce();
        server.operations.top = new TopKeys(
                List.of(new TopKeys.Entry("i:ab12", 40, 42, 1)),
                List.of(new TopKeys.Entry("i:cd34", 90, 90, 0.953)),
                List.of(new TopKeys.NearLimit("i:ef56", Duration.ofMinutes(62))),
                Duration.ofMinutes(5));
        open();
        click("#policies .opener");
        assertThat(browser.text("#policies .details"))
                .contains("ratelimit.policies.hello.limit", "application.properties", "HelloResource.hello")
                .contains("i:ab12", "40–42", "i:cd34", "90", "Most rejected, last 5 min")
                .contains("Highest use", "100.0 %", "95.3 %")
                .contains("Near the limit", "i:ef56", "1 h 2 min");
        click("#policies .details button[aria-label='Look up i:ef56 under hello']");
        browser.until(
                "the key near its limit is looked up",
                () -> browser.text("#result").contains("i:ef56"));
        server.operations.calls.clear();
        click("#policies .details button[aria-label='Look up i:ab12 under hello']");
        browser.until("the key is looked up", () -> browser.text("#result").contains("i:ab12"));
        assertThat(server.operations.calls).containsExactly("peek hello i:ab12 ");
        assertNoErrorsAndNoExternalRequests();
    }

    @Test
    void listsAndLooksUpTheMostRejectedKeys() {
        open();
        assertThat(browser.text("#rejected")).isEqualTo("none");
        decideOnce();
        server.operations.top = new TopKeys(
                IntStream.rangeClosed(1, 12)
                        .mapToObj(i -> new TopKeys.Entry("i:" + i, 1_000 * i, 1_000 * i, 1))
                        .toList(),
                List.of(),
                List.of(),
                Duration.ofMinutes(5));
        browser.until(
                "ten keys are listed",
                () -> browser.run("return document.querySelectorAll('#rejected tbody tr').length")
                        .equals(10L));
        assertThat(browser.text("#rejected")).startsWith("Policy").contains("hello", "i:12", "12,000", "i:3");
        assertThat(browser.text("#rejected tbody tr")).contains("i:12");
        assertThat(browser.text("#rejected")).doesNotContain("i:2\n");
        click("#rejected button[aria-label='Look up i:12 under hello']");
        browser.until("the key is looked up", () -> browser.text("#result").contains("i:12"));
        assertThat(server.operations.calls).containsExactly("peek hello i:12 ");
        assertNoErrorsAndNoExternalRequests();
    }

    @Test
    void refreshKeepsSelectionAndInput() {
        decideOnce();
        server.operations.top = rejected("i:first");
        open();
        browser.until("the key is listed", () -> browser.text("#rejected").contains("i:first"));
        browser.run("document.getSelection().selectAllChildren(document.querySelector('#rejected code'))");
        browser.run("document.querySelector('#values input').value = '203.0.113.7'");
        server.operations.top = rejected("i:second");
        server.operations.policies.add(FakeOperations.policy("added", List.of(List.of("ip")), Map.of()));
        browser.until(
                "the next response is shown", () -> browser.text("#policies").contains("added"));
        assertThat(browser.text("#rejected")).contains("i:first").doesNotContain("i:second");
        assertThat(browser.run("return document.getSelection().toString()")).isEqualTo("i:first");
        assertThat(browser.run("return document.querySelector('#values input').value"))
                .isEqualTo("203.0.113.7");
        browser.run("document.getSelection().removeAllRanges()");
        browser.until("the list is updated", () -> browser.text("#rejected").contains("i:second"));
        assertNoErrorsAndNoExternalRequests();
    }

    private static TopKeys rejected(String key) {
        List<TopKeys.Entry> entries = List.of(new TopKeys.Entry(key, 1, 1, 1));
        return new TopKeys(entries, entries, List.of(), Duration.ofMinutes(5));
    }

    @Test
    void resetRequiresAConfirmation() {
        open();
        browser.run("document.querySelector('#values input').value = '203.0.113.7'");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        assertThat(browser.text("#result")).contains("2", "7 s").doesNotContain("secret");
        click("#result .actions button");
        assertThat(browser.text("#result")).contains("Reset this key");
        click("#result .confirmation button:last-child");
        assertThat(browser.text("#result")).doesNotContain("Reset this key");
        assertThat(server.operations.calls).noneMatch(call -> call.startsWith("reset"));
        click("#result .actions button");
        click("#result .danger");
        browser.until("the key is reset", () -> browser.text("#result").contains("The key was reset."));
        assertThat(server.operations.calls)
                .containsExactly("peek hello 0203.0.113.7 ", "reset hello 0203.0.113.7", "peek hello 0203.0.113.7 ");
        assertNoErrorsAndNoExternalRequests();
    }

    private void enter(String address) {
        browser.run("document.querySelector('#values input').value = arguments[0]", address);
    }

    @Test
    void resultAfterAResetIsThatOfTheSameCaller() {
        open();
        enter("203.0.113.7");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        enter("203.0.113.8");
        click("#result .actions button");
        click("#result .danger");
        browser.until("the key is reset", () -> browser.text("#result").contains("The key was reset."));
        assertThat(server.operations.calls)
                .containsExactly("peek hello 0203.0.113.7 ", "reset hello 0203.0.113.7", "peek hello 0203.0.113.7 ");
    }

    @Test
    void reportsAResetWithoutAQuota() {
        open();
        enter("203.0.113.7");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        click("#result .actions button");
        browser.run(
                "const real = window.fetch;"
                        + "window.fetch = (path, ...more) => path.endsWith('/peek') ? Promise.reject(new Error()) : real(path, ...more)");
        click("#result .danger");
        browser.until("the error is shown", () -> browser.text("#result").contains("is unreachable"));
        assertThat(browser.text("#result")).startsWith("The key was reset.");
    }

    @Test
    void showsOnlyTheLatestLookUp() {
        open();
        browser.run("const real = window.fetch; window.late = [];"
                + "window.fetch = async (path, options) => {"
                + "  const answer = await real(path, options);"
                + "  if (path.endsWith('/peek') && options.body.includes('203.0.113.7')) await new Promise(go => window.late.push(go));"
                + "  return answer; }");
        enter("203.0.113.7");
        click("#lookup button[type=submit]");
        browser.until(
                "the first response is held",
                () -> browser.run("return window.late.length").equals(1L));
        enter("203.0.113.8");
        click("#lookup button[type=submit]");
        browser.until("the second is shown", () -> browser.text("#result").contains("0203.0.113.8"));
        browser.run("window.late[0](); return new Promise(go => setTimeout(go))");
        assertThat(browser.text("#result")).contains("0203.0.113.8").doesNotContain("0203.0.113.7");
    }

    @Test
    void supportsTheKeyboard() {
        open();
        assertThat(activeText()).isEmpty();
        type(Keys.TAB);
        assertThat(activeText()).isEqualTo("Skip to the policies");
        type(Keys.TAB);
        assertThat(activeText()).isEqualTo("host-1/4711-3f2a (this instance)");
        type(Keys.ENTER);
        assertThat(browser.text("#instances .details")).contains("test server 1");
        type(Keys.TAB);
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("policy-filter");
        type(Keys.TAB);
        assertThat(activeText()).isEqualTo("hello");
        type(Keys.ENTER);
        assertThat(browser.text("#policies .details")).contains("Values and sources");
        browser.run("document.querySelector('#policy').focus()");
        type("plan", Keys.TAB, Keys.TAB, "198.51.100.1", Keys.TAB, "pre", Keys.TAB, Keys.ENTER);
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        type(Keys.TAB, Keys.ENTER);
        browser.until("the confirmation is shown", () -> activeText().equals("Reset now"));
        type(Keys.ESCAPE);
        assertThat(activeText()).isEqualTo("Reset…");
        type(Keys.ENTER, Keys.ENTER);
        browser.until("the key is reset", () -> browser.text("#result").contains("The key was reset."));
        assertThat(server.operations.calls)
                .containsExactly(
                        "peek plan 0198.51.100.1 premium",
                        "reset plan 0198.51.100.1",
                        "peek plan 0198.51.100.1 premium");
        assertNoErrorsAndNoExternalRequests();
    }

    private static String activeText() {
        return String.valueOf(browser.run(
                "return document.activeElement === document.body ? '' : document.activeElement.textContent"));
    }

    @Test
    void showsForeignDataAsText() {
        String hostile = "<img src=x onerror=alert(1)></td></script>\u202egnp.exe\"'`${1}";
        String large = "x".repeat(10_000);
        server.host = hostile;
        server.operations.policies.clear();
        server.operations.policies.add(FakeOperations.policy(
                hostile, List.of(List.of("header:" + hostile)), Map.of(hostile, List.of(hostile))));
        server.operations.policies.add(FakeOperations.policy(large, List.of(List.of("ip")), Map.of()));
        server.operations.policies.add(FakeOperations.policy("__proto__", List.of(List.of("ip")), Map.of()));
        server.operations.top = new TopKeys(
                List.of(new TopKeys.Entry(hostile, 1, 1, 1)),
                List.of(new TopKeys.Entry(large, 1, 1, 1)),
                List.of(new TopKeys.NearLimit(large, Duration.ofDays(9_999))),
                Duration.ZERO);
        server.operations.reload = new Reading(
                Instant.EPOCH,
                ReloadListener.Result.INVALID,
                List.of(new ConfigurationProblem("WEIR-101", hostile, large, hostile, large)));
        for (int width : new int[] {1440, 360}) {
            open(width, 900);
            click("#policies .opener");
            click("#instances .opener");
            assertThat(browser.text("#policies")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.text("#instances")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.text("header")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.text("#problems")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.run("return document.images.length + document.scripts.length"))
                    .isEqualTo(1L);
            assertThat(fitsItsWidth()).isTrue();
        }
        assertThat(browser.driver().findElements(org.openqa.selenium.By.cssSelector("#policies > tbody")))
                .hasSize(3);
        browser.run("document.querySelector('#values input').value = arguments[0]", hostile);
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        assertThat(browser.text("#result")).contains("<img src=x onerror=alert(1)>");
        assertNoErrorsAndNoExternalRequests();
    }

    @Test
    void reportsAnUnreachableInstance() {
        open();
        int port = server.port();
        server.close();
        browser.until("the error is shown", () -> browser.text("#error").contains("is unreachable"));
        assertThat(browser.text("#error")).contains("The figures are those of ");
        assertThat(browser.text("#freshness")).isEqualTo("outdated");
        // The browser loads the icon after the page, so its request can also fail.
        assertThat(browser.errors())
                .allSatisfy(
                        line -> assertThat(line).containsPattern(":" + port + "/app/ratelimit/(?:api/v1/|icon\\.svg)"));
    }

    @Test
    void reportsAnUnavailableBackendOfALookUp() {
        server.operations.failure = java.util.Optional.of(FakeOperations.unavailable());
        open();
        browser.run("document.querySelector('#values input').value = '203.0.113.7'");
        click("#lookup button[type=submit]");
        browser.until(
                "the error is shown", () -> browser.text("#result").contains("The backend is unavailable: timeout"));
    }

    @Test
    void hiddenTabSendsNoRequests() {
        open();
        browser.run("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});"
                + "document.dispatchEvent(new Event('visibilitychange'))");
        assertThat(browser.text("#freshness")).isEqualTo("paused");
        browser.requests();
        browser.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
        browser.until("the page is refreshed", () -> browser.text("#freshness").startsWith("as of"));
        assertThat(browser.requests()).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1440, light", "1440, dark", "360, light", "360, dark"})
    void fitsItsWidthAndHasContrastInBothSchemes(int width, String scheme) throws Exception {
        browser.preferScheme(scheme);
        server.operations.reload = new Reading(
                Instant.EPOCH,
                ReloadListener.Result.INVALID,
                List.of(new ConfigurationProblem(
                        "WEIR-101", "ratelimit.policies.hello.limit", "5/10x", "this is not a limit", "write 5/10s")));
        for (int i = 0; i < 50; i++) {
            decide(i % 5, i % 7 == 0);
            server.nanos.addAndGet(500_000_000);
        }
        open(width, 900);
        click("#policies .opener");
        assertThat(fitsItsWidth()).isTrue();
        assertThat(lowestContrast(browser)).isGreaterThanOrEqualTo(4.5);
        browser.screenshot(SCREENSHOTS.resolve("page-" + width + "-" + scheme + ".png"));
        assertNoErrorsAndNoExternalRequests();
        browser.preferScheme("light");
    }

    /** Returns the lowest contrast of all texts with their background, by the formula of WCAG 2. */
    static double lowestContrast(Browser browser) {
        return ((Number) browser.run("""
                        const parts = color => color.match(/[\\d.]+/g).map(Number);
                        const light = color => {
                            const [r, g, b] = parts(color).map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
                            return .2126 * r + .7152 * g + .0722 * b;
                        };
                        const background = node => {
                            for (let at = node; at !== null; at = at.parentElement) {
                                const color = getComputedStyle(at).backgroundColor;
                                if (parts(color)[3] !== 0) return color;
                            }
                            return 'rgb(255, 255, 255)';
                        };
                        let lowest = 21;
                        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                        while (texts.nextNode()) {
                            const node = texts.currentNode.parentElement;
                            if (texts.currentNode.data.trim() === '' || node.getClientRects().length === 0) continue;
                            const [a, b] = [light(getComputedStyle(node).color), light(background(node))];
                            lowest = Math.min(lowest, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
                        }
                        return lowest;
                        """)).doubleValue();
    }
}
