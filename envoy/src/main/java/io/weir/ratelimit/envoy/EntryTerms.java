// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The key terms that are names of entries. In an application they are the names of key resolvers. The names in the configuration of the
 * start are known; a reload cannot add one.
 */
final class EntryTerms {
    private static final Pattern EXPRESSION = Pattern.compile("ratelimit\\.policies\\..+\\.(key|tier)");
    private static final Pattern SIGNS = Pattern.compile("[+|]");

    private EntryTerms() {}

    /** Returns a resolver for each name in the key expressions of a configuration. */
    static Map<String, KeyResolver> of(ConfigProperties config) {
        Map<String, KeyResolver> resolvers = new TreeMap<>();
        config.names().stream()
                .filter(name -> EXPRESSION.matcher(name).matches())
                .flatMap(name -> config.get(name).value().stream())
                .flatMap(SIGNS::splitAsStream)
                .map(String::strip)
                .filter(KeyTerms::isName)
                .forEach(name -> resolvers.put(name, resolver(name)));
        return resolvers;
    }

    private static KeyResolver resolver(String name) {
        return call -> call instanceof DescriptorCall descriptor
                ? descriptor.entry(name).filter(value -> !value.isBlank()).map(Identity::of)
                : Optional.empty();
    }
}
