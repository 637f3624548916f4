// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.builder.item.SimpleBuildItem;
import java.util.List;

/** The classes of limited beans and of resources. */
final class LimitedBeansBuildItem extends SimpleBuildItem {
    private final List<String> classes;
    private final boolean usesLimiter;

    LimitedBeansBuildItem(List<String> classes, boolean usesLimiter) {
        this.classes = List.copyOf(classes);
        this.usesLimiter = usesLimiter;
    }

    List<String> classes() {
        return classes;
    }

    /** Returns whether a bean uses a limiter, for any policy. */
    boolean usesLimiter() {
        return usesLimiter;
    }
}
