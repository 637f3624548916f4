// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.Policy;
import java.lang.reflect.Method;

/**
 * A limited method of a bean.
 *
 * @param endIsKnown whether the end of an asynchronous result is known, because requests call the method or its host observes the result
 */
public record LimitedMethod(Class<?> beanClass, Method method, MethodLimits limits, boolean endIsKnown) {
    /** Returns a method whose host observes the result. */
    public LimitedMethod withKnownEnd() {
        return new LimitedMethod(beanClass, method, limits, true);
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
