// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.policy.Problems;
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
import java.util.stream.Collectors;

/** The application's own terms of key expressions: the beans that resolve keys and have a name. */
final class NamedResolvers {
    private final BeanManager beans;
    private final Problems problems;

    NamedResolvers(BeanManager beans, Problems problems) {
        this.beans = beans;
        this.problems = problems;
    }

    /** The resolvers by name, without those whose name cannot be that of a term. */
    Map<String, KeyResolver> find() {
        Map<String, Set<Bean<?>>> byName = new TreeMap<>();
        for (Bean<?> bean : beans.getBeans(KeyResolver.class, Any.Literal.INSTANCE)) {
            if (bean.getName() != null) {
                byName.computeIfAbsent(bean.getName(), name -> new LinkedHashSet<>())
                        .add(bean);
            }
        }
        Map<String, KeyResolver> resolvers = new LinkedHashMap<>();
        byName.forEach((name, candidates) -> chosen(name, candidates)
                .ifPresent(bean -> resolvers.put(name, (KeyResolver)
                        beans.getReference(bean, KeyResolver.class, beans.createCreationalContext(bean)))));
        return resolvers;
    }

    private Optional<Bean<?>> chosen(String name, Set<Bean<?>> candidates) {
        String places = candidates.stream()
                .map(bean -> bean.getBeanClass().getName())
                .sorted()
                .collect(Collectors.joining(" and "));
        if (!KeyTerms.isName(name)) {
            problems.add(
                    "WEIR-213",
                    places,
                    name,
                    "cannot be the name of a key term, which begins with a letter or _, goes on with A-Z a-z 0-9 _ . - and is none of "
                            + KeyTerms.FORMS,
                    "give the bean another name in @Named");
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(beans.resolve(candidates));
        } catch (AmbiguousResolutionException e) {
            problems.add(
                    "WEIR-213",
                    places,
                    name,
                    "is the name of more than one KeyResolver bean",
                    "give each a name of its own in @Named, or make one an alternative that is enabled");
            return Optional.empty();
        }
    }
}
