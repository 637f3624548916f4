// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.DecisionListener;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** An example of a plug-in with a property, a check, a listener and a task. */
final class AuditPlugin implements Plugin {
    static final String LEVEL = "ratelimit.audit.level";

    final AtomicInteger decisions = new AtomicInteger();
    final CountDownLatch written = new CountDownLatch(1);

    @Override
    public Set<String> properties() {
        return Set.of(LEVEL);
    }

    @Override
    public void prepare(Preparation preparation) {
        String level = preparation.config().get(LEVEL).value().orElse("all");
        if (!Set.of("all", "rejected").contains(level)) {
            preparation
                    .problems()
                    .add(new ConfigurationProblem(
                            "AUDIT-1", LEVEL, level, "the level is not known", "use all or rejected"));
        }
    }

    @Override
    public List<DecisionListener> listeners() {
        return List.of(event -> decisions.incrementAndGet());
    }

    @Override
    public List<Plugin.Task> tasks() {
        return List.of(new Plugin.Task() {
            @Override
            public Duration interval() {
                return Duration.ofMillis(1);
            }

            @Override
            public void run() {
                written.countDown();
            }
        });
    }
}
