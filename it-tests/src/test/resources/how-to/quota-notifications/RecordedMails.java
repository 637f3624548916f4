// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the mails that an application would send. */
@ApplicationScoped
@Path("mails")
public class RecordedMails implements Mails {
    private final List<String> sent = new CopyOnWriteArrayList<>();

    @Override
    public void send(String customer, String text) {
        sent.add(customer + ": " + text);
    }

    @GET
    public String sent() {
        return String.join("\n", sent);
    }
}
