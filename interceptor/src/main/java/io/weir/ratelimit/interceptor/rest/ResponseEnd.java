// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.request.RequestState;
import jakarta.ws.rs.container.ContainerResponseContext;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * The body of a response whose end ends its request. The body ends when the runtime closes it, also that of a stream of events, or when
 * the client has disconnected, so that a write fails.
 *
 * <p>Runtimes without the Servlet API need this. With the Servlet API, Jersey needs it too: after a client has disconnected from a stream
 * of events, it neither closes the body nor completes the asynchronous request. The bodies of other runtimes stay as they are, because they
 * can be written without blocking.
 */
final class ResponseEnd extends FilterOutputStream {
    private interface Output {
        void run() throws IOException;
    }

    private static final String JERSEY = "org.glassfish.jersey.";

    private final RequestState state;

    private ResponseEnd(OutputStream body, RequestState state) {
        super(body);
        this.state = state;
    }

    /** Ends a request that holds slots with its response, unless a listener of servlet requests ends it. */
    static void await(ContainerResponseContext response, RequestState state, boolean isListenedTo) {
        if (isListenedTo && !response.getClass().getName().startsWith(JERSEY)) {
            return;
        }
        if (response.hasEntity()) {
            state.awaitEnd();
            response.setEntityStream(new ResponseEnd(response.getEntityStream(), state));
        } else if (!isListenedTo) {
            state.end();
        }
    }

    @Override
    public void write(int value) throws IOException {
        endIfFailed(() -> out.write(value));
    }

    @Override
    public void write(byte[] bytes, int start, int length) throws IOException {
        endIfFailed(() -> out.write(bytes, start, length));
    }

    @Override
    public void flush() throws IOException {
        endIfFailed(out::flush);
    }

    private void endIfFailed(Output output) throws IOException {
        try {
            output.run();
        } catch (IOException e) {
            state.end();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            out.close();
        } finally {
            state.end();
        }
    }
}
