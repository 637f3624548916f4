// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** Redis in a container, of an image that is there. */
final class DockerRedis {
    private static final String SOCKET = "unix://";
    private static final int PORT = 6379;
    private static final long ANSWER_SECONDS = 2;
    private static final long START_SECONDS = 30;

    private DockerRedis() {}

    /** Why there is no such container to be had, if so. Asks Docker itself, because Testcontainers would ask for long. */
    static Optional<String> missing(String image) {
        String host = Optional.ofNullable(System.getenv("DOCKER_HOST")).orElse(SOCKET + "/var/run/docker.sock");
        if (!host.startsWith(SOCKET)) {
            return Optional.of("Docker is not on a local socket");
        }
        return missing(Path.of(host.substring(SOCKET.length())), image);
    }

    static Optional<String> missing(Path socket, String image) {
        if (!Files.exists(socket)) {
            return Optional.of("Docker is not there");
        }
        try {
            String status = CompletableFuture.supplyAsync(
                            () -> status(socket, "/images/" + image + "/json"), DockerRedis::onThreadOfItsOwn)
                    .get(ANSWER_SECONDS, TimeUnit.SECONDS);
            return status.startsWith("HTTP/1.1 200")
                    ? Optional.empty()
                    : Optional.of("Docker has no image " + image + " (" + status + ")");
        } catch (TimeoutException | ExecutionException e) {
            return Optional.of("Docker does not answer");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted while asking Docker");
        }
    }

    /** What waits keeps its thread: from Java 25 on the common pool may have but one, and the next task waits behind it. */
    static void onThreadOfItsOwn(Runnable task) {
        Thread thread = new Thread(task, "docker");
        thread.setDaemon(true);
        thread.start();
    }

    private static String status(Path socket, String path) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            channel.write(ByteBuffer.wrap(("GET " + path + " HTTP/1.1\r\nHost: docker\r\n\r\n").getBytes(UTF_8)));
            ByteBuffer head = ByteBuffer.allocate(64);
            channel.read(head);
            return new String(head.array(), 0, head.position(), UTF_8)
                    .lines()
                    .findFirst()
                    .orElse("no answer");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Starts a container, which ends with the JVM, and answers its address.
     *
     * @throws IllegalStateException if it does not start in time
     */
    static String started(String image) {
        try {
            return CompletableFuture.supplyAsync(() -> start(image), DockerRedis::onThreadOfItsOwn)
                    .get(START_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException("the image " + image + " does not start in Docker", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting " + image, e);
        }
    }

    private static String start(String image) {
        GenericContainer<?> container = new GenericContainer<>(
                        DockerImageName.parse(image).asCompatibleSubstituteFor("redis"))
                .withExposedPorts(PORT)
                .withImagePullPolicy(any -> false);
        container.start();
        return "redis://" + container.getHost() + ":" + container.getMappedPort(PORT);
    }
}
