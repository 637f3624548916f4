// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.policy.MethodLimits;
import java.lang.reflect.Method;
import java.util.Optional;

/** Reads the limits of a method from its annotations. The host knows the annotations and where they apply. */
public interface MethodScanner {
    /** A scanner that finds no limited method. */
    MethodScanner NONE = new MethodScanner() {
        @Override
        public Optional<MethodLimits> scan(Class<?> beanClass, Method method) {
            return Optional.empty();
        }

        @Override
        public boolean isExempt(Class<?> beanClass, Method method) {
            return false;
        }
    };

    /**
     * Scans a method.
     *
     * @param beanClass the class of the bean, which can inherit the method
     * @return the limits, empty if the method is not limited
     */
    Optional<MethodLimits> scan(Class<?> beanClass, Method method);

    /**
     * Tests whether a method is exempt from all limits, also from those of path rules.
     *
     * @param beanClass the class of the bean, which can inherit the method
     * @return true if no limit applies
     */
    boolean isExempt(Class<?> beanClass, Method method);
}
