// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The quotas of a caller under all policies whose keys its request determines, whatever resource it calls.
 *
 * <p>Reads are limited in process, because they cost a call of the backend and spend no permits.
 */
public final class CallerQuotas {
    /** The reads of one address per minute and instance. */
    public static final int READS_PER_MINUTE = Logins.PER_MINUTE;

    /** The reads that a rejected login counts as, because the resource must not be a place to guess passwords. */
    public static final int READS_PER_REJECTED_LOGIN = Logins.PER_REJECTED_LOGIN;

    private final RateLimitEngine engine;
    private final Supplier<Map<String, Policy>> policies;
    private final Set<String> outgoing;
    private final IdentityEncoder encoder;
    private final Logins reads;

    /** Creates the quotas of callers, without the policies that only REST clients have; counts the reads of addresses in process. */
    public CallerQuotas(
            RateLimitEngine engine,
            Supplier<Map<String, Policy>> policies,
            Set<String> outgoing,
            Function<CallContext, Identity> addresses,
            IdentityEncoder encoder,
            RateLimitBackend reads) {
        this.engine = engine;
        this.policies = policies;
        this.outgoing = Set.copyOf(outgoing);
        this.encoder = encoder;
        this.reads = new Logins(addresses, encoder, reads);
    }

    /**
     * Counts a read, as a rejected login if the server has yet to check credentials of the request. Returns the rejection if the address of
     * the caller reads too often.
     */
    public Optional<Decision.Rejected> rejection(CallContext call, boolean hasCredentials) {
        return reads.acquire(call, hasCredentials ? READS_PER_REJECTED_LOGIN : 1);
    }

    /** Reduces a read with credentials to one read, because the server has not rejected the credentials. */
    public void loginNotRejected(CallContext call) {
        reads.refund(call, READS_PER_REJECTED_LOGIN - 1);
    }

    /** Returns the limit of logins, which other paths share with the quota resource. */
    public Logins logins() {
        return reads;
    }

    /**
     * Reads the quotas of a caller by policy, one per limit. A policy is left out if it is not enforced for the key, discloses no quotas,
     * or if the request does not determine its key. One that only REST clients have is left out, because their calls have keys of their
     * own.
     *
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the backend does not answer
     */
    public Map<String, List<Quota>> of(CallContext call) {
        Map<Policy, Identity> keys = new LinkedHashMap<>();
        for (Policy policy : new TreeMap<>(policies.get()).values()) {
            boolean limitsRequests = policy.pathRule().isPresent() || !outgoing.contains(policy.name());
            if (limitsRequests
                    && policy.canReject()
                    && policy.response().disclosure() == Policy.Disclosure.FULL
                    && !policy.key().dependsOnResource()) {
                Identity key = policy.key().resolve(call);
                if (!key.equals(Identity.ANONYMOUS) && !policy.isShadowFor(encoder.encode(key))) {
                    keys.put(policy, key);
                }
            }
        }
        Map<String, List<Quota>> quotas = new LinkedHashMap<>();
        if (!keys.isEmpty()) {
            engine.keys()
                    .peek(keys, call)
                    .forEach(quota -> quotas.computeIfAbsent(quota.policy(), policy -> new ArrayList<>())
                            .add(quota));
        }
        return quotas;
    }

    /**
     * The requests of addresses to paths on which Weir itself asks the server to authenticate, limited in process. Such a path must not be a
     * place to guess passwords.
     */
    public static final class Logins {
        /** The permits of one address per minute and instance. */
        static final int PER_MINUTE = 60;

        /** The permits of a rejected login. */
        static final int PER_REJECTED_LOGIN = 10;

        private static final PolicyLimits ATTEMPTS = new PolicyLimits(
                "+quota", List.of(Limit.of(Algorithm.TOKEN_BUCKET, PER_MINUTE, Duration.ofMinutes(1))));

        private final Function<CallContext, Identity> addresses;
        private final IdentityEncoder encoder;
        private final RateLimitBackend local;

        /** Creates a limit without any attempts, counted in process. */
        public Logins(Function<CallContext, Identity> addresses, IdentityEncoder encoder, RateLimitBackend local) {
            this.addresses = addresses;
            this.encoder = encoder;
            this.local = local;
        }

        /**
         * Counts a login as rejected until its result is known, so that logins at once do not pass the limit. Returns the rejection if the
         * address has too many rejected logins, or too many logins at once.
         */
        public Optional<Decision.Rejected> begin(CallContext call) {
            return acquire(call, PER_REJECTED_LOGIN);
        }

        /**
         * Counts whether the server has accepted the credentials of a login. Only a rejected login counts, because a page of operators
         * reads several times a second.
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
}
