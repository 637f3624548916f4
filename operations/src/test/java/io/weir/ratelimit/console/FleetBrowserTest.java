// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.console.report.Current;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.console.report.StepCounts;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/** The fleet in a browser. */
@Tag("ci")
class FleetBrowserTest extends PageInBrowser {
    private SimulatedFleet fleet;

    /** Creates instances beside the one that serves the page. */
    private void others(int count) {
        fleet = new SimulatedFleet(count);
        // A step of the history is shown after its end.
        fleet.store.now = Instant.now().minusSeconds(60);
        server.operations.fleetStore = Optional.of(fleet.store);
        server.host = "host-0";
    }

    private static PolicyView hello(String limit, String source) {
        return FakeOperations.withLimit("hello", limit, source);
    }

    private void usual() {
        others(2);
        fleet.member(0).operations.policies.set(0, hello("9/10s", "/etc/override.properties"));
        fleet.member(1).operations.backend = FakeOperations.report(BackendHealth.State.DEGRADED, true);
        for (SimulatedFleet.Member member : fleet.members) {
            member.operations.top = new TopKeys(
                    List.of(new TopKeys.Entry("i.heavy", 40, 42, 1)),
                    List.of(new TopKeys.Entry("i.heavy", 90, 90, 1)),
                    List.of(new TopKeys.NearLimit("i.near", Duration.ofMinutes(62))),
                    Duration.ofMinutes(5));
            member.report();
            member.decide("hello", 30, 10);
        }
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
    }

