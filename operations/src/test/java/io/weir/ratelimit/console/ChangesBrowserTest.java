// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChange.Subject;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

/** Runtime changes in a browser. */
@Tag("ci")
class ChangesBrowserTest extends PageInBrowser {
    private FakeRuntimeChanges changes;

    @BeforeEach
    void enableChanges() {
        changes = new FakeRuntimeChanges(server.operations);
        server.operations.changes = Optional.of(changes);
        server.operations.access = new Access(true, Optional.of("operator"), false);
    }

    @Override
    PageServer newServer() throws Exception {
        return PageServer.withLogin();
    }

    private void open(String user, int width) {
        browser.logIn(PageClient.basic(user));
        open(width, 900);
    }

    private static void enter(String name, String value) {
        browser.run(
                "const input = document.querySelector(`#change [name='${arguments[0]}']`);"
                        + "input.value = arguments[1]; input.dispatchEvent(new Event('change'))",
                name,
                value);
    }

    private static void openPolicy() {
        click("#policies .opener");
        click("#policies button[aria-label='Change hello']");
    }

    private static boolean isOpen() {
        return (Boolean) browser.run("return document.querySelector('#change').open");
    }

    private RuntimeChange byBen(String limit) throws Exception {
        Subject subject = new Subject(Kind.POLICY, "hello", Optional.empty());
        return changes.make(
                new ChangeRequest(
                        subject, Map.of("limit", limit), Optional.of(Duration.ofHours(2)), "too much load", "ben"),
                changes.view().tag());
    }

    private void busy() {
        List<TopKeys.Entry> entries = List.of(new TopKeys.Entry("i.heavy", 400, 420, 1));
        server.operations.top = new TopKeys(entries, entries, List.of(), Duration.ofMinutes(5));
        decideOnce(server);
    }

