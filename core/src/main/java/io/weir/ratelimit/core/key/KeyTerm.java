// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A term of a key expression. It does not resolve if its text is blank, if it throws an exception, or if it returns null.
 *
 * <p>Calls for which no term resolves share one key, which nobody notices while few callers are active. It is therefore reported if a
 * term never resolves, and if a call has no request to which the term could refer. A call for which the term resolves costs one read.
 */
final class KeyTerm {
    /** The first evaluations. A term that has resolved once is not reported, because its callers can differ. */
    static final int FIRST = 100;

    /** The terms that only a request has. */
    private static final Set<KeyWord> OF_REQUEST = EnumSet.of(
            KeyWord.IP, KeyWord.PRINCIPAL, KeyWord.HEADER, KeyWord.COOKIE, KeyWord.QUERY, KeyWord.PATH, KeyWord.CLAIM);

    private final Optional<KeyWord> word;
    private final String name;
    private final KeyResolver resolver;
    private final Function<String, Identity> named;
    private final Source source;
    private final String place;
    private final Set<String> reported;
    private final boolean ofRequest;
    private final AtomicInteger missed = new AtomicInteger();
    private volatile boolean resolved;

    /** The text that alone determines the key of a call; null if none does. */
    record Source(Function<CallContext, @Nullable String> text, Function<String, Optional<Identity>> key) {
        static final Source NONE = new Source(call -> null, text -> Optional.empty());
    }

    /**
     * Creates a term of the key language, or without a word one of the application.
     *
     * @param name the name after the colon of the word, or the name of the resolver
     * @param named returns the key for a value that an operator enters; throws an {@link IllegalArgumentException} if there is none
     * @param source the text that alone determines the key; {@link Source#NONE} if there is none, or if it is a secret
     * @param place the property or the annotation of the expression; empty if nothing is reported
     * @param reported what was reported, also before a reload
     */
    KeyTerm(
            Optional<KeyWord> word,
            String name,
            KeyResolver resolver,
            Function<String, Identity> named,
            Source source,
            String place,
            Set<String> reported) {
        this.word = word;
        this.name = name;
        this.resolver = resolver;
        this.named = named;
        this.source = source;
        this.place = place;
        this.reported = reported;
        this.ofRequest = word.filter(OF_REQUEST::contains).isPresent();
    }

    Optional<KeyWord> word() {
        return word;
    }

    String name() {
        return name;
    }

    boolean is(KeyWord other) {
        return word.filter(other::equals).isPresent();
    }

    Identity named(String value) {
        return named.apply(value);
    }

    /** Returns the key of a text of {@link #source}. */
    Optional<Identity> ofSource(String text) {
        return source.key.apply(text);
    }

    /** Returns the text that alone determines the key. If the term fails, {@link #resolve} logs it. */
    @Nullable
    String source(CallContext call) {
        try {
            return source.text.apply(call);
        } catch (Exception | LinkageError | StackOverflowError e) {
            return null;
        }
    }

    /** Resolves the term. A failing term must neither fail the call nor exempt it from the limit. */
    Optional<Identity> resolve(CallContext call) {
        try {
            Optional<Identity> key = resolver.resolve(call);
            if (key != null) {
                return key;
            }
            warn("returned null", null);
        } catch (Exception | LinkageError | StackOverflowError e) {
            warn("failed", e);
        }
        return Optional.empty();
    }

    private void warn(String failure, @Nullable Throwable thrown) {
        if (reported.add(toString())) {
            MESSAGES.log(thrown, "WEIR-305", this, failure);
        }
    }

    void resolved() {
        if (!resolved) {
            resolved = true;
        }
    }

    /** Records that the term of a key did not resolve; if it is the last alternative, the call has the key anonymous. */
    void missed(CallContext call, boolean last) {
        if (last && ofRequest && call instanceof MethodCall method && !method.isInRequest()) {
            if (isFirst("thread")) {
                MESSAGES.log("WEIR-336", place, this, method.method().orElse(""));
            }
        } else if (is(KeyWord.CLAIM) && hasUser(call)) {
            if (neverResolves() && isFirst("claim")) {
                MESSAGES.log("WEIR-337.claim", place, this, FIRST);
            }
        } else if (last && neverResolves() && isFirst("key")) {
            MESSAGES.log("WEIR-337", place, this, FIRST);
        }
    }

    /** Records that the term of a tier did not resolve. A caller without a user can have no claim. */
    void missedTier(CallContext call) {
        if ((!is(KeyWord.CLAIM) || hasUser(call)) && neverResolves() && isFirst("tier")) {
            MESSAGES.log("WEIR-337.tier", place, this, FIRST);
        }
    }

    /** Tests whether the call has a user. A container can fail where its request is gone. */
    private static boolean hasUser(CallContext call) {
        try {
            return call.principal().isPresent();
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** Counts a call. Returns true for the last of the first calls, if the term has not resolved for any of them. */
    private boolean neverResolves() {
        return !resolved && missed.get() < FIRST && missed.incrementAndGet() == FIRST;
    }

    private boolean isFirst(String kind) {
        return !place.isEmpty() && reported.add(kind + ' ' + place);
    }

    @Override
    public String toString() {
        return word.map(known -> known.isNamed() ? known.text() + ":" + name : known.text())
                .orElse(name);
    }
}
