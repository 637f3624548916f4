// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.connection.CRC16;

/**
 * Runs scripts on a Redisson client, each at most once. Connects in the background: until the first connection stands, calls
 * fail instead of connecting on a request's thread, which the client would hold for its own time-outs.
 */
final class RedisClient implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    /** How long the client itself waits: longer than any request, so that a late reply is known as late. */
    private static final Duration BEYOND_DEADLINE = Duration.ofSeconds(1);

    private static final int ATTEMPTS_OF_A_CLIENT = 5;
    private static final int SLOTS = 16_384;
    /** Before Redis 7, what a command in a script answers stands behind the {@code ERR} of the script. */
    private static final Pattern ERROR_WITHIN_SCRIPT = Pattern.compile("^ERR Error running script.*: -([A-Z]{2,})\\b");

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;

    private final Supplier<RedissonClient> source;
    private final boolean owned;
    private final String namespace;
    private final Duration timeout;
    private final CountDownLatch firstAttempt = new CountDownLatch(1);
    private final Thread connecting;
    private volatile @Nullable RedissonClient client;
    private volatile @Nullable RScript ready;
    private volatile boolean hasSlots;
    private volatile BackendException notReady =
            new BackendException(Reason.NOT_READY, "no connection to Redis yet: it is being made", null);
    private volatile boolean closed;

    /**
     * Starts connecting.
     *
     * @param source makes the client; called in the background until it succeeds once
     * @param owned whether this closes the client
     * @param namespace the namespace of the keys, in which the script is tried out
     * @param deadline the longest that a request waits
     */
    RedisClient(Supplier<RedissonClient> source, boolean owned, String namespace, Duration deadline) {
        this.source = source;
        this.owned = owned;
        this.namespace = namespace;
        this.timeout = deadline.plus(BEYOND_DEADLINE);
        this.connecting = new Thread(this::connect, "weir-redis-connect");
        this.connecting.setDaemon(true);
        this.connecting.start();
    }

    private void connect() {
        long pause = FIRST_PAUSE_MILLIS;
        for (int failed = 1; !closed && !attempt(); failed++) {
            if (failed % ATTEMPTS_OF_A_CLIENT == 0 && hasLostItsWay()) {
                end();
            }
            try {
                TimeUnit.MILLISECONDS.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
    }

    /**
     * A client that met a cluster while its masters took each other for gone can leave out one that is there, for as long as
     * another is away. A new one reads the slots anew.
     */
    private boolean hasLostItsWay() {
        RedissonClient made = client;
        return owned && made != null && made.getConfig().isClusterConfig();
    }

    /** Connects and loads the scripts; true if there is nothing left to try. */
    private boolean attempt() {
        try {
            RedissonClient made = client;
            if (made == null) {
                made = source.get();
                client = made;
                if (closed) {
                    end();
                    return true;
                }
            }
            // A script that is sent again is charged again. Set here, it also holds for a client that retries by
            // default.
            RScript scripts = made.getScript(OptionalOptions.defaults()
                    .codec(ByteArrayCodec.INSTANCE)
                    .retryAttempts(0)
                    .timeout(timeout));
            scripts.scriptLoad(Script.ACQUIRE.text());
            scripts.scriptLoad(Script.GIVE_BACK.text());
            tryOut(scripts);
            hasSlots = made.getConfig().isClusterConfig();
            ready = scripts;
            LOG.log(Level.INFO, "WEIR-411 connected to Redis");
            return true;
        } catch (RuntimeException | LinkageError e) {
            LinkageError missing = missingClass(e);
            if (missing != null) {
                LOG.log(
                        Level.ERROR,
                        "WEIR-412 the Redis client cannot run, a class is missing or of another version",
                        e);
                notReady = new BackendException(Reason.NOT_READY, "the Redis client cannot run: " + missing, e);
                return true;
            }
            // The first decision without the store says so, with the reason; here it would be said at every attempt.
            notReady = notReady(e);
            LOG.log(Level.DEBUG, "not connected to Redis yet: {0}", notReady.getMessage());
            return false;
        } finally {
            firstAttempt.countDown();
        }
    }

    /** The class that is missing, also where a bean's producer met it. */
    private static @Nullable LinkageError missingClass(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinkageError missing) {
                return missing;
            }
        }
        return null;
    }

    /** Looks at a key that nobody has, so that the first request finds everything loaded and a missing right shows here. */
    private void tryOut(RScript scripts) {
        PolicyLimits limits =
                new PolicyLimits("try-out", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 1, Duration.ofSeconds(1))));
        List<Charge> charges = List.of(new Charge(limits, "none", 1));
        Check check = new Check(charges, StoredKeys.of(namespace).of(charges), false, 0, 0);
        Flight flight = new Flight(check);
        flight.landed(scripts.evalSha(
                check.keys.get(0),
                RScript.Mode.READ_WRITE,
                Script.ACQUIRE.digest(),
                RScript.ReturnType.VALUE,
                flight.keys(),
                flight.argument(0)));
        check.join();
    }

    /** Whether a connection has stood. */
    boolean isReady() {
        return ready != null;
    }

    /** Why no connection has stood yet. */
    BackendException notReady() {
        return notReady;
    }

    /** Whether keys are spread over the slots of a cluster. */
    boolean hasSlots() {
        return hasSlots;
    }

    /** The slot of a key of ours, -1 where there are none. Asking the client for it would ask Redis. */
    int slot(String key) {
        if (!hasSlots) {
            return -1;
        }
        String tag = key.substring(key.indexOf('{') + 1, key.indexOf('}'));
        return CRC16.crc16(tag.getBytes(StandardCharsets.UTF_8)) % SLOTS;
    }

    /** Waits until the first attempt to connect has ended, at most until an instant of {@link System#nanoTime}. */
    void awaitFirstAttempt(long deadlineNanos) throws InterruptedException {
        if (ready == null) {
            firstAttempt.await(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    /** Calls a script; see {@link ScriptCall} for what is sent again, and until when. */
    CompletableFuture<byte[]> run(Script script, List<Object> keys, byte[] argument, long untilNanos) {
        RScript scripts = ready;
        return scripts == null
                ? CompletableFuture.failedFuture(notReady)
                : new ScriptCall(scripts, script, keys, argument, untilNanos).send();
    }

    /** Why a script did not run. Messages of the client are left out where they could hold what a client sent. */
    static BackendException failure(Throwable failure) {
        Throwable cause = ScriptCall.cause(failure);
        if (cause instanceof BackendException known) {
            return known;
        }
        String name = cause.getClass().getSimpleName();
        if (cause instanceof RedisTimeoutException) {
            return new BackendException(Reason.TIMEOUT, name, cause);
        }
        if (cause.getCause() == null && isReply(cause)) {
            return new BackendException(Reason.REFUSED, "Redis answered " + errorCode(cause), cause);
        }
        return new BackendException(Reason.CONNECTION, name, cause);
    }

    /** Why there is no connection: what Redis answered, a password that is wrong or missing, say; that TLS failed; or that nothing did. */
    private static BackendException notReady(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (isReply(cause)) {
                return new BackendException(Reason.REFUSED, "Redis answered " + errorCode(cause), failure);
            }
            if (cause instanceof SSLException) {
                return notReady(cause.getClass().getSimpleName(), failure);
            }
        }
        return notReady(failure(failure).getMessage(), failure);
    }

    private static BackendException notReady(@Nullable String why, Throwable failure) {
        return new BackendException(Reason.NOT_READY, "no connection to Redis yet: " + why, failure);
    }

    /** Error replies begin with a word in capitals: {@code NOAUTH}, {@code LOADING}. The client takes that of one off. */
    private static boolean isReply(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisOutOfMemoryException
                || (failure instanceof RedisException && message != null && message.matches("(?s)[A-Z]{2,}\\b.*"));
    }

    private static String errorCode(Throwable reply) {
        if (reply instanceof RedisOutOfMemoryException) {
            return "OOM";
        }
        String message = String.valueOf(reply.getMessage());
        Matcher ofCommand = ERROR_WITHIN_SCRIPT.matcher(message);
        return ofCommand.find() ? ofCommand.group(1) : message.split("[ .]", 2)[0];
    }

    @Override
    public void close() {
        closed = true;
        connecting.interrupt();
        end();
    }

    /** Ends the client, once: {@link #close} or, if the client is made meanwhile, the thread that makes it. */
    private synchronized void end() {
        RedissonClient made = client;
        client = null;
        if (owned && made != null) {
            made.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }
}
