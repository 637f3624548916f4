// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.TestBackend;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts as resources: each is valid Lua, and its header describes its arguments and its reply. */
@Tag("redis")
class ScriptTest {
    private static final List<String> PRELUDES = List.of("clock.lua", "state.lua", "log.lua");

    static Stream<Path> scripts() throws IOException, URISyntaxException {
        URL folder = Script.class.getResource("/META-INF/weir/lua");
        assertThat(folder).isNotNull();
        try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
            List<Path> all = files.filter(file -> file.toString().endsWith(".lua"))
                    .sorted()
                    .toList();
            assertThat(all)
                    .extracting(Path::getFileName)
                    .extracting(Path::toString)
                    .contains("clock.lua", "state.lua", "log.lua", "acquire.lua", "general.lua", "refund.lua");
            return all.stream();
        }
    }

    private static Path script(String name) {
        try {
            return Path.of(Objects.requireNonNull(Script.class.getResource("/META-INF/weir/lua/" + name))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void eachScriptIsValidForRedis(Path script) {
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            assertThat(redis.text("SCRIPT", "LOAD", whole(script))).hasSize(40);
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void eachScriptBeginsWithItsLicenseAndTheUnitOfTime(Path script) {
        List<String> lines = text(script).lines().toList();
        assertThat(lines.get(0)).isEqualTo("-- SPDX-License-Identifier: Apache-2.0");
        assertThat(lines.get(1)).startsWith("-- Times are in microseconds");
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void eachHeaderDescribesPurposeArgumentsReplyAndComplexity(Path script) {
        List<String> header =
                text(script).lines().takeWhile(line -> line.startsWith("--")).toList();
        assertThat(header.stream().filter(line -> line.matches("-- [A-Z][a-z].*\\.")))
                .as("sentences on the purpose")
                .isNotEmpty();
        List<String> entries = switch (script.getFileName().toString()) {
            case "clock.lua" -> List.of("ARGV[1] ");
            case "value.lua" -> List.of("Complexity ");
            case "general.lua" -> List.of("State ", "Complexity ");
            case "state.lua" -> List.of("State ", "Limit ", "Unit ", "Redis ");
            case "log.lua", "slots.lua" -> List.of("State ", "Complexity ");
            default -> List.of("KEYS ", "ARGV[1] ", "Reply ", "Complexity ");
        };
        for (String entry : entries) {
            assertThat(header).as(entry).anyMatch(line -> line.startsWith("-- " + entry));
        }
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void noScriptSetsAGlobalOrUsesLossyFunctions(Path script) {
        String code = text(script).replaceAll("--[^\n]*", "");
        assertThat(code)
                .doesNotContain("tostring")
                .doesNotContainPattern("[^.]\\bunpack\\(")
                .doesNotContain("KEYS[1] ..");
        assertThat(code.lines().filter(line -> line.matches("function \\w+\\(.*")))
                .isEmpty();
    }

    /** A pattern with a repetition and no anchor starts again at each byte. Of one item alone, it ends at each match. */
    @ParameterizedTest
    @MethodSource("scripts")
    void noPatternStartsAgainAtEachByte(Path script) {
        String code = text(script).replaceAll("--[^\n]*", "");
        Matcher call = Pattern.compile("(?:string\\.|:)(?:find|match|gmatch|gsub)\\((.*)")
                .matcher(code);
        while (call.find()) {
            assertThat(call.group(1))
                    .as(call.group())
                    .containsPattern(
                            "^'\\^|^'(?:%[a-zA-Z]|\\[[^\\]]+])\\+'|^[^()]*, 1, true\\)|^held, id, from \\+ 1, true\\)");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"report.lua", "read.lua", "changes.lua"})
    void aScriptOfOperatorsReadsBoundedValuesOnly(String name) {
        assertThat(text(script(name))).doesNotContain("'GET'", "'GETRANGE'", "'HGETALL'", "'MGET'");
    }

    @Test
    void theDigestOfAScriptIsTheOneOfRedis() {
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            for (Script script : List.of(
                    Script.ACQUIRE,
                    Script.REFUND,
                    Script.BLOCK,
                    Script.RELEASE,
                    Script.REPORT,
                    Script.READ,
                    Script.CHANGES)) {
                assertThat(redis.text("SCRIPT", "LOAD", script.text())).isEqualTo(script.digest());
            }
        }
    }

    @Test
    void aReplyContainsTheTimeTheAllowedCountAndTheStoredStateBefore() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 1L << 32, Duration.ofHours(1));
        List<Charge> charges = List.of(TestBackend.charge("k.a", 3, limit));
        List<String> keys = RedisKeys.of("test-" + UUID.randomUUID()).of(charges);
        byte[] argument = AcquireCodec.encode(
                new Batch(new AcquireRequest(charges, keys, AcquireRequest.Operation.SPEND, 0, 0, late -> {})),
                0x36751816A28BL);
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            for (String state : List.of("00", "66000036ee80" + "0036751816a28b" + "000000000003")) {
                byte[] reply = (byte[]) redis.call("EVAL", Script.ACQUIRE.text(), "1", keys.get(0), argument);
                assertThat(HexFormat.of().formatHex(reply)).isEqualTo("0036751816a28b" + "0001" + state);
            }
            redis.call("DEL", keys.get(0));
        }
    }

    private static String whole(Path script) {
        if (List.of("report.lua", "read.lua", "changes.lua")
                .contains(script.getFileName().toString())) {
            return text(script.resolveSibling("value.lua")) + text(script);
        }
        StringBuilder whole = new StringBuilder();
        for (String prelude : PRELUDES) {
            whole.append(text(script.resolveSibling(prelude)));
            if (script.endsWith(prelude)) {
                return whole.toString();
            }
        }
        return whole + text(script);
    }

    private static String text(Path script) {
        try {
            return Files.readString(script, UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
