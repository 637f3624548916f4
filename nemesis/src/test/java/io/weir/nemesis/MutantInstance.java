// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import io.weir.nemesis.run.HttpInstance;
import io.weir.nemesis.run.Instance;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.HttpHeaders;
import java.io.IOException;
import java.util.List;

/** Instances that break a promise by their events or their responses. */
final class MutantInstance {
    private static final int OK = 200;
    private static final int TOO_MANY_REQUESTS = 429;

    private MutantInstance() {}

    /** An instance that fires each event twice. */
    static final class Repeating {
        private Repeating() {}

        public static void main(String[] properties) throws IOException {
            Instance.run(properties, events -> event -> {
                events.accept(event);
                events.accept(event);
            });
        }
    }

    /** An instance whose responses to rejected requests are those to allowed ones. */
    static final class Unlimited {
        private Unlimited() {}

        public static void main(String[] properties) throws IOException {
            HttpInstance.run(properties, Filter.class);
        }

        /** Changes the status. */
        @Priority(1)
        public static class Filter implements ContainerResponseFilter {
            @Override
            public void filter(ContainerRequestContext request, ContainerResponseContext response) {
                if (response.getStatus() == TOO_MANY_REQUESTS) {
                    response.setStatus(OK);
                }
            }
        }
    }

    /** An instance whose responses have no {@code Retry-After}. */
    static final class Waitless {
        private Waitless() {}

        public static void main(String[] properties) throws IOException {
            HttpInstance.run(properties, Filter.class);
        }

        /** Removes the field. */
        @Priority(1)
        public static class Filter implements ContainerResponseFilter {
            @Override
            public void filter(ContainerRequestContext request, ContainerResponseContext response) {
                response.getHeaders().remove(HttpHeaders.RETRY_AFTER);
            }
        }
    }

    /** An instance whose rejected callers come back too early. */
    static final class Hasty {
        private Hasty() {}

        public static void main(String[] properties) throws IOException {
            HttpInstance.run(properties, Filter.class);
        }

        /** Replaces the wait by the shortest one. */
        @Priority(1)
        public static class Filter implements ContainerResponseFilter {
            @Override
            public void filter(ContainerRequestContext request, ContainerResponseContext response) {
                response.getHeaders().computeIfPresent(HttpHeaders.RETRY_AFTER, (field, values) -> List.of("1"));
            }
        }
    }

    /** An instance that fires no event. */
    static final class Silent {
        private Silent() {}

        public static void main(String[] properties) throws IOException {
            Instance.run(properties, events -> event -> {});
        }
    }
}
