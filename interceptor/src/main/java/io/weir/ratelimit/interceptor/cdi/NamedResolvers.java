// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.inject.AmbiguousResolutionException;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The resolvers of the application by bean name. */
record NamedResolvers(BeanManager beans, Problems problems) {
    /** Returns the resolvers of a type. The name of a key resolver is a valid key term. */
    <T> Map<String, T> named(Class<T> type) {
        Map<String, Set<Bean<?>>> byName = beans.getBeans(type, Any.Literal.INSTANCE).stream()
                .filter(bean -> bean.getName() != null)
                .collect(Collectors.groupingBy(Bean::getName, TreeMap::new, Collectors.toSet()));
        Map<String, T> resolvers = new LinkedHashMap<>();
        byName.forEach((name, candidates) -> resolve(type, name, candidates)
                .ifPresent(bean -> resolvers.put(
                        name, type.cast(beans.getReference(bean, type, beans.createCreationalContext(bean))))));
        return resolvers;
    }

    private Optional<Bean<?>> resolve(Class<?> type, String name, Set<Bean<?>> candidates) {
        String places = candidates.stream()
                .map(bean -> bean.getBeanClass().getName())
                .sorted()
                .collect(Collectors.joining(" and "));
        Optional<ConfigurationProblem> invalid =
                type == KeyResolver.class ? KeyTerms.problemOf(name, places) : Optional.empty();
        if (invalid.isPresent()) {
            problems.add(invalid.get());
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(beans.resolve(candidates));
        } catch (AmbiguousResolutionException e) {
            problems.add(MESSAGES.problem("WEIR-213.ambiguous", places, name, type.getSimpleName()));
            return Optional.empty();
        }
    }
}
