// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.way;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.runtime.FakeHttpCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The types of Weir that take part in a limited request, recorded while it runs: from the gate to the response, with values, top keys and
 * logs. A change may lower the bounds, and not raise them.
 */
@Timeout(120)
class RequestWayTest {
    private static final int MOST_IN_PROCESS = 69;
    private static final int MOST_ON_REDIS = 87;

    /** A step after those of the filter. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| \\[(?!Filter)\\w+]\\(#\\w+\\) \\|(.*)\\|$");

    private static final Pattern TYPE = Pattern.compile("`([A-Z]\\w+)`");

    /** The types of the page that the host has in place of this test. */
    private static final Set<String> OF_THE_HOST = Set.of("RequestStates", "CurrentRequest");

    private static final Set<String> OF_THE_TEST =
            Set.of(LimitedRequest.class.getSimpleName(), FakeHttpCall.class.getSimpleName());

    @Test
    void aRequestInProcessNeedsFewTypes() throws ReflectiveOperationException {
        Set<String> types = types(Map.of("ratelimit.backend", "local"));
        assertThat(types.size()).as(types.toString()).isBetween(40, MOST_IN_PROCESS);
    }

    @Test
    @Tag("redis")
    void aRequestOnRedisNeedsFewTypesAndThoseOfThePage() throws ReflectiveOperationException, IOException {
        Set<String> named = ofThePage();
        assertThat(named).hasSizeGreaterThan(40);
        try (RedisProcess redis = RedisProcess.started()) {
            Set<String> types = types(Map.of(
                    "ratelimit.backend", "redisson",
                    "ratelimit.redis.address", redis.address(),
                    "ratelimit.redis.deadline", "5s"));
            named.removeAll(types);
            assertThat(named).as("types of the page that take no part").isEmpty();
            assertThat(types.size()).as(types.toString()).isBetween(60, MOST_ON_REDIS);
        }
    }

    private static Set<String> ofThePage() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "explanation", "how-a-request-is-decided.md"));
        Set<String> named = ROW.matcher(page)
                .results()
                .flatMap(row -> TYPE.matcher(row.group(1)).results())
                .map(type -> type.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        named.removeAll(OF_THE_HOST);
        return named;
    }

    @SuppressWarnings("unchecked") // the class is that of another loader
    private static Set<String> types(Map<String, String> backend) throws ReflectiveOperationException {
        Map<String, String> properties = new TreeMap<>(backend);
        properties.put("ratelimit.policies.api.limit", "1000/1h");
        properties.put("ratelimit.policies.api.key", "ip");
        properties.put("ratelimit.policies.api.paths", "/api/*");
        ClassLoader loader = new RecordingLoader();
        Function<Map<String, String>, Set<String>> run =
                (Function<Map<String, String>, Set<String>>) loader.loadClass(LimitedRequest.class.getName())
                        .getConstructor()
                        .newInstance();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            Set<String> types = new TreeSet<>(run.apply(properties));
            types.removeAll(OF_THE_TEST);
            return types;
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
