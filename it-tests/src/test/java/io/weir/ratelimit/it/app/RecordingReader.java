// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.MessageBodyReader;
import jakarta.ws.rs.ext.Provider;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** A message body reader that counts its reads. */
@Provider
public class RecordingReader implements MessageBodyReader<Recorded> {
    static final AtomicInteger READ = new AtomicInteger();

    @Override
    public boolean isReadable(Class<?> type, Type generic, Annotation[] annotations, MediaType media) {
        return type == Recorded.class;
    }

    @Override
    public Recorded readFrom(
            Class<Recorded> type,
            Type generic,
            Annotation[] annotations,
            MediaType media,
            MultivaluedMap<String, String> headers,
            InputStream entity)
            throws IOException {
        READ.incrementAndGet();
        return new Recorded(new String(entity.readAllBytes(), StandardCharsets.UTF_8));
    }
}
