// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Without the optional libraries on the class path, the engine runs without a container. */
@Timeout(60)
public class WithoutLibrariesTest {
    private static final Pattern OPTIONAL = Pattern.compile(
            "/(interceptor|redisson-backend)/target/|/(weld|smallrye|microprofile|redisson|testcontainers|jakarta\\.ws\\.rs)[^/]*$");

    /** Runs in the class loader without the libraries. Returns the failures, and the number of tests that pass. */
    public static String run(String type) throws ClassNotFoundException {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(Class.forName(type)))
                                .build(),
                        summary);
        StringWriter failures = new StringWriter();
        summary.getSummary().printFailuresTo(new PrintWriter(failures, true), 20);
        return failures + "passed: " + summary.getSummary().getTestsSucceededCount();
    }

    @Test
    void theEngineRuns() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
            assertThatExceptionOfType(ClassNotFoundException.class)
                    .isThrownBy(() -> loader.loadClass("io.weir.ratelimit.interceptor.cdi.RateLimitExtension"));
            Object result = ContextLoader.call(loader, () -> run(loader));
            assertThat(result).isEqualTo("passed: 12");
        }
    }

    private static Object run(ClassLoader loader) {
        try {
            return loader.loadClass(WithoutLibrariesTest.class.getName())
                    .getMethod("run", String.class)
                    .invoke(null, PlainWeirTest.class.getName());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static URL[] classPath() throws MalformedURLException {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<URL> urls = new ArrayList<>();
        for (String entry : all.split(File.pathSeparator)) {
            File file = new File(entry);
            String url = file.toURI().toString();
            if (file.exists() && !OPTIONAL.matcher(url).find()) {
                urls.add(file.toURI().toURL());
            }
        }
        return urls.toArray(URL[]::new);
    }
}
