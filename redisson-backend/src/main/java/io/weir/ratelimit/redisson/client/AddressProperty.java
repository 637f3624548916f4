// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The property {@code ratelimit.redis.address}: a text, or a list of a file format, whose elements are {@code address[0]} (SmallRye
 * Config), {@code address.[0]} (its first versions) or {@code address.0} (Helidon Config). As for other lists, the text applies unless an
 * element has a higher ordinal. Several sources are named only if a list's elements come from them.
 */
public record AddressProperty(Optional<String> value, List<String> sources) {
    static final String NAME = "ratelimit.redis.address";

    /** A source can return a value for each name. */
    private static final int MAX_NODES = 1_000;

    public static AddressProperty of(RedisProperties config) {
        Optional<String> text = config.get(NAME).map(String::strip);
        List<String> elements = elements(config);
        if (elements.isEmpty()) {
            return new AddressProperty(text, List.of());
        }
        if (text.isPresent()) {
            int ordinal = config.ordinal(NAME);
            if (elements.stream().allMatch(element -> config.ordinal(element) <= ordinal)) {
                // SmallRye Config adds the list as a text, with a backslash before each comma of an element.
                return new AddressProperty(text.map(list -> list.replace("\\,", ",")), List.of());
            }
        }
        List<String> sources =
                elements.stream().map(config::source).distinct().sorted().toList();
        String list = elements.stream()
                .map(element -> config.get(element).orElseThrow())
                .collect(Collectors.joining(","));
        return new AddressProperty(Optional.of(list), sources.size() > 1 ? sources : List.of());
    }

    /** Returns the names of the elements. */
    private static List<String> elements(RedisProperties config) {
        // The digits of %d are those of the default locale.
        return Stream.of("[%s]", ".%s", ".[%s]")
                .map(form -> IntStream.range(0, MAX_NODES)
                        .mapToObj(position -> NAME + form.formatted(position))
                        .takeWhile(name -> config.get(name).isPresent())
                        .toList())
                .filter(names -> !names.isEmpty())
                .findFirst()
                .orElse(List.of());
    }

    public boolean isPresent() {
        return value.isPresent();
    }

    /** Reads the servers. Returns none if there is a problem. */
    Optional<RedisServers> servers(List<ConfigurationProblem> problems) {
        if (!sources.isEmpty()) {
            String masked = value.map(RedisAddress::masked).orElse("");
            problems.add(MESSAGES.problem("WEIR-403.sources", NAME, masked, String.join(", ", sources)));
            return Optional.empty();
        }
        return value.flatMap(text -> RedisServers.read(text, NAME, problems));
    }
}
