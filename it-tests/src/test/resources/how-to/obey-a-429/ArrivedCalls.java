// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.ext.Provider;

/** Reports each call of a client before it is limited. */
@Provider
@PreMatching
@ApplicationScoped
public class ArrivedCalls implements ContainerRequestFilter {
    @Inject
    OfferResource offers;

    @Override
    public void filter(ContainerRequestContext request) {
        String key = request.getHeaderString("X-Api-Key");
        if (key != null) {
            offers.arrived(key, request.getUriInfo().getPath().replace("/", ""));
        }
    }
}
