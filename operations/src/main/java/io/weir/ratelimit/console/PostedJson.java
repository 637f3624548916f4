// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.runtime.HttpResource.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** The JSON body of a {@code POST} request from the page itself. A form of another site cannot send it. */
final class PostedJson {
    /** The greatest length of a body in bytes. */
    static final int MAX_BYTES = 8 * 1024;

    private static final Pattern TYPE =
            Pattern.compile("(?i)application/json[ \\t]*(;[ \\t]*charset[ \\t]*=[ \\t]*\"?utf-8\"?[ \\t]*)?");

    private PostedJson() {}

    /** Returns the fields of a request. */
    static Map<String, Object> of(Request request) throws RejectedException {
        if (!SameOrigin.matches(request.caller()::headerLines)) {
            throw new RejectedException(403, "The console accepts requests from its own page only.");
        }
        String type = request.caller().header("Content-Type").orElse("");
        if (!TYPE.matcher(type.strip()).matches()) {
            throw new RejectedException(415, "The body must be application/json in UTF-8.");
        }
        byte[] body = body(request);
        if (body.length > MAX_BYTES) {
            throw new RejectedException(413, "The body has more than " + MAX_BYTES + " bytes.");
        }
        try {
            return FlatJson.parse(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString());
        } catch (CharacterCodingException e) {
            throw new RejectedException(400, "The body is not UTF-8.");
        } catch (IllegalArgumentException e) {
            throw new RejectedException(400, String.valueOf(e.getMessage()));
        }
    }

    private static byte[] body(Request request) throws RejectedException {
        try {
            return request.body(MAX_BYTES + 1);
        } catch (IOException e) {
            // A client that closes the connection early is not an error of the server.
            throw new RejectedException(400, "The body is incomplete.");
        }
    }

    /** The exception for a rejected request. */
    static final class RejectedException extends Exception {
        private static final long serialVersionUID = 1;
        private final int status;
        private final transient Map<String, Object> more;

        RejectedException(int status, String message) {
            this(status, message, Map.of());
        }

        /** Creates an exception whose response has members in addition to the message. */
        RejectedException(int status, String message, Map<String, Object> more) {
            super(message, null, false, false);
            this.status = status;
            this.more = more;
        }

        /** Returns the response as a JSON object. */
        Map<String, Object> body() {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("message", String.valueOf(getMessage()));
            body.putAll(more);
            return body;
        }

        int status() {
            return status;
        }
    }
}
