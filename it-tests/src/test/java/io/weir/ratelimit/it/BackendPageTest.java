// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The backend of the page about backends passes the contract, as the page runs it. */
class BackendPageTest {
    @TempDir
    private Path temp;

    private URLClassLoader loader;

    @BeforeEach
    void compile() throws Exception {
        List<Path> sources = HowToPage.of("write-a-backend").snippets("java").stream()
                .map(source -> write(HowToApplication.type(source), source))
                .toList();
        DocumentCompiler.compile(sources, temp);
        loader = new URLClassLoader(new URL[] {temp.toUri().toURL()}, getClass().getClassLoader());
    }

    private Path write(String type, String source) {
        try {
            return Files.writeString(temp.resolve(type + ".java"), source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterEach
    void close() throws Exception {
        loader.close();
    }

    /** The contract aborts the tests of other algorithms and of the optional parts that the backend does not have, and no others. */
    @Test
    void passesTheContract() throws Exception {
        TestExecutionSummary summary = run("FixedWindowBackendTest");
        assertThat(failures(summary)).isEmpty();
        assertThat(summary.getTestsSucceededCount()).isGreaterThan(180);
        assertThat(summary.getTestsAbortedCount()).isPositive();
    }

    @Test
    void passesThePartialRefundContract() throws Exception {
        TestExecutionSummary summary = run("FixedWindowPartialRefundTest");
        assertThat(failures(summary)).isEmpty();
        assertThat(summary.getTestsSucceededCount()).isGreaterThan(5);
    }

    private TestExecutionSummary run(String test) throws Exception {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(loader.loadClass(test)))
                                .build(),
                        listener);
        return listener.getSummary();
    }

    private static String failures(TestExecutionSummary summary) {
        return summary.getFailures().stream()
                .map(failure -> failure.getTestIdentifier().getDisplayName() + ": " + failure.getException())
                .collect(Collectors.joining("\n"));
    }

    @Test
    void anUnsupportedLimitFails() throws Exception {
        RateLimitBackend backend = (RateLimitBackend) loader.loadClass("FixedWindowBackend")
                .getConstructor(TimeSource.class)
                .newInstance((TimeSource) () -> 1_000_000_000L);
        PolicyLimits log = new PolicyLimits("log", List.of(Limit.of(Algorithm.SLIDING_LOG, 3, Duration.ofSeconds(10))));
        assertThatThrownBy(() -> backend.acquire(List.of(new Charge(log, "ann", 1))))
                .isInstanceOf(BackendException.class);
    }
}
