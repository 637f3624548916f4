// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.runtime.HostedWeir;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;

/**
 * An OpenAPI filter that documents the responses of limited operations.
 *
 * <p>It adds the response 429 with {@code Retry-After}, and the header fields with quotas, also to successful responses. If a failure
 * mode can reject calls, it adds the response 503. Existing documentation does not change. The document contains no limits, because
 * they can change at run time.
 *
 * <p>The configuration of this library sets this class as {@code mp.openapi.filter}. An application with its own filter calls this one
 * from it:
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
 * A second run changes nothing. A failure is logged (WEIR-312), and the rest of the document does not change.
 */
public final class RateLimitOpenApiFilter implements OASFilter {
    /** Documents the limited operations of the current application in a document without the changes of filters. */
    @Override
    public void filterOpenAPI(OpenAPI openApi) {
        try {
            RateLimitExtension deployed = CurrentApplication.extension();
            HostedWeir weir = deployed.application().weir();
            new LimitedOperations(deployed.operations(), weir.settings().headers(), weir.policies()::policies)
                    .document(openApi);
            CurrentApplication.quotaPath().ifPresent(path -> new QuotaOperation(path).addTo(openApi));
        } catch (RuntimeException e) {
            MESSAGES.log(e, "WEIR-312");
        }
    }
}
