// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The limited methods that a host knows; the scanner reads the annotations of others at their first call. The asynchronous methods of
 * managed classes can wait without a thread.
 */
public record AnnotatedMethods(List<Limited> methods, Scanner scanner, Set<Class<?>> managed) {
    public static final AnnotatedMethods NONE = new AnnotatedMethods(List.of(), Scanner.NONE, Set.of());

    public AnnotatedMethods {
        methods = List.copyOf(methods);
        managed = Set.copyOf(managed);
    }

    /**
     * A limited method of a bean. The end of an asynchronous result is known if requests call the method or its host observes the result.
     */
    public record Limited(Class<?> beanClass, Method method, MethodLimits limits, boolean endIsKnown) {
        /** Returns a method whose host observes the result. */
        public Limited withKnownEnd() {
            return new Limited(beanClass, method, limits, true);
        }

        /** Checks that the annotations of the method let a limit have an effect. */
        public void check(Problems problems) {
            ResultCheck.checkThread(beanClass, method, problems);
            ResultCheck.checkChannel(beanClass, method, problems);
        }

        /** Checks that the method can be under a policy: it names the arguments of the key, the policy is not early, and knows the end of the call. */
        public void check(Policy policy, Problems problems) {
            NamedArguments.check(beanClass, method, policy, problems);
            ResultCheck.checkEnd(this, policy, problems);
            if (policy.isEarly()) {
                problems.add(MESSAGES.problem("WEIR-214", beanClass.getName() + "." + method.getName(), policy.name()));
            }
        }
    }

    /** Reads the limits of a method from its annotations. The host knows the annotations and where they apply. */
    public interface Scanner {
        /** A scanner that finds no limited method. */
        Scanner NONE = (beanClass, method) -> Optional.empty();

        /** Returns the limits of a method, empty if it is not limited. The class is that of the bean, which can inherit the method. */
        Optional<MethodLimits> scan(Class<?> beanClass, Method method);

        /**
         * Tests whether a method is exempt from all limits, also from those of path rules.
         *
         * @param beanClass the class of the bean, which can inherit the method
         * @return true if no limit applies
         */
        default boolean isExempt(Class<?> beanClass, Method method) {
            return false;
        }
    }
}
