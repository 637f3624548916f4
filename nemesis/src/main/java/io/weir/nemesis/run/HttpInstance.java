// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.literal.NamedLiteral;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.ext.RuntimeDelegate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.spi.ConfigProviderResolver;

/**
 * The program of an instance that is called over HTTP: a limiter in a CDI container, and its Jakarta REST filter in front of a resource.
 * The client has no knowledge but the responses. It is in the process of the server, so that it stands still and ends with it. Operations
 * that a client cannot request are those of the limiter.
 */
public final class HttpInstance {
    private static final String CALLER = "caller";

    /** The policy of the requests before the run, for which the server and the client load their classes. */
    private static final String FIRST = "first";

    private static final int FIRST_REQUESTS = 30;
    private static final Pattern REMAINING = Pattern.compile(";r=(\\d+)");
    private static final Pattern SECONDS = Pattern.compile("\\d{1,18}");
    private static final String BLOCKED = "\"rate_limit_blocked\"";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Set<String> requested = Workload.requested();
    private final Calls calls;
    private final URI root;

    private HttpInstance(Calls calls, URI root) {
        this.calls = calls;
        this.root = root;
    }

    /**
     * Runs an instance.
     *
     * @param properties the properties of the limiter, each as {@code name=value}
     */
    public static void main(String[] properties) throws IOException {
        run(properties);
    }

    /**
     * Runs an instance with changed responses, which the checker must find.
     *
     * @param filters the filters of Jakarta REST that change responses
     */
    public static void run(String[] properties, Class<?>... filters) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        // The client closes an idle connection before the server does: the server cannot close it during a request.
        System.setProperty("jdk.httpclient.keepalive.timeout", "10");
        Instance.run(
                properties,
                UnaryOperator.identity(),
                (values, environment, events) -> start(values, environment, events, filters)::execute);
    }

    private static HttpInstance start(
            Map<String, String> properties,
            EngineEnvironment environment,
            Consumer<String> events,
            Class<?>... filters) {
        Map<String, String> values = new TreeMap<>(properties);
        values.put("ratelimit.policies." + FIRST + ".limit", "1000000/1d");
        Stream.concat(Stream.of(FIRST), Workload.requested().stream()).forEach(policy -> {
            values.put("ratelimit.policies." + policy + ".paths", "/" + policy);
            values.put("ratelimit.policies." + policy + ".key", CALLER);
        });
        ConfigProviderResolver.instance()
                .registerConfig(
                        new SmallRyeConfigBuilder()
                                .addDefaultInterceptors()
                                .withSources(new PropertiesConfigSource(values, "instance", 100))
                                .build(),
                        Thread.currentThread().getContextClassLoader());
        // The container lives as long as the process.
        @SuppressWarnings("resource")
        SeContainer container = SeContainerInitializer.newInstance()
                .addExtensions(new Surroundings(environment, events))
                .addBeanClasses(Resource.class)
                .initialize();
        Set<Class<?>> classes = new HashSet<>(Set.of(filters));
        classes.add(Resource.class);
        HttpServer server = server(classes);
        server.start();
        HttpInstance instance = new HttpInstance(
                new Calls(container.select(HostedWeir.class).get()),
                URI.create("http://localhost:" + server.getAddress().getPort() + "/"));
        for (int i = 0; i < FIRST_REQUESTS; i++) {
            instance.request(FIRST, CALLER);
        }
        return instance;
    }

    private static HttpServer server(Set<Class<?>> classes) {
        Application application = new Application() {
            @Override
            public Set<Class<?>> getClasses() {
                return classes;
            }
        };
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", RuntimeDelegate.getInstance().createEndpoint(application, HttpHandler.class));
            server.setExecutor(Executors.newCachedThreadPool());
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The clock of the limiter, the key of its callers and the observers of its events. */
    private record Surroundings(EngineEnvironment environment, Consumer<String> events) implements Extension {
        void add(@Observes AfterBeanDiscovery discovery) {
            discovery
                    .<EngineEnvironment>addBean()
                    .types(EngineEnvironment.class, Object.class)
                    .scope(Dependent.class)
                    .createWith(context -> environment);
            discovery
                    .<KeyResolver>addBean()
                    .types(KeyResolver.class, Object.class)
                    .qualifiers(NamedLiteral.of(CALLER), Any.Literal.INSTANCE)
                    .name(CALLER)
                    .scope(Dependent.class)
                    .createWith(
                            context -> (KeyResolver) call -> call.header(CALLER).map(Identity::of));
            discovery
                    .<QuotaThresholdReached>addObserverMethod()
                    .observedType(QuotaThresholdReached.class)
                    .notifyWith(context -> InstancePlatform.print(context.getEvent(), events));
            discovery
                    .<PenaltyImposed>addObserverMethod()
                    .observedType(PenaltyImposed.class)
                    .notifyWith(context -> InstancePlatform.print(context.getEvent(), events));
        }
    }

    /** The resource, to which path rules apply. */
    @Path("{policy}")
    @Dependent
    public static class Resource {
        /** Answers an allowed request. */
        @POST
        public String call() {
            return "allowed";
        }
    }

    private String execute(String... words) {
        if (Kind.valueOf(words[1]) != Kind.ACQUIRE || !requested.contains(words[2])) {
            return calls.run(words);
        }
        return request(words[2], words[3]);
    }

    /** Sends a request, which the client does not repeat by itself, because it is a POST. */
    private String request(String policy, String key) {
        HttpRequest request = HttpRequest.newBuilder(root.resolve(policy))
                .header(CALLER, key)
                .POST(BodyPublishers.noBody())
                .build();
        try {
            return result(client.send(request, BodyHandlers.ofString()));
        } catch (IOException e) {
            e.printStackTrace();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Outcome.BROKEN + " 0";
    }

    /** Returns what a response tells its client (responses.md). */
    private static String result(HttpResponse<String> response) {
        Optional<String> quota = response.headers().firstValue("RateLimit");
        String wait = response.headers()
                .firstValue("Retry-After")
                .filter(SECONDS.asMatchPredicate())
                .orElse("0");
        return switch (response.statusCode()) {
            case 200 ->
                quota.map(field -> Outcome.ALLOWED + " " + remaining(field)).orElse(Outcome.DEGRADED_ALLOWED + " 0");
            case 429 -> (response.body().contains(BLOCKED) ? Outcome.BLOCKED : Outcome.REJECTED) + " " + wait;
            case 503 -> Outcome.DEGRADED_REJECTED + " " + wait;
            default -> {
                System.err.println(response + ": " + response.body());
                yield Outcome.BROKEN + " 0";
            }
        };
    }

    private static String remaining(String field) {
        Matcher found = REMAINING.matcher(field);
        // A field without the parameter has a wrong number.
        return found.find() ? found.group(1) : "-1";
    }
}
