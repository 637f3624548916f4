// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** Deploys the snippets of the how-to pages to Open Liberty, and calls the applications as the pages show it. */
@Tag("server")
@Tag("ci")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class HowToIT implements HowToBackends, HowToClients, HowToLimits, HowToOperations {
    private static final Map<String, RedisProcess> REDIS = new HashMap<>();
    private static HowToServer server;

    @BeforeAll
    static void deploy(@TempDir Path folder) throws IOException {
        List<HowToApplication> applications = List.of(
                HowToApplication.of(HowToServer.PAGE),
                HowToApplication.of("call-a-language-model").after("outgoing-calls"),
                HowToApplication.of("costs"),
                HowToApplication.of("exempt-health-checks"),
                HowToApplication.of("find-top-keys").after("limit-by-user"),
                withRedis("health"),
                HowToApplication.of("hierarchical-quotas"),
                HowToApplication.of("limit-by-address-behind-a-proxy"),
                HowToApplication.named("local-proxy", "limit-by-address-behind-a-proxy"),
                withRedis("leases"),
                HowToApplication.of("limit-a-jakarta-rest-client").after("outgoing-calls"),
                withRedis("limit-a-language-model"),
                HowToApplication.of("limit-by-api-key"),
                HowToApplication.of("limit-by-user"),
                HowToApplication.of("limit-concurrent-calls"),
                HowToApplication.of("limit-from-code").after("limit-by-user"),
                HowToApplication.of("login-protection").without("NormalizedLoginResource", "Logins"),
                HowToApplication.named("login-normalized", "login-protection").without("LoginResource"),
                withRedis("monthly-quotas"),
                withRedis("migrate-from-bucket4j"),
                HowToApplication.of("migrate-from-smallrye"),
                HowToApplication.of("obey-a-429"),
                HowToApplication.of("openapi"),
                withRedis("redis"),
                HowToApplication.of("outgoing-calls"),
                HowToApplication.of("pace-outbound-calls"),
                HowToApplication.of("penalties"),
                HowToApplication.of("quota-notifications").without("SmtpMails"),
                HowToApplication.of("reload"),
                HowToApplication.of("replace-the-response").without("ShopErrors"),
                HowToApplication.named("replace-the-body", "replace-the-response")
                        .without("SlowDown"),
                withRedis("sell-plans").after("limit-by-user"),
                HowToApplication.of("settle"),
                HowToApplication.of("shadow-mode"),
                HowToApplication.of("tiers-from-a-database").after("limit-by-user"),
                withRedis("when-redis-is-away"),
                HowToApplication.of("write-a-backend")
                        .without("FixedWindowBackendTest", "FixedWindowPartialRefundTest"));
        HowToBackends.createUser(REDIS.get("redis"));
        server = HowToServer.start(applications, folder);
    }

    private static HowToApplication withRedis(String page) {
        RedisProcess redis = RedisProcess.started();
        REDIS.put(page, redis);
        return HowToApplication.of(page).with(redis);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
        REDIS.values().forEach(RedisProcess::close);
    }

    @Override
    public HowToServer server() {
        return server;
    }

    @Override
    public RedisProcess redis(String page) {
        return REDIS.get(page);
    }
}
