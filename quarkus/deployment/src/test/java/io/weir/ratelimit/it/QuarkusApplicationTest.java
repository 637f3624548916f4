// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.it.app.ChangingSource;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The application contract on Quarkus. */
class QuarkusApplicationTest extends ApplicationContract {
    @RegisterExtension
    static final QuarkusProgram PROGRAM = new QuarkusProgram("app", properties(), ChangingSource.class);

    /** Returns the users of the servers, and the constraint of {@code web.xml}. */
    private static Map<String, String> properties() {
        String users = "quarkus.security.users.embedded.";
        Map<String, String> properties = new HashMap<>(Map.of(
                "quarkus.http.auth.basic",
                "true",
                "quarkus.http.auth.permission.locked.paths",
                "api/key/locked",
                "quarkus.http.auth.permission.locked.policy",
                "user",
                "quarkus.http.auth.policy.user.roles-allowed",
                "user",
                users + "enabled",
                "true",
                users + "plain-text",
                "true",
                users + "users.outsider",
                "outsider-password"));
        Map.of("ann", "ann-password", "ben", "ben-password", "\"127.0.0.1\"", "address-password")
                .forEach((user, password) -> {
                    properties.put(users + "users." + user, password);
                    properties.put(users + "roles." + user, "user");
                });
        return properties;
    }

    @Override
    URI base() {
        return PROGRAM.base();
    }

    @Override
    String threadOfTheContainer() {
        return "out of context on .+";
    }
}
