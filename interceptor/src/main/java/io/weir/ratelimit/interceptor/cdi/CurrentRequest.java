// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.interceptor.engine.RequestRecord;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.RequestScoped;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Carries a request's record from the filter to interceptors on the same request. */
@RequestScoped
public class CurrentRequest {
    private @Nullable RequestRecord current;

    /**
     * Sets the record.
     *
     * @param started the record of the request that the filter sees
     */
    public void start(RequestRecord started) {
        current = started;
    }

    /** Whatever has no answer by now has failed: the scope of an asynchronous request ends no earlier than that request. */
    @PreDestroy
    void ended() {
        if (current != null) {
            current.settle(false);
        }
    }

    /**
     * The record of this request.
     *
     * @return empty where no filter has run, as on the threads of timers
     */
    public Optional<RequestRecord> record() {
        return Optional.ofNullable(current);
    }
}
