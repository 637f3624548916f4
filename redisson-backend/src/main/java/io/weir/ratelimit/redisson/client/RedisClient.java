// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * A Redisson client that runs scripts, each at most once. A background thread connects it. Until the first connection exists, calls fail
 * at once. Otherwise the client would connect on the caller's thread and block it for its own timeouts.
 */
public final class RedisClient implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** How much longer than a call the client waits for a reply, so that a late reply is recognized as such. */
    private static final Duration BEYOND_DEADLINE = Duration.ofSeconds(1);

    private static final int ATTEMPTS_PER_CLIENT = 5;
    private static final long MIN_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 2_000;
    private static final long WARNING_SECONDS = 5;
    private static final String IN_PROGRESS = "the first attempt is in progress";

    private final Supplier<RedissonClient> source;
    private final boolean owned;
    private final String namespace;
    private final Duration timeout;
    private final @Nullable ServerCheck check;
    private final CompletableFuture<Void> connected = new CompletableFuture<>();
    private final CountDownLatch firstAttempt = new CountDownLatch(1);
    private final Thread connector;
    private volatile @Nullable RedissonClient client;
    private volatile @Nullable RScript scripts;

    /** The scripts of the latest attempt to connect. Used by the connector only. */
    private @Nullable RScript attemptedScripts;

    /** Whether keys are spread over the slots of a cluster. */
    private volatile boolean hasSlots;

    private volatile RedisEndpoints endpoints = RedisEndpoints.UNKNOWN;
    private volatile @Nullable ClusterWrites writes;
    private volatile Runnable renewal = () -> {};
    private volatile BackendException notReady = RedisFailures.notReady(IN_PROGRESS, endpoints, null);
    private volatile boolean closed;

    /** Completes if there is no connection in time. Ends otherwise, so that the timer does not refer to a closed client. */
    private final CompletableFuture<Void> late =
            new CompletableFuture<Void>().completeOnTimeout(null, WARNING_SECONDS, TimeUnit.SECONDS);

    /**
     * Creates a client and starts to connect it. The source is called in the background until it succeeds once.
     *
     * @param owned whether {@link #close} closes the Redisson client
     * @param namespace the namespace of the keys, in which the script is tried out
     */
    public RedisClient(Supplier<RedissonClient> source, boolean owned, String namespace, Duration deadline) {
        this(source, owned, namespace, deadline, null);
    }

    /** Creates a client and starts to connect it, with the self-test of the server in the background. */
    public RedisClient(
            Supplier<RedissonClient> source,
            boolean owned,
            String namespace,
            Duration deadline,
            @Nullable ServerCheck check) {
        this.check = check;
        this.source = source;
        this.owned = owned;
        this.namespace = namespace;
        this.timeout = deadline.plus(BEYOND_DEADLINE);
        CompletionStage<Void> timer = late;
        timer.thenRun(this::warn);
        this.connector = new Thread(this::connect, "weir-redis-connect");
        this.connector.setDaemon(true);
        this.connector.start();
    }

    private void connect() {
        long pause = MIN_PAUSE_MILLIS;
        for (int failed = 1; !closed && !tryToConnect(); failed++) {
            // A server that lacks what the scripts need answers with an error.
            if (notReady.reason() == Reason.BACKEND_ERROR) {
                checkServer();
            }
            if (failed % ATTEMPTS_PER_CLIENT == 0 && mayMissMasters()) {
                closeClient();
            }
            try {
                TimeUnit.MILLISECONDS.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            pause = Math.min(2 * pause, MAX_PAUSE_MILLIS);
        }
        late.cancel(false);
        checkServer();
    }

    private void checkServer() {
        RScript attempted = attemptedScripts;
        if (check != null && attempted != null && !closed) {
            try {
                check.run(attempted);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException e) {
                LOG.log(Level.DEBUG, "The self-test failed.", e);
            }
        }
    }

    /** Logs once that there is no connection: an application without calls would start without any sign of it. */
    private void warn() {
        if (firstAttempt.getCount() > 0) {
            notReady = RedisFailures.notReady(ConnectionCause.noAnswer(endpoints.tls()), endpoints, null);
        }
        MESSAGES.log("WEIR-319", WARNING_SECONDS, notReady.getMessage());
    }

    /**
     * Returns whether the client is one of a cluster. If it was created while masters considered each other failed, it may not know a
     * master that is available, as long as another one is not. A new client reads the slots again.
     */
    private boolean mayMissMasters() {
        RedissonClient created = client;
        return owned && created != null && created.getConfig().isClusterConfig();
    }

    /** Connects and loads the scripts; true if no further attempt is needed or of use. */
    private boolean tryToConnect() {
        try {
            RedissonClient created = client;
            if (created == null) {
                created = source.get();
                client = created;
                if (closed) {
                    closeClient();
                    return true;
                }
                endpoints = RedisEndpoints.of(created.getConfig());
            }
            // A script that is sent again is charged again. This setting also applies to a client that retries by
            // default.
            RScript loaded = created.getScript(OptionalOptions.defaults()
                    .codec(ByteArrayCodec.INSTANCE)
                    .retryAttempts(0)
                    .timeout(timeout));
            attemptedScripts = loaded;
            loaded.scriptLoad(Script.ACQUIRE.text());
            loaded.scriptLoad(Script.REFUND.text());
            loaded.scriptLoad(Script.BLOCK.text());
            loaded.scriptLoad(Script.RELEASE.text());
            tryOut(loaded);
            hasSlots = created.getConfig().isClusterConfig();
            writes = ClusterWrites.of(created);
            if (owned) {
                renewal = ConnectionRenewal.of(created);
            }
            scripts = loaded;
            connected.complete(null);
            MESSAGES.log("WEIR-411");
            return true;
        } catch (RuntimeException | LinkageError e) {
            LinkageError missing = missingClass(e);
            if (missing != null) {
                logUnusable(missing, e);
                notReady = new BackendException(Reason.NOT_READY, "The Redis client cannot run: " + missing, e);
                return true;
            }
            // One warning and the first degraded decision log the reason, not each attempt.
            notReady = RedisFailures.toNotReady(e, endpoints);
            LOG.log(Level.DEBUG, "{0}", notReady.getMessage());
            return false;
        } finally {
            firstAttempt.countDown();
        }
    }

    /** Logs that a class cannot be loaded, or that its initializer failed, for which the jars are no reason. */
    private static void logUnusable(LinkageError failure, Throwable thrown) {
        Throwable cause = failure instanceof ExceptionInInitializerError ? failure.getCause() : null;
        if (cause == null) {
            MESSAGES.log(thrown, "WEIR-412");
        } else {
            MESSAGES.log(thrown, "WEIR-412.initializer", cause);
        }
    }

    /** Returns the error for a missing class, even if the producer of a bean wrapped it. */
    private static @Nullable LinkageError missingClass(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinkageError missing) {
                return missing;
            }
        }
        return null;
    }

    /** Peeks at an unused key, so that the first call finds all classes loaded, and missing permissions show here. */
    private void tryOut(RScript loaded) {
        PolicyLimits limits =
                new PolicyLimits("try-out", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 1, Duration.ofSeconds(1))));
        List<Charge> charges = List.of(new Charge(limits, "none", 1));
        AcquireRequest request =
                new AcquireRequest(charges, RedisKeys.of(namespace).of(charges), Operation.PEEK, 0, 0, late -> {});
        Batch batch = new Batch(request);
        batch.complete(loaded.evalSha(
                request.keys.get(0),
                RScript.Mode.READ_WRITE,
                Script.ACQUIRE.digest(),
                RScript.ReturnType.VALUE,
                batch.keys(),
                AcquireCodec.encode(batch, 0)));
        request.join();
    }

    /** Runs an action once there is a connection. */
    public void onFirstConnection(Runnable action) {
        CompletionStage<Void> stage = connected;
        stage.thenRun(action);
    }

    /** Returns whether there has been a connection. */
    public boolean isReady() {
        return scripts != null;
    }

    /** Returns why there has been no connection yet. */
    public BackendException notReady() {
        return notReady;
    }

    /** Returns whether keys are in the same slot. */
    public boolean isOneSlot(List<String> keys) {
        if (keys.size() == 1 || !hasSlots) {
            return true;
        }
        int first = RedisKeys.slot(keys.get(0));
        return keys.stream().allMatch(key -> RedisKeys.slot(key) == first);
    }

    /** Returns the slot of a key, -1 without a cluster. */
    public int slot(String key) {
        return hasSlots ? RedisKeys.slot(key) : -1;
    }

    /** Waits until the first attempt to connect has ended, or an instant of {@link System#nanoTime} has come. */
    public void awaitFirstAttempt(long deadlineNanos) throws InterruptedException {
        if (scripts == null) {
            firstAttempt.await(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    /** Runs a script. {@link ScriptCall} describes what is sent again, and until when. */
    public CompletableFuture<byte[]> run(Script script, List<Object> keys, byte[] argument, long deadlineNanos) {
        RScript loaded = scripts;
        return loaded == null
                ? CompletableFuture.failedFuture(notReady)
                : renewing(new ScriptCall(loaded, writes, script, keys, argument, deadlineNanos).send());
    }

    /** Runs a script that decides nothing, on a connection of its own: a large argument delays no decision. */
    public CompletableFuture<byte[]> runAlone(Script script, List<Object> keys, byte[] argument, long deadlineNanos) {
        RScript loaded = scripts;
        return loaded == null
                ? CompletableFuture.failedFuture(notReady)
                : new ScriptCall(loaded, null, script, keys, argument, deadlineNanos).send();
    }

    /** Renews the connections if a replica answers: its address can lead to another server by now. */
    private CompletableFuture<byte[]> renewing(CompletableFuture<byte[]> call) {
        CompletionStage<byte[]> ended = call;
        ended.whenComplete((reply, failure) -> {
            if (failure != null && RedisFailures.isReadOnly(failure)) {
                renewal.run();
            }
        });
        return call;
    }

    @Override
    public void close() {
        closed = true;
        late.cancel(false);
        connector.interrupt();
        closeClient();
    }

    /** Closes the Redisson client once: called by {@link #close}, and by the connector if it creates the client meanwhile. */
    private synchronized void closeClient() {
        RedissonClient created = client;
        client = null;
        if (owned && created != null) {
            created.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }
}
