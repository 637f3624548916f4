// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.security.enterprise.authentication.mechanism.http.BasicAuthenticationMechanismDefinition;
import jakarta.security.enterprise.credential.UsernamePasswordCredential;
import jakarta.security.enterprise.identitystore.CredentialValidationResult;
import jakarta.security.enterprise.identitystore.IdentityStore;
import java.util.Map;
import java.util.Set;

/** An identity store that works on every server. All users except the outsider have the role {@code user}, and Ann has {@code changer}. */
@ApplicationScoped
@BasicAuthenticationMechanismDefinition(realmName = "weir")
public class Users implements IdentityStore {
    private static final Map<String, String> PASSWORDS = Map.of(
            "ann", "ann-password",
            "ben", "ben-password",
            "127.0.0.1", "address-password",
            "{x}*%7B", "odd-password",
            "outsider", "outsider-password");

    /**
     * Validates a user. Jakarta Security calls this method by its name and parameter type.
     *
     * @param credential the credential of the client
     * @return a valid result with the roles of the user, or an invalid result
     */
    public CredentialValidationResult validate(UsernamePasswordCredential credential) {
        String password = PASSWORDS.get(credential.getCaller());
        if (password == null || !credential.compareTo(credential.getCaller(), password)) {
            return CredentialValidationResult.INVALID_RESULT;
        }
        Set<String> roles = switch (credential.getCaller()) {
            case "outsider" -> Set.of();
            case "ann" -> Set.of("user", "changer");
            default -> Set.of("user");
        };
        return new CredentialValidationResult(credential.getCaller(), roles);
    }
}
