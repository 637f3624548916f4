// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.rest;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** A response of a REST runtime in the JVM. */
public record RestResponse(HttpRequest request, RestAdapter.Reply reply) implements HttpResponse<String> {
    @Override
    public int statusCode() {
        return reply.status();
    }

    @Override
    public HttpHeaders headers() {
        return HttpHeaders.of(reply.fields(), (name, value) -> true);
    }

    @Override
    public String body() {
        return reply.body();
    }

    @Override
    public Optional<HttpResponse<String>> previousResponse() {
        return Optional.empty();
    }

    @Override
    public Optional<SSLSession> sslSession() {
        return Optional.empty();
    }

    @Override
    public URI uri() {
        return request.uri();
    }

    @Override
    public HttpClient.Version version() {
        return HttpClient.Version.HTTP_1_1;
    }

    /** Returns the status, the header fields and the body. */
    @Override
    public String toString() {
        return request.method() + " " + request.uri() + " " + reply.status() + " " + reply.fields() + "\n" + body();
    }
}
