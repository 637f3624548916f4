// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** What the page sends: small JSON, which no form of another site can send, from this origin. */
final class PostedJson {
    /** Bytes that a body may have. */
    static final int LONGEST = 8 * 1024;

    private static final Pattern TYPE =
            Pattern.compile("(?i)application/json[ \\t]*(;[ \\t]*charset[ \\t]*=[ \\t]*\"?utf-8\"?[ \\t]*)?");

    private PostedJson() {}

    /** The fields. */
    static Map<String, Object> of(HttpServletRequest request) throws Refused {
        if (!SameOrigin.sent(name -> values(request, name))) {
            throw new Refused(403, "Requests are taken from this page only, and not from other sites.");
        }
        String type = Optional.ofNullable(request.getContentType()).orElse("");
        if (!TYPE.matcher(type.strip()).matches()) {
            throw new Refused(415, "The body must be application/json in UTF-8.");
        }
        byte[] body = body(request);
        if (body.length > LONGEST) {
            throw new Refused(413, "The body has more than " + LONGEST + " bytes.");
        }
        try {
            return FlatJson.parse(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString());
        } catch (CharacterCodingException e) {
            throw new Refused(400, "The body is not UTF-8.");
        } catch (IllegalArgumentException e) {
            throw new Refused(400, String.valueOf(e.getMessage()));
        }
    }

    private static byte[] body(HttpServletRequest request) throws Refused {
        if (request.getContentLengthLong() > LONGEST) {
            return new byte[LONGEST + 1];
        }
        try {
            return request.getInputStream().readNBytes(LONGEST + 1);
        } catch (IOException e) {
            // A sender who goes away in the middle is no fault that a server should log.
            throw new Refused(400, "The body ended too soon.");
        }
    }

    private static List<String> values(HttpServletRequest request, String name) {
        return Collections.list(request.getHeaders(name));
    }

    /** A request that is not taken. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
        private final int status;

        Refused(int status, String message) {
            super(message, null, false, false);
            this.status = status;
        }

        int status() {
            return status;
        }
    }
}
