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
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

/** The resolvers of the application by bean name. */
final class NamedResolvers {
    private final BeanManager beans;
    private final Problems problems;

    NamedResolvers(BeanManager beans, Problems problems) {
        this.beans = beans;
        this.problems = problems;
    }

    /** Returns the resolvers of a type. The name of a key resolver is a valid key term. */
    <T> Map<String, T> named(Class<T> type) {
        return find(type, type == KeyResolver.class ? this::isTerm : (name, places) -> true);
    }

    private <T> Map<String, T> find(Class<T> type, BiPredicate<String, String> isValid) {
        Map<String, Set<Bean<?>>> byName = new TreeMap<>();
        for (Bean<?> bean : beans.getBeans(type, Any.Literal.INSTANCE)) {
            if (bean.getName() != null) {
                byName.computeIfAbsent(bean.getName(), name -> new LinkedHashSet<>())
                        .add(bean);
            }
        }
        Map<String, T> resolvers = new LinkedHashMap<>();
        byName.forEach((name, candidates) -> {
            if (isValid.test(name, places(candidates))) {
                resolve(type, name, candidates)
                        .ifPresent(bean -> resolvers.put(
                                name, type.cast(beans.getReference(bean, type, beans.createCreationalContext(bean)))));
            }
        });
        return resolvers;
    }

    private static String places(Set<Bean<?>> candidates) {
        return candidates.stream()
                .map(bean -> bean.getBeanClass().getName())
                .sorted()
                .collect(Collectors.joining(" and "));
    }

    private boolean isTerm(String name, String places) {
        Optional<ConfigurationProblem> problem = KeyTerms.problemOf(name, places);
        problem.ifPresent(problems::add);
        return problem.isEmpty();
    }

    private Optional<Bean<?>> resolve(Class<?> type, String name, Set<Bean<?>> candidates) {
        try {
            return Optional.ofNullable(beans.resolve(candidates));
        } catch (AmbiguousResolutionException e) {
            problems.add(MESSAGES.problem("WEIR-213.ambiguous", places(candidates), name, type.getSimpleName()));
            return Optional.empty();
        }
    }
}
