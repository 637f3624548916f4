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
import io.envoyproxy.envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit;
import io.envoyproxy.envoy.extensions.filters.http.router.v3.Router;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
import io.envoyproxy.envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
import io.envoyproxy.envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.envoy.config.EnvoyConfigLayer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** The YAML of the pages for Envoy and Istio has the fields and types of the API of Envoy. */
class PagesTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern BLOCK = Pattern.compile("(?s)```yaml\n(.*?)```");
    private static final JsonFormat.Parser PARSER = JsonFormat.parser()
            .usingTypeRegistry(JsonFormat.TypeRegistry.newBuilder()
                    .add(List.of(
                            HttpConnectionManager.getDescriptor(),
                            LocalRateLimit.getDescriptor(),
                            Router.getDescriptor(),
                            HttpProtocolOptions.getDescriptor(),
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
        assertThat(blocks).hasSize(3);
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
        Path file = Files.writeString(folder.resolve("edge.yaml"), blocks.get(2));
        assertThat(new EnvoyConfigLayer()
                        .over(ConfigProperties.of(Map.of("ratelimit.envoy.config", file.toString())))
                        .problems())
                .isEmpty();
    }

    @Test
    void thePageAboutIstio() throws IOException {
        List<String> blocks = blocks("how-to/istio.md");
        assertThat(blocks).hasSize(1);
        List<?> patches = (List<?>) ((Map<?, ?>) yaml(blocks.get(0)).get("spec")).get("configPatches");
        assertThat(parsed(value(patches.get(0)), HttpFilter.newBuilder()).hasTypedConfig())
                .isTrue();
        assertThat(parsed(value(patches.get(1)), VirtualHost.newBuilder()).getRateLimitsCount())
                .isPositive();
    }

    private static Object value(Object patch) {
        return ((Map<?, ?>) ((Map<?, ?>) patch).get("patch")).get("value");
    }

    @Test
    void thePageAboutEdgeAndMesh() throws IOException {
        Bootstrap.Builder bootstrap =
                parsed(yaml(blocks("explanation/edge-and-mesh.md").get(0)), Bootstrap.newBuilder());
        assertThat(bootstrap.getStaticResources().getListenersCount()).isPositive();
    }
}