    /** Makes the policy one that has decided, since only those have top keys. */
    static void decideOnce(PageServer server) {
        server.rates.bypassed(List.of(
                new PolicyLimits("hello", List.of(Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofSeconds(10))))));
        server.nanos.addAndGet(1_000_000_000);
    }

    @Test
    void changesAPolicyAndUndoesTheChange() {
        open("ann", 1440);
        assertThat(browser.text("#active-changes")).isEqualTo("No change is active.");
        openPolicy();
        assertThat(browser.run("return document.querySelector('#change [name=limit]').value"))
                .isEqualTo("5/10s");
        enter("limit", "3/10s");
        enter("end", "2h");
        enter("reason", "too much load");
        click("#change [type=submit]");
        browser.until(
                "the change is listed", () -> browser.text("#active-changes").contains("too much load"));
        assertThat(browser.text("#active-changes")).contains("hello", "limit 5/10s → 3/10s", "until ", "ann");
        assertThat(browser.text("#changes-done")).startsWith("Change 1 was made: hello, limit 5/10s → 3/10s");
        assertThat(isOpen()).isFalse();
        browser.until("the limit is shown", () -> browser.text("#policies").contains("3/10s"));
        assertThat(browser.text("#policies .details")).contains("runtime change 1 by ann, until ");
        RuntimeChange change = changes.active.get(0);
        assertThat(Duration.between(change.at(), change.until().orElseThrow())).isEqualTo(Duration.ofHours(2));
        click("#active-changes button");
        enter("reason", "over");
        click("#change [type=submit]");
        browser.until(
                "no change is active", () -> browser.text("#active-changes").startsWith("No change"));
        browser.until(
                "the former limit is shown", () -> browser.text("#policies").contains("5/10s"));
        browser.run("document.querySelector('#changes-log').open = true");
        browser.until("the log is shown", () -> browser.text("#log").contains("undoes change 1"));
        assertThat(browser.text("#log")).contains("too much load", "over");
        click("#log button[aria-label='Undo change 2']");
        assertThat(browser.text("#change")).contains("change 1 is made again");
        enter("reason", "not over");
        click("#change [type=submit]");
        browser.until(
                "the change is active again",
                () -> browser.text("#active-changes").contains("not over"));
        assertThat(browser.text("#active-changes")).contains("limit 5/10s → 3/10s (undoes change 2)", "until ");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void previewsAChangeWithAnEstimate() {
        busy();
        open("ann", 1440);
        openPolicy();
        enter("limit", "50/1m");
        click("#change .actions button");
        browser.until("the estimate is shown", () -> browser.text("#change").contains("1 key would have hit 50/1m"));
        assertThat(browser.text("#change"))
                .contains(
                        "5/10s",
                        "50/1m",
                        "i.heavy",
                        "400 in 5 min",
                        "300",
                        "at least 100 calls would have been rejected",
                        "counts of the busiest keys");
        enter("mode", "shadow");
        click("#change .actions button");
        browser.until("nobody is rejected", () -> browser.text("#change").contains("count calls and reject nobody"));
        enter("enforce-percent", "10");
        click("#change .actions button");
        browser.until(
                "a share is rejected", () -> browser.text("#change").contains("reject calls of 10 % of the keys"));
        assertThat(browser.text("#change")).doesNotContain("WEIR-015");
        enter("mode", "enforce");
        click("#change .actions button");
        browser.until(
                "the share has no effect",
                () -> browser.text("#change").contains("WEIR-015 enforce-percent has no effect"));
        assertThat(changes.log).isEmpty();
        enter("limit", "50/1x");
        click("#change .actions button");
        browser.until("the problem is shown", () -> browser.text("#change").contains("WEIR-111"));
        assertThat(browser.text("#change"))
                .contains("ratelimit.policies.hello.limit", "50/1x", "write <permits>/<duration>");
    }

    @Test
    void showsTheChangeOfAnotherOperatorAndAsksAgain() throws Exception {
        open("ann", 1440);
        openPolicy();
        enter("limit", "4/10s");
        enter("reason", "mine");
        byBen("3/10s");
        click("#change [type=submit]");
        browser.until("the conflict is shown", () -> browser.text("#change").contains("Nothing was changed"));
        assertThat(browser.text("#change")).contains("Change 1 by ben", "limit 5/10s → 3/10s", "too much load");
        assertThat(changes.active).hasSize(1);
        assertThat(browser.text("#change [type=submit]")).isEqualTo("Apply nevertheless");
        click("#change [type=submit]");
        browser.until(
                "both changes are listed", () -> browser.text("#active-changes").contains("mine"));
        assertThat(browser.text("#active-changes")).contains("limit 3/10s → 4/10s", "ben");
        assertThat(changes.active).hasSize(2);
    }

    /** Behind a load balancer, the policies and the changes can come from different instances. */
    @Test
    void theDialogHasTheValuesOfTheVersionThatItSends() throws Exception {
        byBen("3/10s");
        server.operations.policies.set(0, FakeOperations.policy("hello", List.of(List.of("ip")), Map.of()));
        open("ann", 1440);
        openPolicy();
        assertThat(browser.run("return document.querySelector('#change [name=limit]').value"))
                .isEqualTo("3/10s");
        assertThat(browser.text("#change")).contains("Active: change 1 by ben: limit 5/10s → 3/10s, until ");
    }

    @Test
    void setsTheLimitOfAKeyAndBlocksIt() {
        busy();
        open("ann", 1440);
        browser.until("the key is listed", () -> browser.text("#rejected").contains("i.heavy"));
        click("#rejected button[aria-label='Set the limit of i.heavy under hello']");
        enter("limit", "500/1m");
        enter("reason", "big customer");
        click("#change [type=submit]");
        browser.until(
                "the override is listed", () -> browser.text("#active-changes").contains("big customer"));
        assertThat(browser.text("#active-changes")).contains("i.heavy", "for this key: limit");
        click("#rejected button[aria-label='Set the limit of i.heavy under hello']");
        enter("concurrency", "5");
        enter("reason", "and fewer at once");
        click("#change [type=submit]");
        browser.until(
                "the second override is listed",
                () -> browser.text("#active-changes").contains("and fewer at once"));
        assertThat(changes.active.get(0).values()).isEqualTo(Map.of("limit", "500/1m", "concurrency", "5"));
        click("#rejected button[aria-label='Block i.heavy under hello']");
        enter("end", "");
        enter("reason", "abuse");
        click("#change [type=submit]");
        browser.until(
                "the block is listed", () -> browser.text("#active-changes").contains("abuse"));
        assertThat(browser.text("#active-changes")).contains("blocked", "no end");
        assertThat(changes.active)
                .extracting(change -> change.subject().kind())
                .containsExactly(Kind.BLOCK, Kind.OVERRIDE, Kind.OVERRIDE);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void givesAnActiveChangeAnotherEnd() throws Exception {
        byBen("3/10s");
        open("ann", 1440);
        openPolicy();
        enter("end", "1d");
        enter("reason", "longer");
        click("#change [type=submit]");
        browser.until(
                "the change is listed", () -> browser.text("#active-changes").contains("longer"));
        RuntimeChange change = changes.active.get(0);
        assertThat(change.values()).isEqualTo(Map.of("limit", "3/10s"));
        assertThat(Duration.between(change.at(), change.until().orElseThrow())).isEqualTo(Duration.ofDays(1));
    }

    @Test
    void blocksACallerThatWasLookedUp() {
        open("ann", 1440);
        browser.run("document.querySelector('#values input').value = '203.0.113.7'");
        click("#lookup button[type=submit]");
        browser.until("the quota is shown", () -> browser.text("#result").contains("5 per 10 s"));
        click("#result button[aria-label^='Block']");
        enter("reason", "abuse");
        click("#change [type=submit]");
        browser.until(
                "the block is listed", () -> browser.text("#active-changes").contains("0203.0.113.7"));
    }

    @Test
    void saysThatAPolicyInShadowModeRejectsNoCallOfABlockedKey() {
        busy();
        server.operations.policies.set(0, FakeOperations.staged("hello", 0));
        open("ann", 1440);
        browser.until("the key is shown", () -> browser.text("#rejected").contains("i.heavy"));
        click("#rejected button[aria-label='Block i.heavy under hello']");
        assertThat(browser.text("#change")).contains("if the policy is enforced for the key");
        click("#change .actions button");
        browser.until(
                "the preview is shown", () -> browser.text("#change").contains("it would reject no call of the key"));
        assertThat(browser.text("#change")).doesNotContain("which a block rejects");
    }

    @Test
    void supportsTheKeyboard() {
        open("ann", 1440);
        browser.run("document.querySelector('#policies .opener').focus()");
        type(Keys.ENTER, Keys.TAB, Keys.ENTER);
        browser.until("the dialog is open", ChangesBrowserTest::isOpen);
        type(Keys.ESCAPE);
        assertThat(isOpen()).isFalse();
        assertThat(browser.run("return document.activeElement.textContent")).isEqualTo("Change…");
        type(Keys.ENTER);
        selectAll();
        type("2/10s");
        type(Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, "by keyboard", Keys.ENTER);
        browser.until(
                "the change is listed", () -> browser.text("#active-changes").contains("by keyboard"));
        browser.run("document.querySelector('#active-changes button').focus()");
        type(Keys.ENTER, "undone by keyboard", Keys.ENTER);
        browser.until(
                "no change is active", () -> browser.text("#active-changes").startsWith("No change"));
        assertThat(changes.log).extracting(RuntimeChange::reason).containsExactly("undone by keyboard", "by keyboard");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void usersWithoutTheRoleSeeChangesAndNoButtons() throws Exception {
        busy();
        byBen("3/10s");
        open("operator", 1440);
        browser.until(
                "the change is shown", () -> browser.text("#active-changes").contains("too much load"));
        click("#policies .opener");
        assertThat(browser.text("#changes-note")).contains("you can see changes only");
        assertThat(browser.run("return [...document.querySelectorAll('button')].map(button => button.textContent)"
                        + ".filter(text => /Change…|Undo…|Set limit…|Block…/.test(text)).length"))
                .isEqualTo(0L);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void hidesTheSectionIfChangesAreNotEnabled() {
        server.operations.changes = Optional.empty();
        open("ann", 1440);
        assertThat(browser.run("return document.querySelector('#changes-section').hidden"))
                .isEqualTo(true);
        click("#policies .opener");
        assertThat(browser.text("#policies")).doesNotContain("Change…");
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void showsHostileChangesAsText() {
        String hostile = "<img src=x onerror=alert(1)></td></script>\u202egnp.exe\"'`${1}";
        RuntimeChange change = new RuntimeChange(
                1,
                new Subject(Kind.OVERRIDE, hostile, Optional.of(hostile)),
                Map.of(hostile, hostile, "limit", hostile),
                Map.of("limit", hostile),
                hostile,
                hostile,
                Instant.EPOCH,
                Optional.of(Instant.EPOCH),
                OptionalLong.empty());
        changes.active.add(change);
        changes.log.add(change);
        changes.problem = Optional.of(hostile);
        changes.withoutPolicy = List.of(1L);
        changes.notInForce = Map.of(1L, List.of(new ConfigurationProblem("WEIR-235", "a", "b", hostile, "remove it")));
        for (int width : new int[] {1440, 360}) {
            open("ann", width);
            browser.run("document.querySelector('#changes-log').open = true");
            browser.until("the log is shown", () -> browser.text("#log").contains("<img src=x onerror=alert(1)>"));
            assertThat(browser.text("#active-changes"))
                    .contains("<img src=x onerror=alert(1)>", "not in force: ", " (WEIR-235); remove it");
            assertThat(browser.text("#changes-problem")).contains("<img src=x onerror=alert(1)>");
            click("#active-changes button");
            assertThat(browser.text("#change")).contains("<img src=x onerror=alert(1)>");
            assertThat(browser.run("return document.images.length + document.scripts.length"))
                    .isEqualTo(1L);
            assertThat(fitsItsWidth()).isTrue();
        }
        assertThat(browser.errors()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1440, light", "360, light", "1440, dark", "360, dark"})
    void fitsItsWidthAndHasContrastInBothSchemes(int width, String scheme) throws Exception {
        browser.preferScheme(scheme);
        busy();
        byBen("3/10s");
        open("ann", width);
        click("#policies .opener");
        assertThat(fitsItsWidth()).isTrue();
        assertThat(ConsoleBrowserTest.lowestContrast(browser)).isGreaterThanOrEqualTo(4.5);
        browser.run("document.querySelector('#changes-title').scrollIntoView()");
        browser.screenshot(SCREENSHOTS.resolve("changes-" + width + "-" + scheme + ".png"));
        click("#policies button[aria-label='Change hello']");
        enter("limit", "50/1m");
        click("#change .actions button");
        browser.until("the estimate is shown", () -> browser.text("#change").contains("would have hit"));
        assertThat(fitsItsWidth()).isTrue();
        assertThat(browser.run("const box = document.querySelector('#change').getBoundingClientRect();"
                        + "return box.left >= 0 && box.right <= window.innerWidth"))
                .isEqualTo(true);
        assertThat(FleetBrowserTest.outOfView(browser, "#change td")).isEmpty();
        assertThat(browser.run("return [...document.querySelectorAll('#change .actions button')]"
                        + ".every(button => button.getBoundingClientRect().bottom <= window.innerHeight)"))
                .isEqualTo(true);
        assertThat(ConsoleBrowserTest.lowestContrast(browser)).isGreaterThanOrEqualTo(4.5);
        browser.screenshot(SCREENSHOTS.resolve("change-" + width + "-" + scheme + ".png"));
        assertThat(browser.errors()).isEmpty();
        browser.preferScheme("light");
    }
}
