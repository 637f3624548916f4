// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.Browser;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.it.app.Users;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The tasks of the runbook on three instances of two kinds of server behind a load balancer, which sends each request of the page to another
 * instance. Takes a picture after each task.
 */
@Tag("server")
@Tag("ci")
class OperatorIT {
    private static final String NAMESPACE = "it-" + UUID.randomUUID();
    private static final Path PICTURES = Path.of("target/screenshots/operator");
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String POLICY = "PlainResource.get";
    private static final String PROPERTIES = String.join(
            "\n",
            "ratelimit.console.enabled=true",
            "ratelimit.console.role=user",
            "ratelimit.changes.enabled=true",
            "ratelimit.changes.role=changer",
            "ratelimit.key-secret=a secret of the test with 32 characters",
            "ratelimit.policies.\"" + POLICY + "\".limit=20/1h",
            "ratelimit.policies.\"" + POLICY + "\".key=header:X-Customer",
            "");

    @TempDir
    private static Path temp;

    private static RedisFixture redis;
    private static List<Server> servers = List.of();
    private static LoadBalancer balancer;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        browser = Browser.start(temp.resolve("profile"));
        redis = RedisFixture.shared();
        Path war = TestWar.written(
                TestWar.libraries("weir-operator.war")
                        .addPackage(TestWar.class.getPackageName() + ".plain")
                        .addClass(Users.class)
                        .addAsResource(new StringAsset(PROPERTIES), "META-INF/microprofile-config.properties")
                        .addAsWebInfResource(
                                new StringAsset("<beans xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\""
                                        + " bean-discovery-mode=\"all\"/>"),
                                "beans.xml")
                        .addAsWebInfResource(
                                new StringAsset(
                                        "<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"6.0\">"
                                                + "<security-role><role-name>user</role-name></security-role>"
                                                + "<security-role><role-name>changer</role-name></security-role></web-app>"),
                                "web.xml"),
                temp);
        List<CompletableFuture<Server>> starting = Stream.<ServerBuilder<?>>of(
                        LibertyServer.named("operator-a").withUsers(),
                        LibertyServer.named("operator-b").withUsers(),
                        PayaraServer.named("operator-c")
                                .systemProperty("ratelimit.policies.\"" + POLICY + "\".on-failure", "closed"))
                .map(server -> CompletableFuture.supplyAsync(() -> node(server, war)))
                .toList();
        servers = starting.stream().map(CompletableFuture::join).toList();
        balancer = LoadBalancer.before(servers.stream().map(Server::baseUri).toList());
    }

    private static Server node(ServerBuilder<?> server, Path war) {
        return server.war(war)
                .systemProperty("ratelimit.redis.address", redis.address())
                .systemProperty("ratelimit.redis.deadline", "2s")
                .systemProperty("ratelimit.namespace", NAMESPACE)
                .maxWait(Duration.ofMinutes(4))
                .startDeployed();
    }

    @AfterAll
    static void stop() {
        if (balancer != null) {
            balancer.close();
        }
        servers.forEach(Server::close);
        if (browser != null) {
            browser.close();
        }
        if (redis != null) {
            try (RedisConnection connection = redis.connect()) {
                connection.drop("weir:2:{" + NAMESPACE + ":*");
                connection.drop("weir:1:fleet:{" + NAMESPACE + "}:*");
                connection.drop("weir:1:changes:{" + NAMESPACE + "}:*");
            }
        }
    }

    // --- Calls of customers

    private static HttpResponse<String> call(Server server, String customer) {
        return Http.get(server.baseUri().resolve("api/plain"), "X-Customer", customer);
    }

    /** Sends calls through the load balancer. */
    private static String statuses(int calls, String customer) {
        return IntStream.range(0, calls)
                .mapToObj(
                        i -> Integer.toString(Http.get(balancer.baseUri().resolve("api/plain"), "X-Customer", customer)
                                .statusCode()))
                .distinct()
                .collect(Collectors.joining(" "));
    }

    /** Waits until all instances have applied a change, and prints the time. */
    private static void onAllInstances(String what, Predicate<Server> condition) {
        long start = System.nanoTime();
        for (Server server : servers) {
            Await.until(what + " on " + server.baseUri(), TIMEOUT, () -> condition.test(server));
        }
        print(what + " on all instances", start);
    }

    private static void print(String what, long start) {
        System.out.printf(
                "OperatorIT: %s after %d ms%n", what, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }

    // --- Tasks

    @FunctionalInterface
    private interface Task {
        void run() throws Exception;
    }

    private static void task(String name, String section, Task task) throws Exception {
        long start = System.nanoTime();
        task.run();
        print("task " + name, start);
        browser.run("document.querySelector(arguments[0]).scrollIntoView()", section);
        browser.screenshot(PICTURES.resolve(name + ".png"));
    }

    private static void click(String selector) {
        browser.until(
                "there is " + selector,
                () -> browser.run("return document.querySelector(arguments[0])", selector) != null);
        browser.run("document.querySelector(arguments[0]).click()", selector);
    }

    private static void enter(String name, String value) {
        browser.run(
                "const input = document.querySelector(`#change [name='${arguments[0]}']`);"
                        + "input.value = arguments[1]; input.dispatchEvent(new Event('change'))",
                name,
                value);
    }

    private static void apply(String reason) {
        enter("reason", reason);
        click("#change [type=submit]");
        browser.until(
                "the change is active", () -> browser.text("#active-changes").contains(reason));
    }

    /** Returns the key in a row of the most rejected keys. */
    private static String rejectedKey(int row) {
        return String.valueOf(browser.run(
                "return document.querySelectorAll('#rejected tbody tr code')[arguments[0]]?.textContent ?? ''", row));
    }

    private static String keyButton(String action, String key) {
        return "#rejected button[aria-label='" + action + " " + key + " under " + POLICY + "']";
    }

    @Test
    void anOperatorDoesTheTasksOfTheRunbook() throws Exception {
        assertThat(statuses(20, "small")).isEqualTo("200");
        assertThat(statuses(60, "second")).isEqualTo("200 429");
        assertThat(statuses(120, "heavy")).isEqualTo("200 429");
        browser.logIn("Authorization: " + ConsolePage.as("ann", "ann-password")[1]);
        browser.open(balancer.baseUri().resolve("ratelimit"), 1280, 1000);

        task(
                "1-drift",
                "#instances-title",
                () -> browser.until(
                        "the instance that differs is shown",
                        () -> browser.text("#reporting").equals("3")
                                && browser.text("#drifted").equals("1")
                                && browser.text("#differences").contains("on-failure")
                                && browser.run("return document.querySelector('#total-history polyline')") != null));
        assertThat(browser.text("#differences")).contains(POLICY, "closed", "open");

        task(
                "2-heaviest-rejected",
                "#rejected-title",
                () -> browser.until(
                        "two customers are rejected most", () -> !rejectedKey(1).isEmpty()));
        String heavy = rejectedKey(0);
        String second = rejectedKey(1);
        assertThat(heavy).startsWith("h.").isNotEqualTo(second);

        task("3-raise-a-limit-for-two-hours", "#changes-title", () -> {
            click(keyButton("Set the limit of", heavy));
            enter("limit", "1000/1h");
            enter("end", "2h");
            apply("ticket 4711");
        });
        assertThat(browser.text("#active-changes")).contains("1000/1h", "until ", "ann", heavy);
        onAllInstances("the raised limit", server -> call(server, "heavy").statusCode() == 200);
        assertThat(call(servers.get(0), "second").statusCode()).isEqualTo(429);

        task("4-tighten-a-policy", "#changes-title", () -> {
            click("#policies .opener");
            click("#policies button[aria-label='Change " + POLICY + "']");
            enter("limit", "5/1h");
            click("#change .actions button");
            browser.until("the preview is shown", () -> browser.text("#change").contains("would have hit 5/1h"));
            browser.screenshot(PICTURES.resolve("4-preview.png"));
            long start = System.nanoTime();
            apply("overload");
            browser.until(
                    "all instances have reported the change",
                    () -> browser.text("#drifted").equals("1"));
            print("the page without a wrong mark", start);
        });
        for (int i = 0; i < servers.size(); i++) {
            Server server = servers.get(i);
            onAllInstances("the lowered limit", each -> limitOf(each).equals("5"));
            String customer = "fresh" + i;
            assertThat(Http.statuses(6, server.baseUri().resolve("api/plain"), "X-Customer", customer))
                    .containsExactly(200, 200, 200, 200, 200, 429);
        }
        assertThat(call(servers.get(2), "heavy").statusCode()).isEqualTo(200);

        task("5-block-a-key", "#changes-title", () -> {
            click(keyButton("Block", second));
            apply("abuse");
        });
        onAllInstances("the block", server -> call(server, "second").body().contains("abnormal-usage-detected"));

        task("6-undo", "#changes-title", () -> undo(2, "overload"));
        onAllInstances("the former limit", server -> limitOf(server).equals("20"));
        undo(3, "abuse");
        onAllInstances(
                "the end of the block", server -> !call(server, "second").body().contains("abnormal-usage-detected"));

        assertThat(browser.errors()).isEmpty();
        assertThat(servers.stream().filter(server -> server.messages().contains("ticket 4711")))
                .as("instances with the audit line of the change")
                .hasSize(1);
    }

    private static void undo(int number, String reason) {
        click("#active-changes button[aria-label='Undo change " + number + "']");
        enter("reason", "solved");
        click("#change [type=submit]");
        browser.until(
                "the change is no longer active",
                () -> !browser.text("#active-changes").contains(reason));
    }

    @Test
    void aUserWithoutTheRoleOfChangesSeesThemOnly() {
        ConsolePage page = new ConsolePage(balancer.baseUri());
        String[] ben = ConsolePage.as("ben", "ben-password");
        String[] ann = ConsolePage.as("ann", "ann-password");
        for (int i = 0; i < servers.size(); i++) {
            assertThat(ConsolePage.json(page.get("api/v1/changes", ben)).getBoolean("mayChange"))
                    .isFalse();
            assertThat(ConsolePage.json(page.get("api/v1/changes", ann)).getBoolean("mayChange"))
                    .isTrue();
            String change = "{\"version\":\"\",\"kind\":\"policy\",\"policy\":\"" + POLICY
                    + "\",\"limit\":\"1/1h\",\"reason\":\"mine\"}";
            assertThat(page.post("api/v1/changes", change, ben).statusCode()).isEqualTo(403);
            assertThat(page.crossOriginPost("api/v1/changes", change, ann).statusCode())
                    .isEqualTo(403);
        }
    }

    /** Returns the limit that an instance reports for a new customer. */
    private static String limitOf(Server server) {
        return call(server, UUID.randomUUID().toString())
                .headers()
                .firstValue("RateLimit-Policy")
                .orElse("")
                .replaceAll(".*;q=([0-9]+).*", "$1");
    }
}