    @Test
    void showsTheFleetAndItsDifferences() {
        usual();
        open(1440, 900);
        assertThat(browser.text("header"))
                .contains("all instances that report", "host-0/4711-3f2a", "it uses 1 as the number of instances");
        assertThat(browser.text("#reporting")).isEqualTo("3");
        assertThat(browser.text("#drifted")).isEqualTo("1");
        assertThat(browser.text("#degraded")).isEqualTo("1");
        assertThat(browser.text("#decided")).isEqualTo("8.0");
        assertThat(browser.text("#rejected-rate")).isEqualTo("2.0");
        assertThat(browser.text("#instances"))
                .contains(
                        "host-0/4711-3f2a (this instance)",
                        "host-1/4711-0001",
                        "host-2/4711-0002",
                        "differs",
                        "redisson, degraded");
        assertThat(browser.text("#differences"))
                .contains(
                        "host-1/4711-0001",
                        "hello",
                        "limit",
                        "9/10s (/etc/override.properties)",
                        "5/10s (application.properties)");
        assertThat(browser.text("#policies")).contains("differ", "agree");
        assertThat(browser.text("#rejected")).contains("i.heavy", "80–84", "2");
        assertThat(browser.text("#near")).contains("i.near", "1 h 2 min");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void showsTheShareOfEnforcedKeys() {
        server.operations.policies.set(0, FakeOperations.staged("hello", 10));
        open(1440, 900);
        assertThat(browser.text("#policies")).contains("shadow, 10 % enforced");
    }

    @Test
    void showsAVanishedInstance() {
        usual();
        open(1440, 900);
        assertThat(browser.text("#vanished")).isEqualTo("0");
        fleet.store.now = fleet.store.now.plusSeconds(20);
        server.nanos.addAndGet(20_000_000_000L);
        browser.until("the instances vanish", () -> browser.text("#vanished").equals("2"));
        assertThat(browser.text("#instances")).contains("vanished, 20 s ago");
        fleet.store.now = fleet.store.now.plusSeconds(60);
        server.nanos.addAndGet(60_000_000_000L);
        browser.until("they are removed", () -> browser.text("#vanished").equals("0"));
        assertThat(browser.text("#instances")).doesNotContain("host-1");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void doesNotKnowWhetherInstancesReportWhileTheStoreCannotBeRead() {
        usual();
        open(1440, 900);
        fleet.store.failure = Optional.of(new BackendException(Reason.TIMEOUT, "no answer", null));
        server.nanos.addAndGet(20_000_000_000L);
        browser.until("the number is unknown", () -> browser.text("#vanished").equals("unknown"));
        assertThat(browser.text("#instances")).contains("unknown, 20 s ago").doesNotContain("vanished");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void namesThePauseOfAClient() {
        server.operations.policies.set(0, FakeOperations.ofClient("hello", "partner"));
        server.operations.blocks.paused("hello", "i.paused", Duration.ofMinutes(5));
        open(1440, 900);
        browser.until("the pause is listed", () -> browser.text("#blocked").contains("pause of client partner"));
    }

    @Test
    void filtersPolicies() {
        server.operations.policies.add(FakeOperations.withLimit("other", "7/10s", "file"));
        open(1440, 900);
        browser.until("the policies are listed", () -> browser.text("#policies").contains("other"));
        browser.run("const field = document.getElementById('policy-filter'); field.value = ' OTH';"
                + " field.dispatchEvent(new Event('input'))");
        assertThat(browser.text("#policies")).contains("other").doesNotContain("hello");
    }

    @Test
    void buttonsSuitAPointerAndAFinger() {
        usual();
        open(390, 900);
        assertThat(lowestButton()).isGreaterThanOrEqualTo(24);
        browser.driver()
                .executeCdpCommand("Emulation.setTouchEmulationEnabled", Map.of("enabled", true, "maxTouchPoints", 1));
        open(390, 900);
        assertThat(lowestButton()).isGreaterThanOrEqualTo(44);
        assertThat(fitsItsWidth()).isTrue();
    }

    private double lowestButton() {
        return ((Number) browser.run("return Math.min(...[...document.querySelectorAll('button:not(.plain), .opener')]"
                        + ".filter(button => button.offsetParent !== null)"
                        + ".map(button => button.getBoundingClientRect().height))"))
                .doubleValue();
    }

    @Test
    void saysThatTheStoreCannotBeRead() {
        usual();
        open(1440, 900);
        fleet.store.failure = Optional.of(new BackendException(Reason.TIMEOUT, "no answer", null));
        server.nanos.addAndGet(3_000_000_000L);
        browser.until(
                "the problem is shown", () -> browser.text("#store-problem").contains("cannot be read (timeout)"));
        assertThat(browser.text("#instances")).contains("host-1");
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 50})
    void isUsableWithManyInstances(int size) {
        others(size - 1);
        fleet.reportAll();
        for (int width : new int[] {1440, 360}) {
            open(width, 900);
            assertThat(browser.text("#reporting")).isEqualTo(Integer.toString(size));
            assertThat(browser.run("return document.querySelectorAll('#instances > tbody').length"))
                    .isEqualTo((long) size);
            assertThat(fitsItsWidth()).isTrue();
        }
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void drawsTheLastHourWithAxesAndUnits() {
        usual();
        open(1440, 900);
        browser.until(
                "the chart is drawn",
                () -> browser.run("return document.querySelectorAll('#total-history polyline').length")
                        .equals(2L));
        assertThat(browser.run("return document.querySelector('#total-history svg').textContent")
                        .toString())
                .contains("calls per second", "time of day", ":00");
        assertThat(browser.run("return document.querySelector('#total-history svg').getAttribute('aria-label')")
                        .toString())
                .isEqualTo("All policies: at most 8 decisions and 2 rejections per second in the last hour");
        browser.run("document.querySelector('#policies .opener').click()");
        browser.until(
                "the chart of the policy is drawn",
                () -> browser.run("return document.querySelectorAll('#policies polyline').length")
                        .equals(2L));
        assertThat(browser.text("#policies .details")).contains("per second, in steps of 10 seconds");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void keepsTheChartWhileTheHistoryCannotBeRead() {
        usual();
        open(1440, 900);
        String points = "return [...document.querySelectorAll('#total-history polyline')]"
                + ".map(line => line.getAttribute('points')).join()";
        browser.until(
                "the chart is drawn", () -> !browser.run(points).toString().isEmpty());
        Object drawn = browser.run(points);
        assertThat(browser.text("#total-history")).doesNotContain("not available");
        fleet.store.failure = Optional.of(new BackendException(Reason.TIMEOUT, "no answer", null));
        browser.run("document.querySelector('#policies .opener').click()");
        passHistoryInterval();
        browser.until(
                "the problem is shown",
                () -> browser.text("#total-history").contains("The history is not available (timeout)."));
        assertThat(browser.run(points)).isEqualTo(drawn);
        assertThat(browser.text("#policies .details")).contains("The history is not available (timeout).");
        assertThat(browser.run("return document.querySelectorAll('#policies polyline').length"))
                .as("lines of a history that was never read")
                .isEqualTo(0L);
        fleet.store.failure = Optional.empty();
        server.nanos.addAndGet(3_000_000_000L);
        passHistoryInterval();
        browser.until(
                "the history is shown", () -> !browser.text("#total-history").contains("not available"));
        assertThat(browser.errors()).isEmpty();
    }

    /** Moves the clock of the page, which reads the history every ten seconds. */
    private static void passHistoryInterval() {
        browser.run("const now = Date.now; Date.now = () => now() + 11_000");
    }

    @Test
    void linksToTheConfiguredDashboardsOnly() {
        others(1);
        open(1440, 900);
        assertThat(browser.run("return document.querySelector('#dashboards').hidden"))
                .isEqualTo(true);
        server.operations.grafana = Optional.of("https://grafana.example.org/d/weir?x=1");
        browser.until(
                "the link is shown",
                () -> browser.run("return document.querySelector('#dashboards').hidden")
                        .equals(false));
        assertThat(browser.run("return document.querySelector('#grafana').href"))
                .isEqualTo("https://grafana.example.org/d/weir?x=1");
        assertThat(browser.run("return document.querySelector('#grafana').rel")).isEqualTo("noopener noreferrer");
    }

    @ParameterizedTest
    @CsvSource({"1440, light", "360, dark"})
    void blocksAndUnblocksAKeyWithTheKeyboard(int width, String scheme) throws Exception {
        browser.preferScheme(scheme);
        usual();
        fleet.member(0).operations.blocks.penalized("hello", "i.penalized", Duration.ofHours(2), 3);
        fleet.reportAll();
        open(width, 900);
        browser.until("the penalty is listed", () -> browser.text("#blocked").contains("penalty 3, 2 h"));
        assertThat(fitsItsWidth()).isTrue();
        browser.run("document.querySelector('#blocked-title').scrollIntoView()");
        browser.screenshot(SCREENSHOTS.resolve("blocked-" + width + "-" + scheme + ".png"));

        browser.run("document.querySelector(\"#rejected button[aria-label='Block i.heavy under hello']\").focus()");
        type(Keys.ENTER);
        browser.until(
                "the block is to be confirmed", () -> browser.text("#result").contains("Block this key under"));
        assertThat(browser.text("#result")).contains("Every instance then rejects its calls");
        assertThat(server.operations.calls).noneMatch(call -> call.startsWith("block"));
        type(Keys.ESCAPE);
        assertThat(browser.text("#result")).doesNotContain("Block this key under");
        type(Keys.ENTER);
        selectAll();
        type("soon", Keys.TAB, "ticket 12", Keys.ENTER);
        browser.until("the error is shown", () -> browser.text("#result").contains("is not a duration"));
        browser.run("document.querySelector('#result input').focus()");
        selectAll();
        type("30m", Keys.ENTER);
        browser.until("the key is blocked", () -> browser.text("#result").contains("The key was blocked."));
        assertThat(fitsItsWidth()).isTrue();
        assertThat(server.operations.calls).contains("block hello i.heavy PT30M");
        assertThat(browser.text("#result")).contains("The key is blocked for 30 min");
        browser.until("the block is listed", () -> browser.text("#blocked").contains("i.heavy"));
        assertThat(browser.text("#blocked")).contains("operator", "i.penalized");

        click("#blocked button[aria-label='Unblock i.heavy under hello']");
        browser.until(
                "the end is to be confirmed", () -> browser.text("#result").contains("Unblock this key under"));
        browser.screenshot(SCREENSHOTS.resolve("unblock-" + width + "-" + scheme + ".png"));
        type("a mistake", Keys.ENTER);
        browser.until("the key is unblocked", () -> browser.text("#result").contains("The key was unblocked."));
        assertThat(server.operations.calls).contains("unblock hello i.heavy");
        browser.until("the block is not listed", () -> !browser.text("#blocked").contains("i.heavy"));
        assertThat(browser.text("#blocked")).contains("i.penalized");
        browser.preferScheme("light");
    }

    @Test
    void showsRunningCalls() {
        usual();
        server.operations.running.put("hello", 3);
        fleet.member(0).operations.running.put("hello", 4);
        fleet.member(0).report();
        open(1440, 900);
        browser.until("the sum is shown", () -> browser.text("#running").equals("7"));
        assertThat(browser.text("#policies")).contains("7");
        browser.run("document.querySelectorAll('#instances .opener').forEach(opener => opener.click())");
        assertThat(browser.text("#instances")).contains("Running calls, hello");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void showsHostileReportsAsText() {
        others(1);
        String hostile = "<img src=x onerror=alert(1)></td></script>\u202egnp.exe\"'`${1}";
        SimulatedFleet.Member member = fleet.member(0);
        InstanceReport report = new InstanceReport(
                new InstanceReport.Origin(hostile, hostile, hostile, hostile, hostile, Instant.EPOCH),
                member.operations.backend,
                new InstanceReport.Configuration(1, 2, Instant.EPOCH, hostile, 3),
                List.of(),
                List.of(
                        new InstanceReport.PolicyValues(
                                "hello", List.of(new InstanceReport.Value(hostile, hostile, hostile))),
                        new InstanceReport.PolicyValues(hostile, List.of())),
                List.of(new InstanceReport.PolicyKeys(
                        hostile,
                        new TopKeys(
                                List.of(new TopKeys.Entry("<img/src=x>", 5, 5, 1)),
                                List.of(),
                                List.of(new TopKeys.NearLimit("<img/src=x>", Duration.ofMinutes(1))),
                                Duration.ZERO),
                        0,
                        0,
                        InstanceReport.Minute.NONE)),
                new Current(
                        List.of(new Current.RunningCalls(hostile, 7)),
                        List.of(new KnownBlocks.Block(
                                hostile,
                                "<img/src=x>",
                                KnownBlocks.Cause.PENALTY,
                                Duration.ofHours(1),
                                Duration.ZERO,
                                1,
                                Duration.ofHours(1)))));
        fleet.store.reports.put(
                "evil", new FakeFleetStore.Stored(fleet.store.now, Optional.of(ReportCodec.write(report))));
        fleet.store.reports.put(
                "garbage",
                new FakeFleetStore.Stored(fleet.store.now, Optional.of("garbage".getBytes(StandardCharsets.UTF_8))));
        for (int width : new int[] {1440, 360}) {
            open(width, 900);
            browser.run("document.querySelectorAll('#instances .opener').forEach(opener => opener.click())");
            assertThat(browser.text("#instances")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.text("#differences")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.text("#rejected")).contains("<img/src=x>");
            assertThat(browser.text("#blocked")).contains("<img/src=x>", "<img src=x onerror=alert(1)>", "penalty 1");
            assertThat(browser.text("#store-problem")).startsWith("1 values in the store are no reports");
            assertThat(browser.run("return document.images.length + document.scripts.length"))
                    .isEqualTo(1L);
            assertThat(fitsItsWidth()).isTrue();
        }
        assertThat(browser.errors()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1440, light", "360, dark"})
    void takesPictures(int width, String scheme) throws Exception {
        browser.preferScheme(scheme);
        usual();
        for (int i = 1; i < 360; i++) {
            StepCounts step = new StepCounts();
            long decided = Math.round(400 + 300 * Math.sin(i / 25.0));
            step.add(StepCounts.ALL, new StepCounts.Counts(decided, Math.max(0, decided - 550)));
            fleet.store.steps.put(fleet.store.now.getEpochSecond() / 10 - i, step);
        }
        open(width, 900);
        browser.until(
                "the chart is drawn",
                () -> browser.run("return document.querySelectorAll('#total-history polyline').length")
                        .equals(2L));
        assertThat(fitsItsWidth()).isTrue();
        browser.screenshot(SCREENSHOTS.resolve("fleet-" + width + "-" + scheme + ".png"));
        browser.run("document.querySelector('#decisions-title').scrollIntoView()");
        browser.screenshot(SCREENSHOTS.resolve("fleet-chart-" + width + "-" + scheme + ".png"));
        browser.preferScheme("light");
    }

    /** Returns the cells and buttons that are beyond the right edge of the window, or that an operator must scroll to. */
    static List<?> outOfView(Browser browser, String selector) {
        return (List<?>) browser.run(
                "const isOut = node => node.getBoundingClientRect().right > window.innerWidth;"
                        + "const scrolls = list => list !== null && list.scrollWidth > list.clientWidth;"
                        + "return [...document.querySelectorAll(arguments[0])]"
                        + ".filter(node => isOut(node) || scrolls(node.closest('.wide'))).map(node => node.textContent)",
                selector);
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void eachCellAndButtonIsInViewOnANarrowScreen(String scheme) throws Exception {
        browser.preferScheme(scheme);
        usual();
        open(360, 800);
        browser.until("the keys are shown", () -> browser.text("#rejected").contains("i.heavy"));
        assertThat(browser.run("return document.querySelectorAll('#rejected button, #differences td').length"))
                .isNotEqualTo(0L);
        assertThat(outOfView(
                        browser,
                        "#rejected td, #rejected button, #near button, #differences td, #differences th[scope=row]"))
                .isEmpty();
        for (String section : List.of("differences", "rejected")) {
            browser.run("document.querySelector(arguments[0]).scrollIntoView()", "#" + section + "-title");
            browser.screenshot(SCREENSHOTS.resolve(section + "-360-" + scheme + ".png"));
        }
        browser.preferScheme("light");
    }

    @ParameterizedTest
    @ValueSource(ints = {920, 1280})
    void noWordOfAHeadOrAStateIsBroken(int width) {
        usual();
        server.version = "0.1.0-SNAPSHOT";
        open(width, 900);
        assertThat((List<?>) browser.run("const broken = [];"
                        + "for (const cell of document.querySelectorAll('.rows > thead th, .rows > tbody > tr > td > span')) {"
                        + "  for (const word of cell.textContent.matchAll(/[^\\s-]+/g)) {"
                        + "    const range = document.createRange();"
                        + "    range.setStart(cell.firstChild, word.index);"
                        + "    range.setEnd(cell.firstChild, word.index + word[0].length);"
                        + "    if (range.getClientRects().length > 1) broken.push(word[0]);"
                        + "  }"
                        + "}"
                        + "return broken"))
                .isEmpty();
        assertThat(fitsItsWidth()).isTrue();
    }
}
