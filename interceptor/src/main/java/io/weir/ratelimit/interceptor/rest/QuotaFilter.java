// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.MultivaluedMap;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tells the client the quotas of the decision that was taken, whoever answers, and settles what waited for the outcome.
 *
 * <p>Response filters run in descending order: this one sees what the application's have made of the answer.
 */
@Priority(QuotaFilter.LAST)
public class QuotaFilter implements ContainerResponseFilter {
    static final int LAST = 100;

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final Set<String> missed = ConcurrentHashMap.newKeySet();
    private final LazyDeployed deployed = new LazyDeployed();

    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) {
        if (!(request.getProperty(RateLimitFilter.RECORD) instanceof RequestRecord record)) {
            return;
        }
        record.settle(response.getStatus() < 400);
        // An error answer can mean that the method was never called, for instance because an argument did not convert.
        if (response.getStatus() < 400) {
            record.pending().ifPresent(this::warnMissed);
        }
        QuotaFields quotas = deployed.get().fields();
        MultivaluedMap<String, Object> fields = response.getHeaders();
        record.last().ifPresent(decision -> {
            if (refuses(decision, response.getStatus())) {
                Refusals.complete(decision, fields);
            }
            if (isTold(decision, record, response.getStatus())) {
                quotas.write(view(decision, record, response.getStatus()), fields);
            }
        });
        Cors.expose(quotas.names(), fields);
    }

    /** Whether an answer can only be the one to a decision, whoever gave it. */
    private static boolean refuses(Decision decision, int status) {
        return !decision.allowed()
                && status == (decision instanceof Decision.Rejected ? TOO_MANY_REQUESTS : SERVICE_UNAVAILABLE);
    }

    /** An outage is no quota, also one that came after a decision of this request. */
    private static boolean isTold(Decision last, RequestRecord record, int status) {
        return !record.hidesQuotas()
                && !record.quotas().isEmpty()
                && status != SERVICE_UNAVAILABLE
                && !(last instanceof Decision.Degraded);
    }

    /** An application that catches a refusal may go on, and then its quotas are like any others. */
    private static QuotaView view(Decision last, RequestRecord record, int status) {
        return last instanceof Decision.Rejected rejected && status >= 400
                ? QuotaView.refused(rejected, QuotaView.now())
                : QuotaView.admitted(record.quotas(), QuotaView.now());
    }

    private void warnMissed(Binding binding) {
        if (missed.add(binding.endpoint())) {
            LOG.log(
                    Level.WARNING,
                    "WEIR-304 {0} ran unlimited: its key needs an argument, and no interceptor was called because its class is no "
                            + "bean or the method is private or final; said once",
                    binding.endpoint());
        }
    }
}
