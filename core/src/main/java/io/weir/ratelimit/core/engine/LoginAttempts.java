// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The requests of addresses to paths on which Weir itself asks the server to authenticate, limited in process. Such a path must not be a
 * place to guess passwords.
 */
public final class LoginAttempts {
    /** The permits of one address per minute and instance. */
    static final int PER_MINUTE = 60;

    /** The permits of a rejected login. */
    static final int PER_REJECTED_LOGIN = 10;

    private static final PolicyLimits ATTEMPTS =
            new PolicyLimits("+quota", List.of(Limit.of(Algorithm.TOKEN_BUCKET, PER_MINUTE, Duration.ofMinutes(1))));

    private final Function<CallContext, Identity> addresses;
    private final IdentityEncoder encoder;
    private final RateLimitBackend local;

    /**
     * Creates a limit without any attempts.
     *
     * @param addresses returns the key of the address of a caller
     * @param encoder encodes keys as stored keys
     * @param local counts in process
     */
    public LoginAttempts(Function<CallContext, Identity> addresses, IdentityEncoder encoder, RateLimitBackend local) {
        this.addresses = addresses;
        this.encoder = encoder;
        this.local = local;
    }

    /**
     * Counts a login as rejected, because its result is not known yet. So logins at once do not pass the limit.
     *
     * @return the rejection if the address has too many rejected logins, or too many logins at once; else empty
     */
    public Optional<Decision.Rejected> begin(CallContext call) {
        return acquire(call, PER_REJECTED_LOGIN);
    }

    /**
     * Counts the result of a login that has begun. Only a rejected login counts, because a page of operators reads several times a second.
     *
     * @param succeeded whether the server has accepted the credentials
     */
    public void end(CallContext call, boolean succeeded) {
        if (succeeded) {
            refund(call, PER_REJECTED_LOGIN);
        }
    }

    Optional<Decision.Rejected> acquire(CallContext call, int permits) {
        List<Charge> charges = List.of(charge(call, permits));
        Decision decision;
        try {
            decision = local.acquire(charges);
        } catch (BackendException e) { // a flood of new addresses
            decision = local.capability(RemembersRejections.class)
                    .flatMap(memory -> memory.acquireApproximately(charges))
                    .orElse(Decision.Allowed.UNLIMITED);
        }
        return decision instanceof Decision.Rejected rejected ? Optional.of(rejected) : Optional.empty();
    }

    void refund(CallContext call, int permits) {
        CompletionStage<Void> refunded = local.refund(charge(call, permits));
        refunded.exceptionally(failure -> null);
    }

    private Charge charge(CallContext call, int permits) {
        return new Charge(ATTEMPTS, encoder.encode(addresses.apply(call)), permits);
    }
}
