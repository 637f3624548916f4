// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;

/**
 * Documents what a client meets at each limited operation: the response 429 with {@code Retry-After}, the header fields that tell
 * quotas, on successful responses too, and the response 503 where a policy can refuse without its store. What an application
 * documents itself stays. Other operations are not touched, and no limit is told: limits change at run time.
 *
 * <p>Weir's own configuration names this class in {@code mp.openapi.filter}. An application that names a filter of its own there
 * calls this one from it:
 *
 * <pre>{@code
 * public class OwnFilter implements OASFilter {
 *     @Override
 *     public void filterOpenAPI(OpenAPI openApi) {
 *         new RateLimitOpenApiFilter().filterOpenAPI(openApi);
 *     }
 * }
 * }</pre>
 *
 * A second run changes nothing. A failure is logged (WEIR-312) and leaves the rest of the document as it is.
 */
public final class RateLimitOpenApiFilter implements OASFilter {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** For the server, and for filters of applications. */
    public RateLimitOpenApiFilter() {}

    /**
     * Documents the limits of the application at hand.
     *
     * @param openApi the whole document, complete but for what filters add
     */
    @Override
    public void filterOpenAPI(OpenAPI openApi) {
        try {
            RateLimitExtension deployed = CurrentApplication.extension();
            DeployedApplication application = deployed.application();
            new LimitedOperations(
                            deployed.operations(),
                            application.headers(),
                            (own, method, path) -> application.policies(own, method, RequestPath.of(path)))
                    .document(openApi);
        } catch (RuntimeException e) {
            MESSAGES.log(LOG, e, "WEIR-312");
        }
    }
}
