// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weir.ratelimit.redisson.Await;
import io.weir.ratelimit.redisson.Required;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** Chromium without a window. A test that starts it is skipped where there is none, unless {@code browser} is required. */
public final class Browser implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Pattern REQUESTED = Pattern.compile(
            "\"method\":\"Network\\.requestWillBeSent\".*?\"request\":\\{.*?\"url\":\"([^\"]+)\"", Pattern.DOTALL);

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /**
     * Starts one, with a profile of its own.
     *
     * @param profile an empty folder
     * @return the browser
     */
    public static Browser start(Path profile) {
        Optional<File> chromium = onThePath("chromium");
        Optional<File> chromedriver = onThePath("chromedriver");
        boolean there = chromium.isPresent() && chromedriver.isPresent();
        assertThat(there || !Required.tool("browser"))
                .as("browser is required, and chromium or chromedriver is not on the path")
                .isTrue();
        assumeTrue(there, "neither chromium nor chromedriver may be missing from the path");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.orElseThrow());
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--lang=en-GB",
                "--user-data-dir=" + profile);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(chromedriver.orElseThrow())
                .usingAnyFreePort()
                .build();
        Browser browser = new Browser(new ChromeDriver(service, options));
        browser.driver.get("about:blank");
        browser.complaints();
        browser.requested();
        return browser;
    }

    private static Optional<File> onThePath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .map(folder -> new File(folder, program))
                .filter(File::canExecute)
                .findFirst();
    }

    /**
     * The driver.
     *
     * @return the driver
     */
    public ChromeDriver driver() {
        return driver;
    }

    /**
     * Opens a page with an area of this size.
     *
     * @param address the page
     * @param width pixels
     * @param height pixels
     */
    public void open(URI address, int width, int height) {
        resize(width, height);
        driver.get(address.toString());
    }

    /**
     * Gives the page this size, which a window has as its least.
     *
     * @param width pixels
     * @param height pixels
     */
    public void resize(int width, int height) {
        driver.manage().window().setSize(new Dimension(Math.max(width, 500), height));
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /**
     * Prefers a scheme of colours.
     *
     * @param scheme {@code dark} or {@code light}
     */
    public void prefer(String scheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /**
     * Waits until something holds, and fails if it takes long.
     *
     * @param what what is waited for, in words
     * @param holds whether it holds
     */
    public void until(String what, BooleanSupplier holds) {
        try {
            Await.until(what, PATIENCE, holds);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "; the page shows: " + text("body"), e);
        }
    }

    /**
     * The text of an element as it is shown.
     *
     * @param selector a selector of CSS
     * @return the text
     */
    public String text(String selector) {
        return String.valueOf(run("return document.querySelector(arguments[0])?.innerText ?? ''", selector));
    }

    /**
     * Runs a script in the page.
     *
     * @param script the script
     * @param arguments its arguments
     * @return what it returns
     */
    public Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /**
     * Takes a picture of the page as it is shown.
     *
     * @param file where to put it, a PNG
     */
    public void picture(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    /**
     * What the page has complained of since this was asked last: violations of its policy, errors of scripts, answers that are errors.
     *
     * @return messages
     */
    public List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    /**
     * The addresses that were asked for since this was asked last, but those of the browser itself.
     *
     * @return addresses
     */
    public List<URI> requested() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .flatMap(entry -> REQUESTED.matcher(entry.getMessage()).results())
                .map(found -> URI.create(found.group(1)))
                .filter(address -> !"chrome".equals(address.getScheme()))
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
