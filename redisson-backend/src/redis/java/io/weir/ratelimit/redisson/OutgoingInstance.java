// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.client.outgoing.ClientReader;
import io.weir.ratelimit.client.outgoing.OutgoingCall;
import io.weir.ratelimit.client.outgoing.OutgoingCalls;
import io.weir.ratelimit.client.outgoing.OutgoingListener;
import io.weir.ratelimit.client.outgoing.Permit;
import io.weir.ratelimit.client.outgoing.UpstreamResponse;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.spi.CallContext;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** An instance in a process of its own, whose threads call an upstream as fast as they may. */
final class OutgoingInstance implements AutoCloseable {
    /** A policy that allows more than the upstream. Its calls wait for the end of a pause. */
    private static final Map<String, String> CONFIG = Map.of(
            "ratelimit.clients.upstream.policy", "calls",
            "ratelimit.policies.calls.limit", "5000/1s",
            "ratelimit.policies.calls.max-wait", "10s",
            "ratelimit.policies.calls.max-waiting", "100");

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final ChildJvm jvm;

    private OutgoingInstance(ChildJvm jvm) {
        this.jvm = jvm;
    }

    /** Starts an instance. */
    static OutgoingInstance started(Path log, String redis, String namespace, URI upstream, int threads) {
        return new OutgoingInstance(ChildJvm.withLog(
                log, OutgoingInstance.class, redis, namespace, upstream.toString(), Integer.toString(threads)));
    }

    boolean isAlive() {
        return jvm.process().isAlive();
    }

    @Override
    public void close() {
        jvm.close();
    }

    /**
     * Calls until the process is killed.
     *
     * @param arguments address of Redis, namespace, URI of the upstream, threads
     */
    public static void main(String... arguments) {
        RedissonBackend backend = new RedissonBackend(ChildJvm.client(arguments[0]), arguments[1], DEADLINE);
        FaultCalls.awaitDecision(backend);
        OutgoingCalls calls = calls(backend);
        URI upstream = URI.create(arguments[2]);
        AtomicInteger number = new AtomicInteger();
        for (int thread = Integer.parseInt(arguments[3]); thread > 0; thread--) {
            new Thread(() -> callForever(calls, upstream, number)).start();
        }
    }

    private static OutgoingCalls calls(RedissonBackend backend) {
        ConfigProperties config = ConfigProperties.of(CONFIG);
        Problems problems = new Problems();
        Map<String, Policy> policies = PolicyLoader.load(
                        config, List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                .policies();
        FailureModes modes = new FailureModes(() -> 1, () -> new LocalBackend(100));
        RateLimitEngine engine = RedisEngine.of(RedisEngine.withFallback(backend, modes, DEADLINE));
        OutgoingCalls calls = new OutgoingCalls(
                true,
                ClientReader.read(config, Map.of(), Map.of(), problems),
                () -> 1,
                () -> policies,
                engine,
                new EngineRateLimiter(engine, () -> policies, () -> Runnable::run, Optional::empty),
                OutgoingListener.NONE,
                System::nanoTime,
                InstantSource.system());
        if (!problems.found().isEmpty()) {
            throw new IllegalStateException(problems.message());
        }
        return calls;
    }

    private static void callForever(OutgoingCalls calls, URI upstream, AtomicInteger number) {
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(upstream).build();
        while (true) {
            OutgoingCall call = new OutgoingCall(
                    "upstream",
                    upstream.getHost(),
                    Optional.empty(),
                    CallContext.NONE,
                    new OutgoingCall.Attempt(0, number.incrementAndGet(), 0),
                    null,
                    null);
            try {
                Permit permit = calls.begin(call);
                HttpResponse<Void> response = http.send(request, HttpResponse.BodyHandlers.discarding());
                calls.answered(
                        permit,
                        new UpstreamResponse(
                                response.statusCode(),
                                name -> response.headers().allValues(name)));
            } catch (RateLimitExceededException e) {
                System.out.println("rejected after the longest wait: " + e.retryAfter());
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException("the upstream does not answer", e);
            }
        }
    }
}
