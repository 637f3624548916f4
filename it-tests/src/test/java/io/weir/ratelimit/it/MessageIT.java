// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limited message-driven beans with a transaction of the container: each message is handled or becomes a dead letter. */
@Tag("server")
@Tag("ci")
class MessageIT {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final List<String> QUEUES = List.of("limited", "calling", "patient");
    private static final String FEATURES = """
            <server><featureManager>
                <feature>enterpriseBeansLite-4.0</feature>
                <feature>mdb-4.0</feature>
                <feature>messagingClient-3.0</feature>
                <feature>messagingServer-3.0</feature>
            </featureManager>
            <jmsConnectionFactory jndiName="jms/factory"><properties.wasJms/></jmsConnectionFactory>
            <messagingEngine>%s</messagingEngine>
            %s</server>
            """;

    @TempDir
    private static Path temp;

    private static Server server;

    @BeforeAll
    static void start() {
        String destinations = QUEUES.stream().map(queue -> """
                        <queue id="%1$s" maxRedeliveryCount="3" exceptionDestination="dead-%1$s"/>
                        <queue id="dead-%1$s"/>
                        """.formatted(queue)).collect(Collectors.joining());
        String resources = QUEUES.stream()
                .map(queue -> """
                        <jmsQueue id="%1$s-queue" jndiName="jms/%1$s"><properties.wasJms queueName="%1$s"/></jmsQueue>
                        <jmsQueue jndiName="jms/dead-%1$s"><properties.wasJms queueName="dead-%1$s"/></jmsQueue>
                        <jmsActivationSpec id="weir-example-openliberty/%2$sConsumer">
                            <properties.wasJms destinationRef="%1$s-queue" maxConcurrency="1"/>
                        </jmsActivationSpec>
                        """.formatted(queue, queue.substring(0, 1).toUpperCase(Locale.ROOT) + queue.substring(1)))
                .collect(Collectors.joining());
        server = LibertyServer.named("messages-liberty")
                .serverXml(FEATURES.formatted(destinations, resources))
                .war(TestWar.written(TestWar.of("messages"), temp))
                .readyPath("api/queue")
                .start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    private static URI uri(String queue) {
        return server.baseUri().resolve("api/queue/" + queue);
    }

    @ParameterizedTest
    @ValueSource(strings = {"limited", "calling"})
    @Tag("field")
    void rejectedMessagesBecomeDeadLetters(String queue) {
        Http.post(URI.create(uri(queue) + "?messages=5"), "text/plain", "");
        Await.until(
                "handled, in the queue, dead letters",
                TIMEOUT,
                () -> Http.get(uri(queue)).body().equals("2 0 3"));
    }

    @Test
    @Tag("field")
    void messagesThatWaitForTheirPermitsAreAllHandled() {
        Http.post(URI.create(uri("patient") + "?messages=20"), "text/plain", "");
        Await.until(
                "handled, in the queue, dead letters",
                TIMEOUT,
                () -> Http.get(uri("patient")).body().equals("20 0 0"));
        assertThat(server.log()).contains("WEIR-001");
    }
}
