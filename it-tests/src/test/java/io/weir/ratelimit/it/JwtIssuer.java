// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.UUID;

/** An issuer of signed JWTs. */
final class JwtIssuer {
    private final KeyPair keys;

    private JwtIssuer(KeyPair keys) {
        this.keys = keys;
    }

    static JwtIssuer withNewKey() throws GeneralSecurityException {
        return withKeyFrom(new SecureRandom());
    }

    /** Returns an issuer whose key depends on the seed alone, for a test whose class two class loaders have. */
    static JwtIssuer withKeyOf(long seed) {
        try {
            SecureRandom random = SecureRandom.getInstance("SHA1PRNG");
            random.setSeed(seed);
            return withKeyFrom(random);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static JwtIssuer withKeyFrom(SecureRandom random) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048, random);
        return new JwtIssuer(generator.generateKeyPair());
    }

    /** Returns the public key in PEM format. */
    String publicKey() {
        return "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(keys.getPublic().getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
    }

    /** Returns the Authorization header of a user with the role {@code user} and further claims. */
    String bearer(String user, JsonObjectBuilder claims) throws GeneralSecurityException {
        long now = Instant.now().getEpochSecond();
        String payload = claims.add("iss", "https://issuer.example")
                .add("sub", user)
                .add("upn", user)
                .add("jti", UUID.randomUUID().toString())
                .add("iat", now)
                .add("exp", now + 600)
                .add("groups", Json.createArrayBuilder().add("user"))
                .build()
                .toString();
        String signed = encoded("{\"alg\":\"RS256\",\"typ\":\"JWT\"}") + "." + encoded(payload);
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(keys.getPrivate());
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return "Bearer " + signed + "."
                + Base64.getUrlEncoder().withoutPadding().encodeToString(signature.sign());
    }

    private static String encoded(String json) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }
}
