// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.config.bootstrap.v3.Bootstrap;
import io.envoyproxy.envoy.config.cluster.v3.Cluster;
import io.envoyproxy.envoy.config.route.v3.RateLimit;
import io.envoyproxy.envoy.config.route.v3.VirtualHost;
import io.envoyproxy.envoy.extensions.filters.http.header_mutation.v3.HeaderMutation;
import io.envoyproxy.envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit;
import io.envoyproxy.envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings;
import io.envoyproxy.envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig;
import io.envoyproxy.envoy.extensions.filters.http.router.v3.Router;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.envoy.config.EnvoyConfigLayer;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** The YAML of the pages for Envoy and Istio has the fields and types of the API of Envoy. */
class PagesTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern BLOCK = Pattern.compile("(?s)```yaml\n(.*?)\n *```");
    private static final JsonFormat.Parser PARSER = JsonFormat.parser()
            .usingTypeRegistry(JsonFormat.TypeRegistry.newBuilder()
                    .add(List.of(
                            HttpConnectionManager.getDescriptor(),
                            LocalRateLimit.getDescriptor(),
                            Router.getDescriptor(),
                            HttpProtocolOptions.getDescriptor(),
                            HeaderMutation.getDescriptor(),
                            RateLimitQuotaFilterConfig.getDescriptor(),
                            RateLimitQuotaBucketSettings.getDescriptor(),
                            io.envoyproxy.envoy.extensions.filters.http.ratelimit.v3.RateLimit.getDescriptor()))
                    .build());

    @TempDir
    private Path folder;

    private static List<String> blocks(String page) throws IOException {
        return BLOCK.matcher(Files.readString(DOCS.resolve(page)))
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    private static Map<?, ?> yaml(String text) {
        return (Map<?, ?>) new Yaml().load(text);
    }

    private static <T extends Message.Builder> T parsed(Object yaml, T builder) throws IOException {
        PARSER.merge(new Gson().toJson(yaml), builder);
        return builder;
    }

    @Test
    void thePageAboutEnvoy() throws IOException {
        List<String> blocks = blocks("how-to/envoy.md");
        assertThat(blocks).hasSize(5);
        List<String> keys = new ArrayList<>();
        for (Object limit : (List<?>) yaml(blocks.get(0)).get("rate_limits")) {
            parsed(limit, RateLimit.newBuilder()).getActionsList().forEach(action -> {
                keys.add(action.getGenericKey().getDescriptorKey());
                keys.add(action.getRequestHeaders().getDescriptorKey());
            });
        }
        assertThat(keys).contains("policy", "header:X-Api-Key");
        Map<?, ?> proxy = yaml(blocks.get(1));
        for (Object filter : (List<?>) proxy.get("http_filters")) {
            assertThat(parsed(filter, HttpFilter.newBuilder()).hasTypedConfig()).isTrue();
        }
        for (Object cluster : (List<?>) proxy.get("clusters")) {
            assertThat(parsed(cluster, Cluster.newBuilder()).getHealthChecks(0).hasGrpcHealthCheck())
                    .isTrue();
        }
        for (String block : blocks.subList(2, 4)) {
            for (Object filter : (List<?>) yaml(block.stripIndent()).get("http_filters")) {
                assertThat(parsed(filter, HttpFilter.newBuilder()).hasTypedConfig())
                        .isTrue();
            }
        }
        Path file = Files.writeString(folder.resolve("edge.yaml"), blocks.get(4));
        assertThat(new EnvoyConfigLayer()
                        .over(ConfigProperties.of(Map.of("ratelimit.envoy.config", file.toString())))
                        .problems())
                .isEmpty();
    }

    @Test
    void thePageAboutIstio() throws IOException {
        List<String> blocks = blocks("how-to/istio.md");
        assertThat(blocks).hasSize(1);
        assertThat(parsed(patch(0), HttpFilter.newBuilder()).hasTypedConfig()).isTrue();
        assertThat(parsed(patch(1), VirtualHost.newBuilder()).getRateLimitsCount())
                .isPositive();
    }

    /** Returns the value of a patch of the page about Istio. */
    private static Object patch(int index) throws IOException {
        Map<?, ?> spec = (Map<?, ?>) yaml(blocks("how-to/istio.md").get(0)).get("spec");
        Map<?, ?> patch = (Map<?, ?>) ((List<?>) spec.get("configPatches")).get(index);
        return ((Map<?, ?>) patch.get("patch")).get("value");
    }

    @Tag("field")
    @Test
    void aRequestWithoutAHeaderFieldHasItsDescriptor() throws IOException {
        List<RateLimit> limits = new ArrayList<>(
                parsed(patch(1), VirtualHost.newBuilder()).build().getRateLimitsList());
        for (Object limit : (List<?>) yaml(blocks("how-to/envoy.md").get(0)).get("rate_limits")) {
            limits.add(parsed(limit, RateLimit.newBuilder()).build());
        }
        assertThat(limits.stream()
                        .flatMap(limit -> limit.getActionsList().stream())
                        .filter(RateLimit.Action::hasRequestHeaders))
                .hasSize(2)
                .allMatch(action -> action.getRequestHeaders().getSkipIfAbsent());
    }

    @Test
    void theBucketOfThePageHasAKey() throws Exception {
        Map<?, ?> filters = yaml(blocks("how-to/envoy.md").get(3));
        RateLimitQuotaFilterConfig filter = parsed(
                        ((List<?>) filters.get("http_filters")).get(0), HttpFilter.newBuilder())
                .getTypedConfig()
                .unpack(RateLimitQuotaFilterConfig.class);
        Map<String, String> bucket = new HashMap<>();
        filter.getBucketMatchers()
                .getOnNoMatch()
                .getAction()
                .getTypedConfig()
                .unpack(RateLimitQuotaBucketSettings.class)
                .getBucketIdBuilder()
                .getBucketIdBuilderMap()
                .forEach((name, value) -> bucket.put(name, value.getStringValue()));
        try (TestServer server = TestServer.cold(policiesOfThePageAboutEnvoy())) {
            Policy policy = server.server().weir().policies().policies().get(bucket.get("policy"));
            assertThat(policy.key().resolve(new DescriptorCall(bucket))).isNotEqualTo(Identity.ANONYMOUS);
        }
    }

    private static Map<String, String> policiesOfThePageAboutEnvoy() throws IOException {
        return Files.readString(DOCS.resolve("how-to/envoy.md"))
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("ratelimit.policies."))
                .map(line -> line.split("=", 2))
                .collect(Collectors.toMap(property -> property[0], property -> property[1]));
    }

    @Test
    void theExampleHasTwoInstancesBehindOneProxy() throws Exception {
        Path example = Path.of("..", "examples", "envoy");
        Map<?, ?> services = (Map<?, ?>)
                yaml(Files.readString(example.resolve("compose.yaml"))).get("services");
        assertThat(services.keySet()).hasToString("[redis, weir-1, weir-2, envoy]");
        for (Object service : services.values()) {
            for (String file : files((Map<?, ?>) service)) {
                Path path = example.resolve(file);
                assertThat(file.endsWith(".jar") || Files.isReadable(path))
                        .as(file)
                        .isTrue();
            }
        }
        Cluster cluster = parsed(yaml(Files.readString(example.resolve("envoy.yaml"))), Bootstrap.newBuilder())
                .getStaticResources()
                .getClusters(0);
        cluster.getLoadAssignment()
                .getEndpoints(0)
                .getLbEndpointsList()
                .forEach(endpoint -> assertThat(services.containsKey(endpoint.getEndpoint()
                                .getAddress()
                                .getSocketAddress()
                                .getAddress()))
                        .isTrue());
        TestServer.cold(properties(example.resolve("edge.properties"))).close();
    }

    private static Map<String, String> properties(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return properties.stringPropertyNames().stream()
                .collect(Collectors.toMap(name -> name, properties::getProperty));
    }

    private static List<String> files(Map<?, ?> service) {
        Object volumes = service.get("volumes");
        return volumes == null
                ? List.of()
                : ((List<?>) volumes)
                        .stream().map(volume -> ((String) volume).split(":")[0]).toList();
    }

    @Test
    void thePageAboutEdgeAndMesh() throws IOException {
        Bootstrap.Builder bootstrap =
                parsed(yaml(blocks("explanation/edge-and-mesh.md").get(0)), Bootstrap.newBuilder());
        assertThat(bootstrap.getStaticResources().getListenersCount()).isPositive();
    }
}
