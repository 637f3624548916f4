// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.DocumentedUser;
import io.weir.ratelimit.redisson.FaultCalls;
import io.weir.ratelimit.redisson.LackingRedis;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.redisson.TestConfig;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The self-test at start: one message names what a server lacks, and nothing is logged otherwise. */
@Tag("redis")
class ServerCheckTest {
    private static final Duration WITHIN = Duration.ofSeconds(30);
    private static final String ENDED = "The self-test has ended: ";

    /** Replaces a command of Redis in scripts; the function has the arguments of the command. */
    private static String replaced(String function) {
        return """
                local real = redis
                local redis = setmetatable({}, {__index = real})
                redis.pcall = function(...) return (%s)(real.pcall, ...) end
                redis.call = function(...) return (%s)(real.call, ...) end
                """.formatted(function, function);
    }

    private static final Map<String, String> PRELUDES = Map.of(
            "struct", "local struct = nil\n",
            "numbers", """
                    local real = struct
                    local function short(n) return type(n) == 'number' and n - n % 1024 or n end
                    local struct = {pack = real.pack, unpack = function(...)
                      local all = {real.unpack(...)}
                      for i = 1, #all - 1 do all[i] = all[i] > 2^40 and short(all[i]) or all[i] end
                      return unpack(all)
                    end}
                    """,
            "time", replaced("""
                    function(run, ...)
                      local name = ...
                      if name == 'TIME' then return {err = 'ERR not allowed from script'} end
                      return run(...)
                    end
                    """),
            "clock", replaced("""
                    function(run, ...)
                      local name = ...
                      if name == 'TIME' then return {'1800000000', '0'} end
                      return run(...)
                    end
                    """),
            "px", replaced("""
                    function(run, ...)
                      local name, key, value, option = ...
                      if option == 'PX' then return {err = 'ERR syntax error'} end
                      return run(...)
                    end
                    """),
            "keepttl", replaced("""
                    function(run, ...)
                      local name, key, value, option = ...
                      if option == 'KEEPTTL' then return {err = 'ERR syntax error'} end
                      return run(...)
                    end
                    """),
            "keepttl-ignored", replaced("""
                    function(run, ...)
                      local name, key, value, option = ...
                      if option == 'KEEPTTL' then return run(name, key, value) end
                      return run(...)
                    end
                    """),
            "keys", replaced("""
                    function(run, ...)
                      local name = ...
                      if name == 'GET' then return false end
                      return run(...)
                    end
                    """));

    @ParameterizedTest
    @CsvSource({
        "struct, the Lua library struct",
        "numbers, whole numbers to 2^53 in Lua",
        "time, TIME in scripts",
        "clock, a TIME that advances between scripts",
        "px, the option PX of SET",
        "keepttl, the option KEEPTTL of SET",
        "keepttl-ignored, the option KEEPTTL of SET",
        "keys, keys that a script reads after it has written them"
    })
    void oneMessageNamesWhatIsMissing(String lack, String words) {
        try (LackingRedis server = LackingRedis.inFrontOf(RedisFixture.shared().address(), PRELUDES.get(lack));
                LogCapture log = new LogCapture()) {
            RedissonBackend backend = started(server.address());
            try {
                Await.until("a message", WITHIN, () -> !errors(log).isEmpty());
                assertThat(errors(log)).singleElement().asString().contains(" lacks what the scripts need: ");
                List<String> missing = missing(errors(log).get(0));
                // Without a result of GET, the effect of KEEPTTL cannot be seen either.
                assertThat(missing).contains(words).hasSizeLessThanOrEqualTo(lack.equals("keys") ? 2 : 1);
            } finally {
                backend.close();
            }
            assertThat(errors(log)).hasSize(1);
        }
    }

