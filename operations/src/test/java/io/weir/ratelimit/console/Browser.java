// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RequiredTools;
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

/** A headless Chromium. If it is missing, a test that starts it is skipped, unless {@code browser} is a required tool. */
public final class Browser implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Pattern REQUEST_URL = Pattern.compile(
            "\"method\":\"Network\\.requestWillBeSent\".*?\"request\":\\{.*?\"url\":\"([^\"]+)\"", Pattern.DOTALL);

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /**
     * Starts a browser with a new profile.
     *
     * @param profile an empty folder
     * @return the browser
     */
    public static Browser start(Path profile) {
        Optional<File> chromium = findOnPath("chromium");
        Optional<File> chromedriver = findOnPath("chromedriver");
        boolean available = chromium.isPresent() && chromedriver.isPresent();
        assertThat(available || !RequiredTools.contains("browser"))
                .as("browser is required, but chromium or chromedriver is not on the path")
                .isTrue();
        assumeTrue(available, "chromium and chromedriver are required on the path");
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
        browser.errors();
        browser.requests();
        return browser;
    }

    private static Optional<File> findOnPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .map(folder -> new File(folder, program))
                .filter(File::canExecute)
                .findFirst();
    }

    /**
     * Returns the driver.
     *
     * @return the driver
     */
    public ChromeDriver driver() {
        return driver;
    }

    /**
     * Opens a page with a viewport of a given size.
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
     * Resizes the viewport, which can be smaller than the smallest window.
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
     * Sets the preferred color scheme.
     *
     * @param scheme {@code dark} or {@code light}
     */
    public void preferScheme(String scheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /**
     * Logs in at all pages that the browser opens from now on.
     *
     * @param field the name and the value of the header field of each request
     */
    public void logIn(String field) {
        String[] parts = field.split(": ", 2);
        driver.executeCdpCommand("Network.enable", Map.of());
        driver.executeCdpCommand("Network.setExtraHTTPHeaders", Map.of("headers", Map.of(parts[0], parts[1])));
    }

    /**
     * Waits until a condition is true, with a timeout.
     *
     * @param description the description of the condition
     * @param condition the condition
     */
    public void until(String description, BooleanSupplier condition) {
        try {
            Await.until(description, TIMEOUT, condition);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "; the page shows: " + text("body"), e);
        }
    }

    /**
     * Returns the visible text of an element.
     *
     * @param selector a CSS selector
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
     * @return the result of the script
     */
    public Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /**
     * Takes a screenshot of the page.
     *
     * @param file the PNG file to write
     */
    public void screenshot(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    /**
     * Returns the errors since the last call: violations of the content security policy, script errors and error responses.
     *
     * @return the messages
     */
    public List<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    /**
     * Returns the addresses of requests since the last call, without data and those of the browser itself.
     *
     * @return the addresses
     */
    public List<URI> requests() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .flatMap(entry -> REQUEST_URL.matcher(entry.getMessage()).results())
                .map(found -> found.group(1))
                .filter(address -> !address.startsWith("data:") && !address.startsWith("chrome:"))
                .map(URI::create)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
