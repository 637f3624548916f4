// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.UUID;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JWT claims as keys and tiers, on Open Liberty. */
@Tag("server")
@Tag("ci")
class JwtIT extends JwtContract {
    @TempDir
    private static Path temp;

    private static JwtIssuer issuer;
    private static Server server;

    @BeforeAll
    static void start() throws Exception {
        issuer = JwtIssuer.withNewKey();
        WebArchive war = TestWar.of("jwt")
                .addAsWebInfResource("jwt/web.xml", "web.xml")
                .addAsResource(new StringAsset(issuer.publicKey()), "META-INF/key.pem");
        server = LibertyServer.named("jwt")
                .war(TestWar.written(war, temp))
                // Open Liberty evaluates tokens only with TLS, which requires a key store.
                .serverXml("<server><featureManager><feature>mpJwt-2.1</feature></featureManager>"
                        + "<keyStore id=\"defaultKeyStore\" password=\"" + UUID.randomUUID() + "\"/></server>")
                .readyPath("api/claim/open")
                .start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    JwtIssuer issuer() {
        return issuer;
    }

    @Override
    URI base() {
        return server.baseUri();
    }

    @Test
    @Tag("field")
    void aClaimThatNoUserHasIsReported() throws Exception {
        String bearer = issuer.bearer("ann", tenant(tenant));
        for (int i = 0; i < 100; i++) {
            assertThat(get("missing", bearer).statusCode()).isEqualTo(200);
        }
        assertThat(server.log())
                .contains("WEIR-337 ratelimit.policies.by-missing.key: the term claim:missing did not resolve");
    }
}
