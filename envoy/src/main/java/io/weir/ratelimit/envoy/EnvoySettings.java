// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The settings of the server.
 *
 * @param socket the Unix domain socket in place of the port
 * @param allOrNothing whether the descriptors of a request are one decision
 * @param limitOverrides whether the limit of a descriptor replaces the limits of its policies
 * @param countsRejected whether the cost of a rejected request is charged where a permit remains
 * @param reflection whether the server describes its services
 * @param drain the time for which a server that stops still answers
 * @param stopTimeout the longest time that calls have to end
 */
record EnvoySettings(
        String address,
        int port,
        Optional<Path> socket,
        Optional<Tls> tls,
        boolean allOrNothing,
        boolean limitOverrides,
        boolean countsRejected,
        boolean reflection,
        Duration drain,
        Duration stopTimeout) {

    /**
     * The files of TLS in PEM form.
     *
     * @param clientCa the authorities of client certificates; empty if clients need none
     */
    record Tls(Path certificate, Path key, Optional<Path> clientCa) {}

    static EnvoySettings read(ConfigReader reader) {
        Optional<Path> socket = reader.optional(ConfigKeys.ENVOY_SOCKET).map(Path::of);
        socket.map(path -> path.toAbsolutePath().resolveSibling("."))
                .filter(folder -> !Files.isDirectory(folder))
                .ifPresent(path ->
                        reader.report(MESSAGES.problem("WEIR-702", ConfigKeys.ENVOY_SOCKET.name(), path.toString())));
        if (socket.isPresent()) {
            Stream.of(ConfigKeys.ENVOY_ADDRESS, ConfigKeys.ENVOY_PORT)
                    .map(ConfigKey::name)
                    .filter(reader::isReadable)
                    .forEach(name -> reader.text(name)
                            .ifPresent(value -> reader.report(MESSAGES.problem("WEIR-705", name, value))));
        }
        return new EnvoySettings(
                reader.value(ConfigKeys.ENVOY_ADDRESS),
                reader.value(ConfigKeys.ENVOY_PORT),
                socket,
                tls(reader),
                reader.value(ConfigKeys.ENVOY_ALL_OR_NOTHING),
                reader.value(ConfigKeys.ENVOY_LIMIT_OVERRIDES).equals("allow"),
                reader.value(ConfigKeys.ENVOY_OVER_LIMIT).equals("count"),
                reader.value(ConfigKeys.ENVOY_REFLECTION),
                reader.value(ConfigKeys.ENVOY_DRAIN),
                reader.value(ConfigKeys.ENVOY_STOP_TIMEOUT));
    }

    private static Optional<Tls> tls(ConfigReader reader) {
        Optional<Path> certificate = file(reader, ConfigKeys.ENVOY_CERTIFICATE);
        Optional<Path> key = file(reader, ConfigKeys.ENVOY_KEY);
        Optional<Path> clientCa = file(reader, ConfigKeys.ENVOY_CLIENT_CA);
        if (certificate.isPresent() && key.isPresent()) {
            return Optional.of(new Tls(certificate.get(), key.get(), clientCa));
        }
        if (certificate.isPresent() || key.isPresent() || clientCa.isPresent()) {
            ConfigKey<String> missing = certificate.isPresent() ? ConfigKeys.ENVOY_KEY : ConfigKeys.ENVOY_CERTIFICATE;
            reader.report(MESSAGES.problem("WEIR-703", missing.name(), ""));
        }
        return Optional.empty();
    }

    private static Optional<Path> file(ConfigReader reader, ConfigKey<String> key) {
        Optional<Path> file = reader.optional(key).map(Path::of);
        file.filter(path -> !Files.isReadable(path) || Files.isDirectory(path))
                .ifPresent(path -> reader.report(MESSAGES.problem("WEIR-701", key.name(), path.toString())));
        return file;
    }
}
