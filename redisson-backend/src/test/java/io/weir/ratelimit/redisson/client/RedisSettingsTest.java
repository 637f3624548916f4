// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.TestConfig;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

class RedisSettingsTest {
    private static final String ADDRESS = "redis://cache:6379";

    @TempDir
    private Path folder;

    @Test
    void needsOnlyAnAddress() {
        RedisSettings settings = read(Map.of(RedisSettings.ADDRESS, "  " + ADDRESS + " "));
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.namespace()).isEqualTo("default");
        assertThat(settings.deadline()).isEqualTo(Duration.ofMillis(100));
        assertThat(settings.client()).hasValueSatisfying(config -> {
            assertThat(config.useSingleServer().getAddress()).isEqualTo(ADDRESS);
            assertThat(config.useSingleServer().getRetryAttempts()).isZero();
            assertThat(config.isLazyInitialization()).isTrue();
            assertThat(config.getCodec()).isInstanceOf(ByteArrayCodec.class);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"%s[%d]", "%s.%d", "%s.[%d]"})
    void acceptsAListOfAFileFormat(String element) {
        RedisSettings settings = read(Map.of(
                element.formatted(RedisSettings.ADDRESS, 0), "redis://a:6379",
                element.formatted(RedisSettings.ADDRESS, 1), "redis://b:6379"));
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.client())
                .hasValueSatisfying(
                        config -> assertThat(config.isClusterConfig()).isTrue());
    }

    /** In Arabic, the digits of {@code String.format} are others. */
    @Test
    @Tag("field")
    void acceptsAListInEachLocale() {
        Locale locale = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            acceptsAListOfAFileFormat("%s[%s]");
        } finally {
            Locale.setDefault(locale);
        }
    }

    @ParameterizedTest
    @CsvSource({"1ms, 1", "100ms, 100", "2s, 2000", "60s, 60000", "60000ms, 60000", "' 5ms ', 5"})
    void acceptsADeadlineFromOneMillisecondToOneMinute(String text, long millis) {
        RedisSettings settings = read(Map.of(RedisSettings.ADDRESS, ADDRESS, "ratelimit.redis.deadline", text));
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.deadline()).hasMillis(millis);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0ms",
                "0s",
                "60001ms",
                "61s",
                "99999s",
                "999999999999s",
                "100",
                "1m",
                "-1ms",
                "1.5s",
                "ms",
                "soon"
            })
    void rejectsOtherDeadlines(String text) {
        RedisSettings settings = read(Map.of(RedisSettings.ADDRESS, ADDRESS, "ratelimit.redis.deadline", text));
        assertThat(settings.problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-408",
                        "ratelimit.redis.deadline",
                        text,
                        "the deadline is invalid",
                        "use a duration from 1ms to 60s, for example 100ms"));
        assertThat(settings.deadline()).hasMillis(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "orders.v2_test-1", "ABC"})
    void acceptsAShortNamespace(String text) {
        RedisSettings settings = read(Map.of(RedisSettings.ADDRESS, ADDRESS, "ratelimit.namespace", text));
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.namespace()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "a{b", "a}b", "a*", "straße", "x\ny"})
    void rejectsANamespaceWithSpecialCharacters(String text) {
        assertNamespaceProblem(text);
    }

    @Test
    void rejectsALongNamespace() {
        assertNamespaceProblem("x".repeat(65));
    }

    private static void assertNamespaceProblem(String text) {
        RedisSettings settings = read(Map.of(RedisSettings.ADDRESS, ADDRESS, "ratelimit.namespace", text));
        assertThat(settings.problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-407",
                        "ratelimit.namespace",
                        text,
                        "the namespace is invalid",
                        "use 1 to 64 of the characters A-Z a-z 0-9 . _ -"));
    }

    @Test
    void reportsAMissingRedisWithTheRemedies() {
        assertThat(read(Map.of()).problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-402",
                        "ratelimit.redis.address",
                        "",
                        "the backend is redisson, but no Redis is configured",
                        "set ratelimit.redis.address = redis://host:6379, or produce a RedissonClient bean"));
        assertThat(RedisSettings.read(new TestConfig(Map.of()).properties(), true)
                        .problems())
                .isEmpty();
    }

    @Test
    void reportsAnInvalidAddressWithTheValueMasked() {
        assertThat(read(Map.of(RedisSettings.ADDRESS, "redis://me:secret@cache:x"))
                        .problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-403",
                        "ratelimit.redis.address",
                        "redis://***@***",
                        "the address is invalid: use redis://host:6379 or rediss://user:password@host:6379/0",
                        "percent-encode special characters of the password"));
        assertThat(read(Map.of(RedisSettings.ADDRESS, "redis://me:secret@cache:0"))
                        .problems())
                .singleElement()
                .hasToString("WEIR-403 ratelimit.redis.address = redis://***@cache:0: the port is not in the range 1 to"
                        + " 65535; percent-encode special characters of the password");
    }

    @Test
    void rejectsAnAddressTogetherWithAConfiguration() {
        assertThat(read(Map.of(RedisSettings.ADDRESS, ADDRESS, RedisSettings.CONFIG, "redis.yaml"))
                        .problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-401",
                        "ratelimit.redis.config",
                        "redis.yaml",
                        "ratelimit.redis.address is set too",
                        "keep one of the two properties"));
    }

    @Test
    void readsAYamlConfigurationAndMakesItLazy() throws IOException {
        RedisSettings settings = yaml("singleServerConfig:\n  address: \"" + ADDRESS + "\"\n  password: secret\n");
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.client()).hasValueSatisfying(config -> {
            assertThat(config.useSingleServer().getAddress()).isEqualTo(ADDRESS);
            assertThat(config.isLazyInitialization()).isTrue();
            assertThat(config.getCodec()).isInstanceOf(ByteArrayCodec.class);
        });
        assertThat(settings.toString()).doesNotContain("secret");
    }

    @Test
    void readsAClusterFromYaml() throws IOException {
        RedisSettings settings = yaml("clusterServersConfig:\n  nodeAddresses:\n  - \"" + ADDRESS + "\"\n");
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.client()).hasValueSatisfying(config -> {
            assertThat(config.useClusterServers().getNodeAddresses()).containsExactly(ADDRESS);
            assertThat(config.isLazyInitialization()).isTrue();
            assertThat(config.isUseScriptCache()).isFalse();
        });
    }

    @Test
    void readsSeveralAddressesAsNodesOfACluster() {
        RedisSettings settings = read(Map.of(RedisSettings.ADDRESS, "redis://a:1 , redis://b"));
        assertThat(settings.problems()).isEmpty();
        assertThat(settings.client()).hasValueSatisfying(config -> {
            assertThat(config.isClusterConfig()).isTrue();
            assertThat(config.useClusterServers().getNodeAddresses()).containsExactly("redis://a:1", "redis://b:6379");
            assertThat(config.isLazyInitialization()).isTrue();
            assertThat(config.isUseScriptCache()).isFalse();
            assertThat(config.getCodec()).isInstanceOf(ByteArrayCodec.class);
        });
    }

    @Test
    void reportsProblemsOfClusterNodesWithAllOthers() {
        assertThat(read(Map.of(
                                RedisSettings.ADDRESS,
                                "redis://:secret@a:1/1,rediss://:other@b:2",
                                "ratelimit.namespace",
                                "a b"))
                        .problems())
                .extracting(ConfigurationProblem::id)
                .containsExactlyInAnyOrder("WEIR-403", "WEIR-403", "WEIR-403", "WEIR-407");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/no/such/file.yaml", "classpath:no/such.yaml", "no\0file"})
    void reportsAMissingFileOrResource(String location) {
        assertThat(read(Map.of(RedisSettings.CONFIG, location)).problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-404",
                        "ratelimit.redis.config",
                        location,
                        "the file or resource does not exist",
                        "set the path of a file, or classpath:<resource>"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "password: [secret",
                "singleServerConfig:\n  pasword: secret\n",
                "singleServerConfig:\n  password: secret\n timeout: x\n",
                "just secret text",
                "codec: !<secret.Codec> {}\n",
                "singleServerConfig:\n  address: secret\n  timeout: secret\n"
            })
    void reportsAnInvalidFileWithoutQuotingIt(String content) throws IOException {
        List<ConfigurationProblem> problems = yaml(content).problems();
        assertThat(problems).hasSize(1);
        ConfigurationProblem problem = problems.get(0);
        assertThat(problem.id()).isEqualTo("WEIR-405");
        assertThat(problem.place()).isEqualTo("ratelimit.redis.config");
        assertThat(problem.value()).isEqualTo(folder.resolve("redis.yaml").toString());
        assertThat(problem.problem()).startsWith("the content is not a Redisson configuration (");
        assertThat(problem.remedy()).isEqualTo("see the Redisson documentation of the YAML format");
        assertThat(problem.toString()).doesNotContain("secret");
    }

    private static RedisSettings withList(Map<String, String> others, Map<String, Integer> ordinals) {
        Map<String, String> all = new HashMap<>(others);
        all.put("ratelimit.redis.address[0]", "redis://listed-0:6379");
        all.put("ratelimit.redis.address[1]", "redis://listed-1:6379");
        return RedisSettings.read(new TestConfig(all, ordinals).properties(), false);
    }

    private static List<String> nodes(RedisSettings settings) {
        assertThat(settings.problems()).isEmpty();
        Config client = settings.client().orElseThrow();
        return client.isClusterConfig()
                ? client.useClusterServers().getNodeAddresses()
                : List.of(client.useSingleServer().getAddress());
    }

    @Test
    void theSourceWithTheHigherOrdinalSetsTheAddresses() {
        Map<String, String> text = Map.of(RedisSettings.ADDRESS, "redis://one:6379");
        List<String> listed = List.of("redis://listed-0:6379", "redis://listed-1:6379");
        List<String> one = List.of("redis://one:6379");
        assertThat(nodes(withList(Map.of(), Map.of()))).isEqualTo(listed);
        assertThat(nodes(withList(text, Map.of()))).isEqualTo(one);
        assertThat(nodes(withList(text, Map.of(RedisSettings.ADDRESS, 300)))).isEqualTo(one);
        assertThat(nodes(withList(text, Map.of(RedisSettings.ADDRESS, 50)))).isEqualTo(listed);
    }

    @Test
    void theTextOfAListHasNoBackslashes() {
        String text = "redis://me:a\\,b@listed-0:6379,redis://me:a\\,b@listed-1:6379";
        RedisSettings settings = withList(Map.of(RedisSettings.ADDRESS, text), Map.of());
        assertThat(nodes(settings)).hasSize(2);
        assertThat(settings.client().orElseThrow().getPassword()).isEqualTo("a,b");
    }

    @Test
    void elementsOfSeveralSourcesAreAProblem() {
        assertThat(withList(Map.of(), Map.of("ratelimit.redis.address[0]", 110)).problems())
                .containsExactly(new ConfigurationProblem(
                        "WEIR-403",
                        RedisSettings.ADDRESS,
                        "redis://listed-0:6379,redis://listed-1:6379",
                        "the elements of the list come from several sources: source 100, source 110",
                        "write the whole list in one source; as a text with commas, it takes precedence over the elements in"
                                + " sources with lower ordinals"));
    }

    @Test
    void reportsAllProblemsTogether() {
        Map<String, String> all = new HashMap<>();
        all.put(RedisSettings.ADDRESS, "nowhere/at/all");
        all.put("ratelimit.namespace", "a b");
        all.put("ratelimit.redis.deadline", "0ms");
        assertThat(read(all).problems())
                .extracting(ConfigurationProblem::id)
                .containsExactlyInAnyOrder("WEIR-403", "WEIR-407", "WEIR-408");
    }

    private RedisSettings yaml(String content) throws IOException {
        Path file = Files.writeString(folder.resolve("redis.yaml"), content);
        return read(Map.of(RedisSettings.CONFIG, file.toString()));
    }

    private static RedisSettings read(Map<String, String> properties) {
        return RedisSettings.read(new TestConfig(properties).properties(), false);
    }
}
