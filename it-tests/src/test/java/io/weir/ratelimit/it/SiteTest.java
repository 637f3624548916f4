// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.weir.ratelimit.console.Browser;
import io.weir.ratelimit.fixtures.RequiredTools;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The documentation site in a browser. It is skipped if the site is not built, unless {@code site} is a required tool. */
@Tag("ci")
class SiteTest {
    private static final Path SITE = Path.of("../site/.vitepress/dist");
    private static final Pattern LINK = Pattern.compile("<a [^>]*?href=\"(?![a-z]+:)([^\"#]*)(?:#([^\"]+))?\"");
    private static final Map<String, String> TYPES =
            Map.of("html", "text/html", "js", "text/javascript", "css", "text/css", "svg", "image/svg+xml");
    private static final String FITS = "return document.documentElement.scrollWidth <= innerWidth"
            + " && [...document.images].every(it => it.naturalWidth)";
    private static final String RESULTS =
            "return [...new Set([...document.querySelectorAll('.VPLocalSearchBox .result')]"
                    + ".map(it => new URL(it.href).pathname))]";
    private static final int FIRST_RESULTS = 3;

    @TempDir
    private static Path profile;

    private static HttpServer server;
    private static URI address;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        boolean built = Files.exists(SITE.resolve("index.html"));
        assertThat(built || !RequiredTools.contains("site"))
                .as("site is required, but it is not built")
                .isTrue();
        assumeTrue(built, "npm --prefix site run build is required");
        browser = Browser.start(profile);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", SiteTest::send);
        server.start();
        address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.stop(0);
        }
        if (browser != null) {
            browser.close();
        }
    }

    @Test
    void eachPageFitsANarrowScreen() throws IOException {
        List<Path> pages = pages();
        assertThat(pages).hasSizeGreaterThan(80);
        // The layout needs no script, and a page is faster without.
        scripts(false);
        browser.resize(390, 844);
        for (Path page : pages) {
            browser.driver()
                    .get(address.resolve(SITE.relativize(page).toString()).toString());
            browser.until(page + " fits", () -> Boolean.TRUE.equals(browser.run(FITS)));
        }
        scripts(true);
        assertNoErrorsAndNoRequestsElsewhere();
    }

    @Test
    void eachLinkHasAFileAndAnElementAsItsTarget() throws IOException {
        SoftAssertions all = new SoftAssertions();
        for (Path page : pages()) {
            LINK.matcher(Files.readString(page)).results().forEach(link -> {
                URI resolved = URI.create("/" + SITE.relativize(page)).resolve(link.group(1));
                Path target = link.group(1).isEmpty() ? page : file(resolved.getPath());
                all.assertThat(target).as("link in %s", page).isRegularFile();
                if (link.group(2) != null && Files.isRegularFile(target)) {
                    all.assertThat(DocumentedNamesTest.readPath(target))
                            .as("%s#%s, linked to by %s", target, link.group(2), page)
                            .contains("id=\"" + link.group(2) + "\"");
                }
            });
        }
        all.assertAll();
    }

    @Test
    void theNavigationHasEachPage() throws IOException {
        String home = Files.readString(SITE.resolve("index.html"));
        String navigation = home.substring(home.indexOf("<aside class=\"VPSidebar\""), home.indexOf("</aside>"));
        assertThat(LINK.matcher(navigation).results().map(link -> file(link.group(1))))
                .containsExactlyInAnyOrderElementsOf(pages().stream()
                        .filter(page -> !page.endsWith("index.html"))
                        .toList());
    }

    @Test
    void searchFindsThePageOfAQuestion() {
        browser.preferScheme("dark");
        browser.open(address, 1280, 900);
        browser.until("dark mode", () -> "dark".equals(browser.run("return document.documentElement.className")));
        Map.ofEntries(
                        entry("how do I sell plans", "sell-plans"),
                        entry("limit language model tokens", "limit-a-language-model"),
                        entry("what does a client do with a 429", "obey-a-429"),
                        entry("redis is down", "when-redis-is-away"),
                        entry("redis outage", "when-redis-is-away"),
                        entry("fail open or fail closed", "when-redis-is-away"),
                        entry("change a limit at run time", "change-limits-at-run-time"),
                        entry("a customer complains about a 429", "troubleshooting"),
                        entry("raise the limit for one customer right now", "change-limits-at-run-time"),
                        entry("how much latency does it add per request", "performance"),
                        entry("vip customers", "tiers-from-a-database"),
                        entry("whitelist an ip", "exempt-health-checks"),
                        entry("turn off rate limiting", "exempt-health-checks"),
                        entry("dry run", "shadow-mode"),
                        entry("behind a load balancer", "limit-by-address-behind-a-proxy"),
                        entry("all requests are rejected", "troubleshooting"),
                        entry("limit is not enforced", "troubleshooting"),
                        entry("why do I get 503 instead of 429", "troubleshooting"),
                        entry("who is being rejected", "find-top-keys"),
                        entry("how many requests are left for a user", "limit-from-code"),
                        entry("different limits per endpoint", "first-ten-properties"),
                        entry("requests per second and per day", "first-ten-properties"),
                        entry("customize the 429 error message", "replace-the-response"),
                        entry("which java version do I need", "compatibility"))
                .forEach((question, page) -> {
                    browser.run("sessionStorage.clear()"); // it has the last question
                    browser.open(address, 1280, 900);
                    browser.until(
                            "search",
                            () -> !browser.text(".VPNavBarSearch button").isEmpty());
                    browser.run("document.querySelector('.VPNavBarSearch button').click()");
                    browser.until(
                            question,
                            () -> Boolean.TRUE.equals(browser.run(
                                    "const input = document.querySelector('.search-input');"
                                            + "if (input && input.value !== arguments[0]) {"
                                            + "  input.value = arguments[0]; input.dispatchEvent(new Event('input'));"
                                            + "}"
                                            + "return document.querySelector('.VPLocalSearchBox .result') !== null",
                                    question)));
                    List<?> found = (List<?>) browser.run(RESULTS);
                    assertThat(found.subList(0, Math.min(FIRST_RESULTS, found.size())))
                            .as(question)
                            .anySatisfy(result -> assertThat(result).asString().endsWith("/" + page + ".html"));
                });
        assertNoErrorsAndNoRequestsElsewhere();
    }

    private static void scripts(boolean enabled) {
        browser.driver().executeCdpCommand("Emulation.setScriptExecutionDisabled", Map.of("value", !enabled));
    }

    private static void assertNoErrorsAndNoRequestsElsewhere() {
        assertThat(browser.errors()).isEmpty();
        assertThat(browser.requests())
                .isNotEmpty()
                .allSatisfy(request -> assertThat(request.getAuthority()).isEqualTo(address.getAuthority()));
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(SITE)) {
            return files.filter(file -> file.toString().endsWith(".html") && !file.endsWith("404.html"))
                    .sorted()
                    .toList();
        }
    }

    private static Path file(String path) {
        return SITE.resolve(path.substring(1) + (path.endsWith("/") ? "index.html" : ""));
    }

    private static void send(HttpExchange exchange) throws IOException {
        Path file = file(exchange.getRequestURI().getPath());
        String name = file.toString();
        boolean exists = Files.isRegularFile(file);
        byte[] body = exists ? Files.readAllBytes(file) : new byte[0];
        exchange.getResponseHeaders()
                .set(
                        "Content-Type",
                        TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "application/octet-stream"));
        if (exchange.getRequestURI().getPath().startsWith("/assets/")) {
            exchange.getResponseHeaders().set("Cache-Control", "max-age=3600");
        }
        exchange.sendResponseHeaders(exists ? 200 : 404, body.length == 0 ? -1 : body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
