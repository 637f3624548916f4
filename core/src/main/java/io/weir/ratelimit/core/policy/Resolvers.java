// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The resolvers that the configuration can name. */
public record Resolvers(KeyTerms keyTerms, Map<String, TierSelector> tiers) {
    public Resolvers {
        tiers = Map.copyOf(tiers);
    }

    /** Parses an expression of a property or an annotation, and reports the problem of an invalid one by its reason. */
    Optional<KeyExpression> expression(
            PolicyProperties properties, String text, String place, Function<String, ConfigurationProblem> invalid) {
        try {
            KeyExpression expression = KeyExpression.parse(text, keyTerms.at(place));
            if (expression.usesClaims() && !keyTerms.haveClaims()) {
                properties.report(MESSAGES.problem("WEIR-212", place, text));
            }
            return Optional.of(expression);
        } catch (IllegalArgumentException e) {
            properties.report(invalid.apply(String.valueOf(e.getMessage())));
            return Optional.empty();
        }
    }
}
