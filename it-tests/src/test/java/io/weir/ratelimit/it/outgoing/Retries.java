// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.outgoing;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.faulttolerance.Retry;

@ApplicationScoped
public class Retries {
    @Retry(maxRetries = 30, delay = 0, jitter = 0)
    public String call(RetriedPartner partner, String account) {
        return partner.failing(account);
    }
}