    @Test
    void aServerWithoutScriptsIsReported() {
        try (LackingRedis server =
                        LackingRedis.withoutScripts(RedisFixture.shared().address());
                LogCapture log = new LogCapture()) {
            RedissonBackend backend = started(server.address());
            try {
                Await.until("a message", WITHIN, () -> !errors(log).isEmpty());
                assertThat(missing(errors(log).get(0))).containsExactly("scripts in Lua");
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void severalMissingAbilitiesAreInOneMessage() {
        String prelude = PRELUDES.get("struct") + PRELUDES.get("keepttl");
        try (LackingRedis server = LackingRedis.inFrontOf(RedisFixture.shared().address(), prelude);
                LogCapture log = new LogCapture()) {
            RedissonBackend backend = started(server.address());
            try {
                Await.until("a message", WITHIN, () -> !errors(log).isEmpty());
                // The scripts do not run, so each attempt to connect fails, and the message is not repeated.
                assertThat(FaultCalls.awaitFailure(backend, Reason.BACKEND_ERROR))
                        .hasMessageContaining("ERR");
                assertThat(errors(log)).hasSize(1);
                assertThat(missing(errors(log).get(0)))
                        .containsExactly("the Lua library struct", "the option KEEPTTL of SET");
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aServerIsCalledByItsName() {
        String prelude = """
                local rawget = function(table, name)
                  return name == 'server' and {SERVER_NAME = 'valkey', VALKEY_VERSION = '8.1.1'} or rawget(table, name)
                end
                local struct = nil
                """;
        try (LackingRedis server = LackingRedis.inFrontOf(RedisFixture.shared().address(), prelude);
                LogCapture log = new LogCapture()) {
            RedissonBackend backend = started(server.address());
            try {
                Await.until("a message", WITHIN, () -> !errors(log).isEmpty());
                assertThat(errors(log).get(0)).startsWith("SEVERE WEIR-421 Valkey 8.1.1 lacks ");
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aCompleteServerCausesNoMessageAndNoKeyRemains() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection connection = redis.connect();
                LogCapture log = new LogCapture(Level.FINE)) {
            RedissonBackend backend = started(redis.address());
            try {
                Await.until("the end of the self-test", WITHIN, () -> ended(log));
                assertThat(log.lines())
                        .anyMatch(line -> line.matches(
                                "FINE " + ENDED + "(Redis|Valkey)( [0-9.]+)? has what the scripts need\\."));
                assertThat(errors(log)).isEmpty();
                assertThat(connection.keys("*self-test*")).isEmpty();
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void theSelfTestNeedsNoOtherPermission() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                LogCapture log = new LogCapture(Level.FINE)) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
            RedissonBackend backend = started(DocumentedUser.address(redis));
            try {
                Await.until("the end of the self-test", WITHIN, () -> ended(log));
                assertThat((List<?>) admin.call("ACL", "LOG")).isEmpty();
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aFullServerLacksNoAbility() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                LogCapture log = new LogCapture(Level.FINE)) {
            admin.call("CONFIG", "SET", "maxmemory", "1");
            RedissonBackend backend = started(redis.address());
            try {
                Await.until(
                        "the end of the self-test",
                        WITHIN,
                        () -> log.lines().stream().anyMatch(line -> line.contains("The self-test did not run: ")));
                assertThat(errors(log)).isEmpty();
            } finally {
                backend.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"+time", "+set", "+eval"})
    void aMissingPermissionIsNoMissingAbility(String permission) {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                LogCapture log = new LogCapture(Level.FINE)) {
            List<String> words = new ArrayList<>(List.of(DocumentedUser.line().split(" ")));
            words.remove(permission);
            admin.call(words.toArray());
            RedissonBackend backend = started(DocumentedUser.address(redis));
            try {
                Await.until(
                        "the end of the self-test",
                        WITHIN,
                        () -> log.lines().stream().anyMatch(line -> line.contains("The self-test did not run: ")));
                assertThat(errors(log)).isEmpty();
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void callsDoNotWaitForTheSelfTest() {
        try (LackingRedis server =
                        LackingRedis.silentAboutEval(RedisFixture.shared().address());
                LogCapture log = new LogCapture(Level.FINE)) {
            RedissonBackend backend = started(server.address());
            try {
                FaultCalls.awaitDecision(backend);
                assertThat(backend.status().initialized()).isTrue();
                Await.until("the end of the self-test", WITHIN, () -> notRun(log));
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }

    private static RedissonBackend started(String address) {
        return new TestConfig(Map.of(RedisSettings.ADDRESS, address, "ratelimit.namespace", "self-test")).started();
    }

    private static boolean ended(LogCapture log) {
        return log.lines().stream().anyMatch(line -> line.contains(ENDED));
    }

    private static boolean notRun(LogCapture log) {
        return log.lines().stream().anyMatch(line -> line.contains("The self-test did not run: "));
    }

    private static List<String> errors(LogCapture log) {
        return log.lines().stream().filter(line -> line.contains("WEIR-421")).toList();
    }

    private static List<String> missing(String line) {
        String list = line.substring(line.indexOf("need: ") + 6);
        return List.of(list.substring(0, list.indexOf(". ")).split(", "));
    }
}
