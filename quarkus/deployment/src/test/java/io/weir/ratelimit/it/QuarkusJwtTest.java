// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.it.jwt.ClaimResource;
import io.weir.ratelimit.it.jwt.JwtApplication;
import java.io.File;
import java.net.URI;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The limits of callers with MicroProfile JWT on Quarkus. */
class QuarkusJwtTest extends JwtContract {
    private static final JwtIssuer ISSUER = JwtIssuer.withKeyOf(20);
    private static final File CONFIGURATION =
            new File("../../it-tests/src/test/resources/jwt/microprofile-config.properties");

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(ClaimResource.class, JwtApplication.class)
                    .addClasses(Http.class, JwtContract.class, JwtIssuer.class, LimitResponse.class)
                    .addAsResource(new StringAsset(ISSUER.publicKey()), "META-INF/key.pem")
                    .addAsResource(CONFIGURATION, "META-INF/microprofile-config.properties"));

    @TestHTTPResource
    URI base;

    @Override
    JwtIssuer issuer() {
        return ISSUER;
    }

    @Override
    URI base() {
        return URI.create("http://127.0.0.1:" + base.getPort() + "/");
    }
}
