// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** The provider of the page. The prompt selects the answer: an endless stream, a 429, or a short stream with its usage. */
@ApplicationScoped
@Path("provider")
public class ProviderResource {
    @Inject
    RateLimiter limiter;

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger aborted = new AtomicInteger();

    @POST
    public Response complete(String body) {
        JsonObject request = Json.createReader(new StringReader(body)).readObject();
        String prompt = request.getJsonArray("messages").getJsonObject(0).getString("content");
        calls.incrementAndGet();
        if (prompt.contains("busy")) {
            return Response.status(429)
                    .header("retry-after-ms", 99_500)
                    .header("x-ratelimit-remaining-requests", 12)
                    .header("x-ratelimit-reset-requests", "120ms")
                    .header("x-ratelimit-remaining-tokens", 0)
                    .header("x-ratelimit-reset-tokens", "1m30s")
                    .build();
        }
        StreamingOutput answer = prompt.contains("long") ? this::streamUntilAbort : ProviderResource::streamFive;
        return Response.ok(answer, "text/event-stream")
                .header("x-ratelimit-remaining-requests", 400)
                .header("x-ratelimit-reset-requests", "1h0m0s")
                .build();
    }

    private static void streamFive(OutputStream output) throws IOException {
        for (int i = 0; i < 5; i++) {
            send(output, "{\"choices\":[{\"delta\":{\"content\":\"word \"}}],\"usage\":null}");
        }
        send(output, "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5,\"total_tokens\":12}}");
        send(output, "[DONE]");
    }

    private void streamUntilAbort(OutputStream output) throws IOException {
        try {
            for (int i = 0; i < 1000; i++) {
                send(output, "{\"choices\":[{\"delta\":{\"content\":\"word \"}}],\"usage\":null}");
                sent.incrementAndGet();
                Thread.sleep(50);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            aborted.incrementAndGet();
            throw e;
        }
    }

    private static void send(OutputStream output, String data) throws IOException {
        output.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        output.flush();
    }

    /** Returns the calls, the events of endless streams, those streams that their client has aborted, and the remaining calls. */
    @GET
    public String counts() {
        long remaining = limiter.peek("model-requests", "model").get(0).remaining();
        return calls + " " + sent + " " + aborted + " " + remaining;
    }
}
