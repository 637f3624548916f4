// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;

/** A responder that writes CSV, and fails for YAML. */
@ApplicationScoped
public class CsvResponder implements RejectionResponder {
    @Override
    public Optional<Body> respond(Rejection rejection) {
        if (rejection.acceptedMediaTypes().contains("application/yaml")) {
            throw new IllegalStateException("on purpose");
        }
        return rejection.acceptedMediaTypes().contains("text/csv")
                ? Optional.of(new Body(
                        "text/csv",
                        rejection.endpoint() + ","
                                + rejection.retryAfterSeconds().getAsLong()))
                : Optional.empty();
    }
}
