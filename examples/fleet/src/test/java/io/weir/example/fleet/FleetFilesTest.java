// SPDX-License-Identifier: Apache-2.0
package io.weir.example.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The files of the fleet for Compose and Kubernetes are valid by the schemas of both, and agree with each other. Nothing runs them. */
@Tag("ci")
class FleetFilesTest {
    private static final Map<String, Class<? extends HasMetadata>> KINDS = Map.of(
            "v1 Secret", Secret.class,
            "v1 Service", Service.class,
            "apps/v1 Deployment", Deployment.class,
            "monitoring.coreos.com/v1 ServiceMonitor", ServiceMonitor.class);

    /** Rejects names that the model does not have, which it would keep as additional properties. */
    private static final ObjectMapper STRICT = new ObjectMapper()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .setAnnotationIntrospector(new JacksonAnnotationIntrospector() {
                private static final long serialVersionUID = 1L;

                @Override
                public Boolean hasAnySetter(Annotated member) {
                    return false;
                }
            });

    private static List<JsonNode> documents(Path file) throws IOException {
        List<JsonNode> documents = new ArrayList<>();
        new Yaml().loadAll(Files.readString(file)).forEach(document -> documents.add(STRICT.valueToTree(document)));
        return documents;
    }

    private static JsonNode compose() throws IOException {
        return documents(Path.of("compose.yaml")).get(0);
    }

    private static <T extends HasMetadata> List<T> manifests(Class<T> type) throws IOException {
        List<T> manifests = new ArrayList<>();
        for (Path file : files("kubernetes")) {
            for (JsonNode document : documents(file)) {
                String kind = document.path("apiVersion").asText() + " "
                        + document.path("kind").asText();
                assertThat(KINDS).as("%s", file).containsKey(kind);
                HasMetadata manifest = STRICT.convertValue(document, KINDS.get(kind));
                if (type.isInstance(manifest)) {
                    manifests.add(type.cast(manifest));
                }
            }
        }
        return manifests;
    }

    private static List<Path> files(String folder) throws IOException {
        try (Stream<Path> files = Files.list(Path.of(folder))) {
            return files.sorted().toList();
        }
    }

    private static List<String> texts(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(JsonNode::asText)
                .toList();
    }

    private static Map<String, String> podLabels(Deployment deployment) {
        return deployment.getSpec().getTemplate().getMetadata().getLabels();
    }

    private static Container container(Deployment deployment) {
        return deployment.getSpec().getTemplate().getSpec().getContainers().get(0);
    }

    /** The schema is that of the Compose Specification (Apache-2.0), commit 170098b. */
    @Test
    void composeFileIsValid() throws IOException {
        ObjectNode schema = (ObjectNode) STRICT.readTree(FleetFilesTest.class.getResource("/compose-spec.json"));
        schema.remove("$id"); // the validator accepts no relative one
        assertThat(JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7)
                        .getSchema(schema)
                        .validate(compose()))
                .isEmpty();
    }

    @Test
    void filesThatComposeMountsExist() throws IOException {
        List<String> mounted = new ArrayList<>();
        compose()
                .path("services")
                .forEach(service -> texts(service.path("volumes"))
                        .forEach(volume -> mounted.add(volume.substring(0, volume.indexOf(':')))));
        assertThat(mounted)
                .hasSize(7)
                .filteredOn(file -> !file.startsWith("./target/"))
                .allSatisfy(file -> assertThat(Path.of(file)).exists());
    }

    @Test
    void bothInstancesAreServedAndScraped() throws IOException {
        List<String> instances = List.of("instance-1:9080", "instance-2:9080");
        assertThat(compose().path("services").fieldNames()).toIterable().contains("instance-1", "instance-2");
        assertThat(Files.readString(Path.of("nginx.conf")).lines().filter(line -> line.contains("server instance")))
                .extracting(String::strip)
                .containsExactlyElementsOf(instances.stream()
                        .map(instance -> "server " + instance + ";")
                        .toList());
        JsonNode job = documents(Path.of("prometheus.yml"))
                .get(0)
                .path("scrape_configs")
                .get(0);
        assertThat(texts(job.path("static_configs").get(0).path("targets"))).isEqualTo(instances);
    }

    @Test
    void manifestsHaveOnlyFieldsOfKubernetes() throws IOException {
        assertThat(manifests(HasMetadata.class))
                .extracting(HasMetadata::getKind)
                .containsExactlyInAnyOrder(
                        "Secret", "Deployment", "Service", "Deployment", "Service", "ServiceMonitor");
    }

    @Test
    void servicesSelectTheirPods() throws IOException {
        List<Deployment> deployments = manifests(Deployment.class);
        for (Deployment deployment : deployments) {
            assertThat(deployment.getSpec().getSelector().getMatchLabels()).isEqualTo(podLabels(deployment));
        }
        for (Service service : manifests(Service.class)) {
            Deployment deployment = deployments.stream()
                    .filter(other -> podLabels(other).equals(service.getSpec().getSelector()))
                    .findFirst()
                    .orElseThrow();
            assertThat(container(deployment).getPorts().get(0).getName())
                    .isEqualTo(
                            service.getSpec().getPorts().get(0).getTargetPort().getStrVal());
        }
        ServiceMonitor monitor = manifests(ServiceMonitor.class).get(0);
        assertThat(manifests(Service.class))
                .filteredOn(service -> monitor.getSpec()
                        .getSelector()
                        .getMatchLabels()
                        .equals(service.getMetadata().getLabels()))
                .flatExtracting(service -> service.getSpec().getPorts())
                .extracting(port -> port.getName())
                .containsExactly(monitor.getSpec().getEndpoints().get(0).getPort());
    }

    @Test
    void secretHasTheKeysThatContainersRead() throws IOException {
        Secret secret = manifests(Secret.class).get(0);
        List<String> read = manifests(Deployment.class).stream()
                .flatMap(deployment -> container(deployment).getEnv().stream())
                .map(variable -> variable.getValueFrom().getSecretKeyRef())
                .filter(reference ->
                        reference.getName().equals(secret.getMetadata().getName()))
                .map(reference -> reference.getKey())
                .toList();
        assertThat(read)
                .containsExactlyInAnyOrderElementsOf(secret.getStringData().keySet());
        assertThat(secret.getStringData().get("address"))
                .contains(":" + secret.getStringData().get("password") + "@");
    }
}
