// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.redisson.script.Script;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.redisson.api.RScript;
import org.redisson.client.RedisException;

/**
 * The self-test of a server at start: it checks what the scripts need, and logs one message if anything is missing. It needs no other
 * rights than the scripts, and its key is in the namespace. In a cluster, it checks one master.
 */
public final class ServerCheck {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** The largest whole number of the scripts, 2^53. */
    private static final String LARGEST_NUMBER = "9007199254740992";

    /** The pause before each further run. The state of the first run ends meanwhile. */
    private static final long PAUSE_MILLIS = 50;

    private static final int FURTHER_RUNS = 5;
    private static final int MAX_NAME_LENGTH = 40;

    /** The beginning of an error reply to a script that the server does not run. */
    private static final Pattern NO_SCRIPTS =
            Pattern.compile("ERR (unknown command|Error compiling script|Error running script|user_script)");

    /** A need of the scripts. The code is that of {@code check.lua}. */
    private enum Need {
        SCRIPTS("scripts in Lua"),
        STRUCT("the Lua library struct"),
        NUMBERS("whole numbers to 2^53 in Lua"),
        TIME("TIME in scripts"),
        CLOCK("a TIME that advances between scripts"),
        PX("the option PX of SET"),
        KEEPTTL("the option KEEPTTL of SET"),
        KEYS("keys that a script reads after it has written them");

        private final String words;

        Need(String words) {
            this.words = words;
        }
    }

    /** The reply of a run. */
    private record Run(String server, long micros, Set<Need> missing) {
        static Run parse(byte[] reply) {
            String[] parts = new String(reply, UTF_8).split("\\|", 4);
            Set<Need> missing = Stream.of(parts[3].split(","))
                    .filter(code -> !code.isEmpty())
                    .map(code -> Need.valueOf(code.toUpperCase(Locale.ROOT)))
                    .collect(Collectors.toCollection(() -> EnumSet.noneOf(Need.class)));
            return new Run(named(parts[0], parts[1]), Long.parseLong(parts[2]), missing);
        }

        private static String named(String name, String version) {
            String known = name.equals("valkey") ? "Valkey" : name.equals("redis") ? "Redis" : name;
            String text =
                    (known + " " + version).replaceAll("[^A-Za-z0-9 ._-]", "").strip();
            return text.substring(0, Math.min(MAX_NAME_LENGTH, text.length()));
        }
    }

    private final String key;
    private boolean ended;

    /** Creates a self-test. */
    public ServerCheck(String namespace) {
        this.key = RedisKeys.of(namespace).prefix() + "self-test-" + UUID.randomUUID() + "}:self-test";
    }

    /** Runs once, unless the server does not answer. Blocks for some milliseconds at least. */
    void run(RScript scripts) throws InterruptedException {
        if (ended) {
            return;
        }
        try {
            Run first = run(scripts, 1);
            Run last;
            Set<Need> missing;
            int left = FURTHER_RUNS;
            do {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                left--;
                last = run(scripts, left == 0 ? 3 : 2);
                missing = last.missing();
                if (last.micros() == first.micros()) {
                    missing.add(Need.CLOCK);
                }
            } while (left > 0 && !missing.isEmpty());
            missing.addAll(first.missing());
            report(last.server(), missing);
        } catch (RedisException e) {
            if (NO_SCRIPTS.matcher(String.valueOf(e.getMessage())).lookingAt()) {
                report("Redis", EnumSet.of(Need.SCRIPTS));
            } else {
                LOG.log(
                        Level.DEBUG,
                        "The self-test did not run: {0}",
                        RedisFailures.toBackendException(e).getMessage());
            }
        }
    }

    private Run run(RScript scripts, int number) {
        byte[] reply = scripts.eval(
                key,
                RScript.Mode.READ_WRITE,
                Script.CHECK.text(),
                RScript.ReturnType.VALUE,
                List.of((Object) key),
                String.valueOf(number).getBytes(UTF_8),
                LARGEST_NUMBER.getBytes(UTF_8));
        return Run.parse(reply);
    }

    private void report(String server, Set<Need> missing) {
        ended = true;
        if (missing.contains(Need.TIME)) {
            missing.remove(Need.CLOCK);
        }
        if (missing.isEmpty()) {
            LOG.log(Level.DEBUG, "The self-test has ended: {0} has what the scripts need.", server);
            return;
        }
        List<String> words = new ArrayList<>();
        missing.forEach(need -> words.add(need.words));
        MESSAGES.log("WEIR-421", server, String.join(", ", words));
    }
}
