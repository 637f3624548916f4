// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.spi.CallContext;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether a term of an expression resolves.
 *
 * <p>Calls for which no term resolves share one key, which nobody notices while few callers are active. It is therefore reported if a
 * term never resolves, and if a call has no request to which the term could refer. A call for which the term resolves costs one read.
 */
final class TermUse {
    /** The first evaluations. A term that has resolved once is not reported, because its callers can differ. */
    static final int FIRST = 100;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** The terms that only a request has. */
    private static final Set<KeyWord> OF_REQUEST = EnumSet.of(
            KeyWord.IP, KeyWord.PRINCIPAL, KeyWord.HEADER, KeyWord.COOKIE, KeyWord.QUERY, KeyWord.PATH, KeyWord.CLAIM);

    private final String place;
    private final String term;
    private final boolean ofRequest;
    private final boolean ofUser;
    private final Set<String> reported;
    private final AtomicInteger missed = new AtomicInteger();
    private volatile boolean resolved;

    /**
     * Creates the use of a term.
     *
     * @param place the property or the annotation of the expression; empty if nothing is reported
     * @param reported what was reported, also before a reload
     */
    TermUse(String place, String term, Optional<KeyWord> word, Set<String> reported) {
        this.place = place;
        this.term = term;
        this.ofRequest = word.filter(OF_REQUEST::contains).isPresent();
        this.ofUser = word.filter(KeyWord.CLAIM::equals).isPresent();
        this.reported = reported;
    }

    /** Records that the term resolved. */
    void resolved() {
        if (!resolved) {
            resolved = true;
        }
    }

    /**
     * Records that the term of a key did not resolve.
     *
     * @param last whether no alternative follows, so that the call has the key anonymous
     */
    void missed(CallContext call, boolean last) {
        if (last && ofRequest && call instanceof MethodCall method && !method.isInRequest()) {
            if (isFirst("thread")) {
                MESSAGES.log(LOG, "WEIR-336", place, term, method.method().orElse(""));
            }
        } else if (ofUser && hasUser(call)) {
            if (neverResolves() && isFirst("claim")) {
                MESSAGES.log(LOG, "WEIR-337.claim", place, term, FIRST);
            }
        } else if (last && neverResolves() && isFirst("key")) {
            MESSAGES.log(LOG, "WEIR-337", place, term, FIRST);
        }
    }

    /** Records that the term of a tier did not resolve. A caller without a user can have no claim. */
    void missedTier(CallContext call) {
        if ((!ofUser || hasUser(call)) && neverResolves() && isFirst("tier")) {
            MESSAGES.log(LOG, "WEIR-337.tier", place, term, FIRST);
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
}
