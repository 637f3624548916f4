// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.listed.LogKeeper;
import jakarta.enterprise.inject.spi.Extension;
import java.net.URI;
import java.net.URL;
import java.util.List;
import java.util.UUID;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications that list their classes and load no services, on each server. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ListedApplicationIT {
    private final String client = UUID.randomUUID().toString();

    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return TestWar.libraries("weir-listed.war")
                .addPackage(LogKeeper.class.getPackage())
                .addAsServiceProvider(Extension.class, LogKeeper.class)
                .addAsResource("listed/microprofile-config.properties", "META-INF/microprofile-config.properties");
    }

    private URI uri(String path) {
        return Http.loopback(base).resolve(path);
    }

    private List<String> logged() {
        return Http.get(uri("with/listed/log")).body().lines().toList();
    }

    @Tag("field")
    @ParameterizedTest
    @ValueSource(strings = {"annotated", "ruled"})
    void anApplicationThatListsTheFeatureIsLimited(String resource) {
        assertThat(Http.statuses(4, uri("with/listed/" + resource), "X-Client", client))
                .containsExactly(200, 200, 429, 429);
        assertThat(logged()).noneMatch(line -> line.contains("WEIR-024") && line.contains("ListedApplication"));
    }

    @Tag("field")
    @Test
    void anApplicationThatDoesNotListItIsAnErrorAtTheStart() {
        assertThat(logged())
                .filteredOn(line -> line.contains("WEIR-024 The REST application"))
                .singleElement()
                .asString()
                .contains("BareApplication", "jakarta.ws.rs.loadServices=false");
    }

    @Tag("field")
    @Test
    void aRequestWithoutLimitsIsAnError() {
        assertThat(Http.statuses(2, uri("without/listed/ruled"), "X-Client", client))
                .containsOnly(200);
        assertThat(PolicyClient.eventually(() -> logged().stream()
                        .anyMatch(line -> line.contains("WEIR-024 The servlet") && line.contains("without"))))
                .as(String.join("\n", logged()))
                .isTrue();
    }
}
