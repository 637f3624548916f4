// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.NotSslRecordException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.redisson.client.RedisTimeoutException;

/** Words for the cause of a failed connection. Messages of the client are not part of them, since they can contain keys and logins. */
final class ConnectionCause {
    /** The message of the client for a reply of another protocol. The first character of the reply follows. */
    private static final String UNKNOWN_REPLY = "Can't decode replay: ";

    /** The first byte of a TLS alert, with which a server of TLS answers a command. */
    private static final char TLS_ALERT = 0x15;

    /** The messages of the JDK for a certificate with other names or addresses. */
    private static final Pattern OTHER_HOST =
            Pattern.compile("^No (?:name|subject alternative .*?) ?matching (?:IP address )?(\\S+) found");

    private ConnectionCause() {}

    /** Returns the words for a failure of a connection, with or without TLS; empty if the cause is another one. */
    static Optional<String> of(Throwable failure, boolean tls) {
        Optional<String> words = Optional.empty();
        for (Throwable cause = failure; cause != null && words.isEmpty(); cause = cause.getCause()) {
            words = ofOne(cause, tls);
        }
        return words;
    }

    private static Optional<String> ofOne(Throwable cause, boolean tls) {
        if (cause instanceof UnknownHostException) {
            return Optional.of("the host is unknown");
        }
        if (cause instanceof NoRouteToHostException) {
            return Optional.of("there is no route to the host");
        }
        if (cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException)) {
            return Optional.of("connection refused");
        }
        if (cause instanceof SSLException) {
            return Optional.of("the TLS handshake failed, " + ofTls(cause));
        }
        if (cause instanceof TimeoutException
                || cause instanceof RedisTimeoutException
                || cause instanceof ConnectException) {
            return Optional.of(noAnswer(tls));
        }
        String message = cause.getMessage();
        return cause instanceof IllegalStateException && message != null && message.startsWith(UNKNOWN_REPLY)
                ? Optional.of(ofReply(message.substring(UNKNOWN_REPLY.length())))
                : Optional.empty();
    }

    /** Returns the words for a server that accepts connections and does not answer. */
    static String noAnswer(boolean tls) {
        return tls
                ? "the server did not answer; if it does not use TLS, the address must begin with redis://"
                : "the server did not answer";
    }

    private static String ofTls(Throwable failure) {
        if (failure instanceof NotSslRecordException) {
            return "since the server does not use TLS; its address must begin with redis://";
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateException) {
                Matcher other = OTHER_HOST.matcher(String.valueOf(cause.getMessage()));
                return other.find()
                        ? "since the certificate does not contain " + other.group(1)
                        : "since the certificate is not trusted";
            }
        }
        return failure.getClass().getSimpleName();
    }

    private static String ofReply(String reply) {
        return !reply.isEmpty() && reply.charAt(0) == TLS_ALERT
                ? "the server uses TLS; its address must begin with rediss://"
                : "the server does not answer as Redis does";
    }

    /** Returns the words for an error reply by its first word; empty if that says enough. */
    static Optional<String> ofErrorReply(String code, String reply) {
        String text = reply.toLowerCase(Locale.ROOT);
        return switch (code) {
            case "NOAUTH" -> Optional.of("a password is required");
            case "WRONGPASS" -> Optional.of("the user or the password is wrong");
            case "NOPERM" -> Optional.of("the user needs more rights");
            case "ERR" ->
                text.contains("without any password")
                        ? Optional.of("the server has no password")
                        : Optional.of("the server is not a node of a cluster")
                                .filter(words -> text.contains("cluster support disabled"));
            default -> Optional.empty();
        };
    }
}
