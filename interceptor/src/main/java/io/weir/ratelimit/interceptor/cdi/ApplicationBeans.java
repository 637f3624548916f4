// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.interceptor.telemetry.TelemetryApis;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import java.util.List;
import java.util.Optional;

/** The beans of the application and of the server that a deployment uses. */
final class ApplicationBeans implements TelemetryApis.Beans {
    private final BeanManager manager;
    private final Instance<Object> objects;

    ApplicationBeans(BeanManager manager, Instance<Object> objects) {
        this.manager = manager;
        this.objects = objects;
    }

    BeanManager manager() {
        return manager;
    }

    /** Returns all beans of a type, with any qualifier. */
    <T> List<T> all(Class<T> type) {
        return manager.createInstance().select(type, Any.Literal.INSTANCE).stream()
                .toList();
    }

    /** Finds an object that the server provides. */
    @Override
    public <T> Optional<T> find(Class<T> type) {
        Instance<T> found = objects.select(type);
        return found.isResolvable() ? Optional.of(found.get()) : Optional.empty();
    }

    /** Finds the bean that writes the bodies of rejections. Several beans are a problem. */
    Optional<RejectionResponder> responder(Problems problems) {
        List<RejectionResponder> found = all(RejectionResponder.class);
        if (found.size() > 1) {
            problems.add(MESSAGES.problem("WEIR-123", RejectionResponder.class.getSimpleName(), "", found.size()));
        }
        return found.stream().findFirst();
    }
}
