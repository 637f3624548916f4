// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.interceptor.engine.StoreHealth;
import io.weir.ratelimit.interceptor.operate.Reading;
import io.weir.ratelimit.interceptor.policy.ReloadListener;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.interactions.Actions;

/** The page in a browser. */
class ConsoleBrowserTest {
    private static final Path PICTURES = Path.of("target/pictures");
    private static final PolicyLimits HELLO =
            new PolicyLimits("hello", List.of(Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofSeconds(10))));

    @TempDir
    static Path profile;

    private static Browser browser;
    private PageServer server;

    @BeforeAll
    static void startBrowser() {
        browser = Browser.start(profile);
    }

    @AfterAll
    static void endBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = PageServer.start();
        browser.complaints();
        browser.requested();
    }

    @AfterEach
    void stop() {
        // The page would go on to ask, and complain to the next test.
        browser.driver().get("about:blank");
        server.close();
    }

    private void open() {
        open(1440, 900);
    }

    private void open(int width, int height) {
        browser.open(server.at("/ratelimit"), width, height);
        browser.until("the state is shown", () -> browser.text("#freshness").startsWith("as of"));
    }

    private void assertQuiet() {
        assertThat(browser.complaints()).isEmpty();
        assertThat(browser.requested())
                .isNotEmpty()
                .allSatisfy(address -> assertThat(address.getAuthority()).isEqualTo("127.0.0.1:" + server.port()));
    }

    private void decide(long remaining, boolean refused) {
        Quota quota = new Quota("hello", "hello", 5, 5, Duration.ofSeconds(10), remaining, refused, 0, 0, 0);
        server.rates.decided(new DecisionEvent(
                "Hello.get",
                List.of(new Charge(HELLO, "i.1", 1)),
                refused ? new Decision.Rejected(List.of(quota)) : new Decision.Allowed(List.of(quota), Receipt.EMPTY),
                1));
    }

    private void click(String selector) {
        browser.run("document.querySelector(arguments[0]).click()", selector);
    }

    private static boolean fitsItsWidth() {
        return (Boolean) browser.run("return document.documentElement.scrollWidth <= window.innerWidth");
    }

    @Test
    void itShowsWhatTheInstanceTellsAndWhoseFiguresTheyAre() {
        open();
        assertThat(browser.driver().getCurrentUrl()).endsWith("/app/ratelimit/");
        assertThat(browser.text("header")).contains("Figures are those of this instance", "a reset are the store's");
        assertThat(browser.text("#state")).isEqualTo("up");
        assertThat(browser.text("#breaker")).isEqualTo("closed");
        assertThat(browser.text("#policies")).contains("hello", "plan", "enforce", "5/10s");
        assertThat(browser.text("#reading")).contains("all of it holds");
        assertQuiet();
    }

    @Test
    void figuresComeByThemselves() {
        open();
        assertThat(browser.text("#total-refusals")).isEqualTo("–");
        for (int i = 0; i < 30; i++) {
            decide(0, i % 3 == 0);
        }
        server.nanos.addAndGet(1_000_000_000);
        browser.until(
                "the refusal rate is a third",
                () -> browser.text("#total-refusals").equals("33.3 %"));
        assertThat(browser.text("#policies")).contains("3.0", "1.0", "33.3 %", "100.0 % / 100.0 %");
        assertThat(browser.text("#outcomes")).contains("allowed", "2.0", "20", "rejected", "10");
        server.operations.store = FakeOperations.report(StoreHealth.State.DEGRADED, true);
        browser.until("the breaker is open", () -> browser.text("#breaker").equals("open, next probe in 17 s"));
        assertThat(browser.text("#failure")).isEqualTo("timeout, 13 s ago");
        assertThat(browser.text("#degraded")).isEqualTo("4,711");
        server.nanos.addAndGet(61_000_000_000L);
        browser.until(
                "the minute is over", () -> browser.text("#total-refusals").equals("–"));
        assertQuiet();
    }

    @Test
    void aPolicyOpensAndShowsValuesSourcesAndTopKeys() {
        server.operations.top = new TopKeys(
                List.of(new TopKeys.Entry("i:ab12", 40, 42)),
                List.of(new TopKeys.Entry("i:cd34", 90, 90)),
                Duration.ofMinutes(5));
        open();
        click(".opener");
        assertThat(browser.text(".details"))
                .contains("ratelimit.policies.hello.limit", "application.properties", "HelloResource.hello")
                .contains("i:ab12", "40–42", "i:cd34", "90", "Most refused, last 5 min");
        click(".details button[aria-label='Look up i:ab12 under hello']");
        browser.until("the key is looked up", () -> browser.text("#result").contains("i:ab12"));
        assertThat(server.operations.done).containsExactly("peek hello i:ab12 ");
        assertQuiet();
    }

    @Test
    void theMostRefusedOfAllPoliciesAreSeenAtOnceAndLookedUpFromThere() {
        open();
        assertThat(browser.text("#refused")).isEqualTo("nobody");
        server.operations.top = new TopKeys(
                IntStream.rangeClosed(1, 8)
                        .mapToObj(i -> new TopKeys.Entry("i:" + i, 1_000 * i, 1_000 * i))
                        .toList(),
                List.of(),
                Duration.ofMinutes(5));
        browser.until(
                "ten keys are listed",
                () -> browser.run("return document.querySelectorAll('#refused tbody tr').length")
                        .equals(10L));
        assertThat(browser.text("#refused")).startsWith("Policy").contains("hello", "plan", "i:8", "8,000", "i:4");
        assertThat(browser.text("#refused tbody tr")).contains("i:8");
        assertThat(browser.text("#refused")).doesNotContain("i:3");
        click("#refused button[aria-label='Look up i:8 under plan']");
        browser.until("the key is looked up", () -> browser.text("#result").contains("i:8"));
        assertThat(server.operations.done).containsExactly("peek plan i:8 ");
        assertQuiet();
    }

    @Test
    void whatIsSelectedAndWhatIsTypedStaysWhenFiguresCome() {
        server.operations.top = refused("i:first");
        open();
        browser.until("the key is listed", () -> browser.text("#refused").contains("i:first"));
        browser.run("document.getSelection().selectAllChildren(document.querySelector('#refused code'))");
        browser.run("document.querySelector('#parts input').value = '203.0.113.7'");
        server.operations.top = refused("i:second");
        server.operations.policies.add(FakeOperations.policy("added", List.of(List.of("ip")), Map.of()));
        browser.until("an answer has come", () -> browser.text("#policies").contains("added"));
        assertThat(browser.text("#refused")).contains("i:first").doesNotContain("i:second");
        assertThat(browser.run("return document.getSelection().toString()")).isEqualTo("i:first");
        assertThat(browser.run("return document.querySelector('#parts input').value"))
                .isEqualTo("203.0.113.7");
        browser.run("document.getSelection().removeAllRanges()");
        browser.until("the list goes on", () -> browser.text("#refused").contains("i:second"));
        assertQuiet();
    }

    private static TopKeys refused(String key) {
        return new TopKeys(List.of(new TopKeys.Entry(key, 1, 1)), List.of(), Duration.ofMinutes(5));
    }

    @Test
    void aResetIsDoneAfterAQuestionOnly() {
        open();
        browser.run("document.querySelector('#parts input').value = '203.0.113.7'");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        assertThat(browser.text("#result")).contains("2", "7 s").doesNotContain("secret");
        click("#result .actions button");
        assertThat(browser.text("#result")).contains("Reset this key");
        click("#result .confirmation button:last-child");
        assertThat(browser.text("#result")).doesNotContain("Reset this key");
        assertThat(server.operations.done).noneMatch(what -> what.startsWith("reset"));
        click("#result .actions button");
        click("#result .danger");
        browser.until("it was reset", () -> browser.text("#result").contains("It was reset."));
        assertThat(server.operations.done)
                .containsExactly("peek hello 0203.0.113.7 ", "reset hello 0203.0.113.7", "peek hello 0203.0.113.7 ");
        assertQuiet();
    }

    private void name(String address) {
        browser.run("document.querySelector('#parts input').value = arguments[0]", address);
    }

    @Test
    void whatIsToldAfterAResetIsOfTheCallerThatWasReset() {
        open();
        name("203.0.113.7");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        name("203.0.113.8");
        click("#result .actions button");
        click("#result .danger");
        browser.until("it was reset", () -> browser.text("#result").contains("It was reset."));
        assertThat(server.operations.done)
                .containsExactly("peek hello 0203.0.113.7 ", "reset hello 0203.0.113.7", "peek hello 0203.0.113.7 ");
    }

    @Test
    void aResetIsToldAlsoWhereTheQuotaCannotBeAskedAfterIt() {
        open();
        name("203.0.113.7");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        click("#result .actions button");
        browser.run(
                "const real = window.fetch;"
                        + "window.fetch = (path, ...more) => path === 'peek' ? Promise.reject(new Error()) : real(path, ...more)");
        click("#result .danger");
        browser.until("it is told", () -> browser.text("#result").contains("cannot be reached"));
        assertThat(browser.text("#result")).startsWith("It was reset.");
    }

    @Test
    void whoWasLookedUpLastIsShownWhicheverAnswerComesLast() {
        open();
        browser.run("const real = window.fetch; window.late = [];"
                + "window.fetch = async (path, options) => {"
                + "  const answer = await real(path, options);"
                + "  if (path === 'peek' && options.body.includes('203.0.113.7')) await new Promise(go => window.late.push(go));"
                + "  return answer; }");
        name("203.0.113.7");
        click("#lookup button[type=submit]");
        browser.until(
                "the first answer is held",
                () -> browser.run("return window.late.length").equals(1L));
        name("203.0.113.8");
        click("#lookup button[type=submit]");
        browser.until("the second is shown", () -> browser.text("#result").contains("0203.0.113.8"));
        browser.run("window.late[0](); return new Promise(go => setTimeout(go))");
        assertThat(browser.text("#result")).contains("0203.0.113.8").doesNotContain("0203.0.113.7");
    }

    @Test
    void theKeyboardDoesIt() {
        open();
        assertThat(activeText()).isEmpty();
        type(Keys.TAB);
        assertThat(activeText()).isEqualTo("To the policies");
        type(Keys.TAB);
        assertThat(activeText()).isEqualTo("hello");
        type(Keys.ENTER);
        assertThat(browser.text(".details")).contains("Values and where they come from");
        browser.run("document.querySelector('#policy').focus()");
        type("plan", Keys.TAB, Keys.TAB, "198.51.100.1", Keys.TAB, "pre", Keys.TAB, Keys.ENTER);
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        type(Keys.TAB, Keys.ENTER);
        browser.until("it asks", () -> activeText().equals("Reset now"));
        type(Keys.ESCAPE);
        assertThat(activeText()).isEqualTo("Reset…");
        type(Keys.ENTER, Keys.ENTER);
        browser.until("it was reset", () -> browser.text("#result").contains("It was reset."));
        assertThat(server.operations.done)
                .containsExactly(
                        "peek plan 0198.51.100.1 premium",
                        "reset plan 0198.51.100.1",
                        "peek plan 0198.51.100.1 premium");
        assertQuiet();
    }

    private static String activeText() {
        return String.valueOf(browser.run(
                "return document.activeElement === document.body ? '' : document.activeElement.textContent"));
    }

    private static void type(CharSequence... keys) {
        Actions actions = new Actions(browser.driver());
        for (CharSequence key : keys) {
            actions.sendKeys(key);
        }
        actions.perform();
    }

    @Test
    void whateverOthersNamedIsShownAsText() {
        String hostile = "<img src=x onerror=alert(1)></td></script>\u202egnp.exe\"'`${1}";
        String large = "x".repeat(10_000);
        server.operations.policies.clear();
        server.operations.policies.add(FakeOperations.policy(
                hostile, List.of(List.of("header:" + hostile)), Map.of(hostile, List.of(hostile))));
        server.operations.policies.add(FakeOperations.policy(large, List.of(List.of("ip")), Map.of()));
        server.operations.policies.add(FakeOperations.policy("__proto__", List.of(List.of("ip")), Map.of()));
        server.operations.top = new TopKeys(
                List.of(new TopKeys.Entry(hostile, 1, 1)), List.of(new TopKeys.Entry(large, 1, 1)), Duration.ZERO);
        server.operations.reading = new Reading(
                Instant.EPOCH,
                ReloadListener.Result.INVALID,
                List.of(new ConfigurationProblem("WEIR-101", hostile, large, hostile, large)));
        for (int width : new int[] {1440, 360}) {
            open(width, 900);
            click(".opener");
            assertThat(browser.text("#policies")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.text("#problems")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.run("return document.images.length + document.scripts.length"))
                    .isEqualTo(1L);
            assertThat(fitsItsWidth()).isTrue();
        }
        assertThat(browser.driver().findElements(org.openqa.selenium.By.cssSelector("#policies > tbody")))
                .hasSize(3);
        browser.run("document.querySelector('#parts input').value = arguments[0]", hostile);
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        assertThat(browser.text("#result")).contains("<img src=x onerror=alert(1)>");
        assertQuiet();
    }

    @Test
    void anInstanceThatIsAwayIsToldPlainly() {
        open();
        int port = server.port();
        server.close();
        browser.until("it is told", () -> browser.text("#trouble").contains("cannot be reached"));
        assertThat(browser.text("#trouble")).contains("The figures are those of ");
        assertThat(browser.text("#freshness")).isEqualTo("not up to date");
        assertThat(browser.complaints())
                .allSatisfy(line -> assertThat(line).contains(":" + port + "/app/ratelimit/state"));
    }

    @Test
    void aStoreThatIsAwayIsToldWhereItWasAsked() {
        server.operations.failure = java.util.Optional.of(FakeOperations.away());
        open();
        browser.run("document.querySelector('#parts input').value = '203.0.113.7'");
        click("#lookup button[type=submit]");
        browser.until("it is told", () -> browser.text("#result").contains("The store does not answer: timeout"));
    }

    @Test
    void aTabThatNobodySeesAsksNothing() {
        open();
        browser.run("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});"
                + "document.dispatchEvent(new Event('visibilitychange'))");
        assertThat(browser.text("#freshness")).isEqualTo("paused");
        browser.requested();
        browser.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
        browser.until("it goes on", () -> browser.text("#freshness").startsWith("as of"));
        assertThat(browser.requested()).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1440, light", "1440, dark", "360, light", "360, dark"})
    void itFitsItsWidthAndCanBeReadInBothSchemes(int width, String scheme) throws Exception {
        browser.prefer(scheme);
        server.operations.reading = new Reading(
                Instant.EPOCH,
                ReloadListener.Result.INVALID,
                List.of(new ConfigurationProblem(
                        "WEIR-101", "ratelimit.policies.hello.limit", "5/10x", "this is no limit", "write 5/10s")));
        for (int i = 0; i < 50; i++) {
            decide(i % 5, i % 7 == 0);
            server.nanos.addAndGet(500_000_000);
        }
        open(width, 900);
        click(".opener");
        assertThat(fitsItsWidth()).isTrue();
        assertThat(lowestContrast()).isGreaterThanOrEqualTo(4.5);
        browser.picture(PICTURES.resolve("page-" + width + "-" + scheme + ".png"));
        assertQuiet();
        browser.prefer("light");
    }

    /** Of all texts with the ground behind them, by the formula of WCAG. */
    private static double lowestContrast() {
        return ((Number) browser.run("""
                        const parts = colour => colour.match(/[\\d.]+/g).map(Number);
                        const light = colour => {
                            const [r, g, b] = parts(colour).map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
                            return .2126 * r + .7152 * g + .0722 * b;
                        };
                        const ground = node => {
                            for (let at = node; at !== null; at = at.parentElement) {
                                const colour = getComputedStyle(at).backgroundColor;
                                if (parts(colour)[3] !== 0) return colour;
                            }
                            return 'rgb(255, 255, 255)';
                        };
                        let lowest = 21;
                        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                        while (texts.nextNode()) {
                            const node = texts.currentNode.parentElement;
                            if (texts.currentNode.data.trim() === '' || node.getClientRects().length === 0) continue;
                            const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
                            lowest = Math.min(lowest, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
                        }
                        return lowest;
                        """)).doubleValue();
    }
}
