// SPDX-License-Identifier: Apache-2.0
package io.weir.example.fleet;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** About 20 calls per second of some callers, most of which keep their limits. */
public final class Load {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** The field by which a trusted proxy names the address of the client. */
    private static final String ADDRESS = "X-Forwarded-For";

    /** Over HTTP/2, all threads of Open Liberty 26.0.0.3 can wait for each other when many responses share a connection. */
    static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final List<URI> instances;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final AtomicInteger next = new AtomicInteger();

    private Load(List<URI> instances) {
        this.instances = instances;
    }

    /**
     * Calls instances until it is ended.
     *
     * @param arguments the addresses of the instances, or of a load balancer, with a slash at the end
     */
    public static void main(String[] arguments) {
        start(Stream.of(arguments).map(URI::create).toList());
    }

    /** Calls the instances in turn until the JVM ends. */
    static void start(List<URI> instances) {
        Load load = new Load(instances);
        List<Caller> callers = callers();
        for (int i = 0; i < callers.size(); i++) {
            load.sendAfter(50L * i, callers.get(i));
        }
    }

    private static List<Caller> callers() {
        List<Caller> callers = new ArrayList<>();
        for (int i = 1; i <= 12; i++) {
            callers.add(new Caller("api/hello", ADDRESS, "198.51.100." + i, 5_000));
            callers.add(new Caller("api/orgs/acme/teams/web/users/" + i + "/orders", ADDRESS, "198.51.100.99", 1_000));
        }
        callers.add(new Caller("api/complete", "X-Api-Key", "batch", "words=16&max=16", 1_000));
        // The callers over their limits
        for (int i = 0; i < 3; i++) {
            callers.add(new Caller("api/slow?ms=1500", ADDRESS, "203.0.113.6", 500));
        }
        callers.add(new Caller("api/hello", ADDRESS, "203.0.113.7", 400));
        callers.add(new Caller("api/login", ADDRESS, "203.0.113.8", "username=ann&password=guess", 500));
        callers.add(new Caller("api/admin/console", ADDRESS, "203.0.113.9", 1_000));
        return callers;
    }

    private void sendAfter(long millis, Caller caller) {
        Future<?> unused = timer.schedule(() -> send(caller), millis, TimeUnit.MILLISECONDS);
    }

    private void send(Caller caller) {
        URI instance = instances.get(next.getAndIncrement() % instances.size());
        HttpRequest.Builder request = HttpRequest.newBuilder(instance.resolve(caller.path))
                .timeout(TIMEOUT)
                .header(caller.field, caller.value);
        if (!caller.form.isEmpty()) {
            request.header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(BodyPublishers.ofString(caller.form));
        }
        // A caller ignores its answers and failures, but waits for them, so that slow instances get fewer calls.
        Future<?> unused = CLIENT.sendAsync(request.build(), BodyHandlers.discarding())
                .whenComplete((answer, failure) -> sendAfter(caller.pauseMillis, caller));
    }

    /** A caller that sends the same request again and again. */
    private record Caller(String path, String field, String value, String form, long pauseMillis) {
        Caller(String path, String field, String value, long pauseMillis) {
            this(path, field, value, "", pauseMillis);
        }
    }
}
