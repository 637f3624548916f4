// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.policy.Problems;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.TierResolver;
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

/** The application's beans that resolve something and have a name, by which configuration knows them. */
final class NamedResolvers {
    private final BeanManager beans;
    private final Problems problems;

    NamedResolvers(BeanManager beans, Problems problems) {
        this.beans = beans;
        this.problems = problems;
    }

    /** The application's own terms of key expressions, without those whose name cannot be that of a term. */
    Map<String, KeyResolver> ofKeys() {
        return find(KeyResolver.class, this::isTerm);
    }

    /** What names the tiers of callers. */
    Map<String, TierResolver> ofTiers() {
        return find(TierResolver.class, (name, places) -> true);
    }

    private <T> Map<String, T> find(Class<T> type, BiPredicate<String, String> isRight) {
        Map<String, Set<Bean<?>>> byName = new TreeMap<>();
        for (Bean<?> bean : beans.getBeans(type, Any.Literal.INSTANCE)) {
            if (bean.getName() != null) {
                byName.computeIfAbsent(bean.getName(), name -> new LinkedHashSet<>())
                        .add(bean);
            }
        }
        Map<String, T> resolvers = new LinkedHashMap<>();
        byName.forEach((name, candidates) -> {
            if (isRight.test(name, places(candidates))) {
                chosen(type, name, candidates)
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
        if (!KeyTerms.isName(name)) {
            problems.add(
                    "WEIR-213",
                    places,
                    name,
                    "cannot be the name of a key term, which begins with a letter or _, goes on with A-Z a-z 0-9 _ . - and is none of "
                            + KeyTerms.FORMS,
                    "give the bean another name in @Named");
            return false;
        }
        return true;
    }

    private Optional<Bean<?>> chosen(Class<?> type, String name, Set<Bean<?>> candidates) {
        try {
            return Optional.ofNullable(beans.resolve(candidates));
        } catch (AmbiguousResolutionException e) {
            problems.add(
                    "WEIR-213",
                    places(candidates),
                    name,
                    "is the name of more than one " + type.getSimpleName() + " bean",
                    "give each a name of its own in @Named, or make one an alternative that is enabled");
            return Optional.empty();
        }
    }
}
