// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.security.enterprise.authentication.mechanism.http.BasicAuthenticationMechanismDefinition;
import jakarta.security.enterprise.credential.UsernamePasswordCredential;
import jakarta.security.enterprise.identitystore.CredentialValidationResult;
import jakarta.security.enterprise.identitystore.IdentityStore;
import java.util.Map;
import java.util.Set;

/** Who may log in, on every server without a registry of its own. All but the outsider have the role {@code user}. */
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
     * Called by the name and the parameter that Jakarta Security looks for.
     *
     * @param credential what the client sent
     * @return valid with the user's roles, or invalid
     */
    public CredentialValidationResult validate(UsernamePasswordCredential credential) {
        String password = PASSWORDS.get(credential.getCaller());
        if (password == null || !credential.compareTo(credential.getCaller(), password)) {
            return CredentialValidationResult.INVALID_RESULT;
        }
        Set<String> roles = credential.getCaller().equals("outsider") ? Set.of() : Set.of("user");
        return new CredentialValidationResult(credential.getCaller(), roles);
    }
}
