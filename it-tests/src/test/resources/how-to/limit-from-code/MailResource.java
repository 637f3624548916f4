// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.time.Duration;

@RequestScoped
@Path("mail/{tenant}")
public class MailResource {
    @Inject
    MailSender sender;

    @PathParam("tenant")
    String tenant;

    /** Returns the seconds until another attempt, or {@code sent}. */
    @POST
    public String send() {
        return sender.send(tenant, () -> {}).map(Duration::toSeconds).map(String::valueOf).orElse("sent");
    }

    @POST
    @Path("failing")
    public String fail() {
        try {
            sender.send(tenant, () -> {
                throw new IllegalStateException("the mail server is away");
            });
            return "limited";
        } catch (IllegalStateException e) {
            return "failed";
        }
    }
}
