// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.interactions.Actions;

/** A test of the page in a browser: one browser for all its methods, and a server for each of them. */
abstract class PageInBrowser {
    static final Path SCREENSHOTS = Path.of("target/screenshots");

    @TempDir
    static Path profile;

    static Browser browser;
    PageServer server;

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
    void startServer() throws Exception {
        server = newServer();
        browser.errors();
        browser.requests();
    }

    @AfterEach
    void stopServer() {
        // Otherwise the page would continue to send requests, and its errors would appear in the next test.
        browser.driver().get("about:blank");
        server.close();
    }

    PageServer newServer() throws Exception {
        return PageServer.start();
    }

    void open(int width, int height) {
        browser.open(server.at("/ratelimit"), width, height);
        browser.until("the state is shown", () -> browser.text("#freshness").startsWith("as of"));
    }

    static void click(String selector) {
        browser.run("document.querySelector(arguments[0]).click()", selector);
    }

    static void type(CharSequence... keys) {
        Actions actions = new Actions(browser.driver());
        for (CharSequence key : keys) {
            actions.sendKeys(key);
        }
        actions.perform();
    }

    /** Selects the text of the active field, so that the next keys replace it. */
    static void selectAll() {
        new Actions(browser.driver())
                .keyDown(Keys.CONTROL)
                .sendKeys("a")
                .keyUp(Keys.CONTROL)
                .perform();
    }

    static boolean fitsItsWidth() {
        return (Boolean) browser.run("return document.documentElement.scrollWidth <= window.innerWidth");
    }
}
