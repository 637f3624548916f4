// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

class RedisServersTest {
    private static final String PLACE = "ratelimit.redis.address";
    private final List<ConfigurationProblem> problems = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://a:1,redis://b:2,redis://c:3",
                "redis://a:1, redis://b:2 ,redis://c:3",
                "redis://a:1\n,\tredis://b:2/0,redis://c:3/"
            })
    void readsAddressesSeparatedByCommas(String text) {
        assertThat(read(text))
                .hasValueSatisfying(servers -> assertThat(servers.addresses())
                        .extracting(RedisAddress::server)
                        .containsExactly("redis://a:1", "redis://b:2", "redis://c:3"));
        assertThat(problems).isEmpty();
    }

    @Test
    void acceptsACommaInAPassword() {
        assertThat(read("redis://:p,w@a:1")).hasValueSatisfying(servers -> {
            assertThat(servers.addresses()).hasSize(1);
            assertThat(servers.addresses().get(0).password()).contains("p,w");
        });
    }

    @Test
    void readsOneAddressAsAStandaloneServer() {
        Config config = config("rediss://me:pw@a:1/3");
        assertThat(config.isSingleConfig()).isTrue();
        SingleServerConfig single = config.useSingleServer();
        assertThat(single.getAddress()).isEqualTo("rediss://a:1");
        assertThat(single.getDatabase()).isEqualTo(3);
        assertThat(single.getSubscriptionConnectionMinimumIdleSize()).isZero();
        assertThat(config.getUsername()).isEqualTo("me");
        assertThat(config.getPassword()).isEqualTo("pw");
        assertBounded(
                single.getTimeout(),
                single.getConnectTimeout(),
                single.getRetryAttempts(),
                single.getPingConnectionInterval());
    }

    @Test
    void connectsToMastersOnly() {
        Config config = config("redis://a:1,redis://b:2");
        assertThat(config.isClusterConfig()).isTrue();
        ClusterServersConfig cluster = config.useClusterServers();
        assertThat(cluster.getReadMode()).isEqualTo(ReadMode.MASTER);
        assertThat(cluster.getSubscriptionMode()).isEqualTo(SubscriptionMode.MASTER);
        assertThat(cluster.isSlaveNotUsed()).isTrue();
        assertThat(cluster.getSlaveConnectionMinimumIdleSize()).isZero();
        assertThat(cluster.getSubscriptionConnectionMinimumIdleSize()).isZero();
        assertBounded(
                cluster.getTimeout(),
                cluster.getConnectTimeout(),
                cluster.getRetryAttempts(),
                cluster.getPingConnectionInterval());
    }

    private static void assertBounded(int timeout, int connectTimeout, int retries, int pingInterval) {
        assertThat(timeout).isEqualTo(1_000);
        assertThat(connectTimeout).isEqualTo(1_000);
        assertThat(retries).isZero();
        assertThat(pingInterval).as("or a dead connection is kept for a minute").isEqualTo(1_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://me:pw@a:1,redis://b:2",
                "redis://a:1,redis://me:pw@b:2",
                "redis://me:pw@a:1,redis://me:pw@b:2",
                "redis://m%65:pw@a:1,redis://me:pw@b:2"
            })
    void usesTheLoginOfOneNodeForAll(String text) {
        Config config = config(text);
        assertThat(problems).isEmpty();
        assertThat(config.getUsername()).isEqualTo("me");
        assertThat(config.getPassword()).isEqualTo("pw");
        assertThat(config.useClusterServers().getNodeAddresses()).containsExactly("redis://a:1", "redis://b:2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://:secret@a:1,redis://:secret2@b:2",
                "redis://secret:pw@a:1,redis://secret2:pw@b:2",
                "redis://:secret@a:1,redis://me:secret@b:2",
                "redis://me@a:1,redis://:secret@b:2"
            })
    void rejectsDifferentUsersOrPasswords(String text) {
        assertThat(read(text)).isEmpty();
        assertThat(problems)
                .containsExactly(new ConfigurationProblem(
                        "WEIR-403",
                        PLACE,
                        "redis://***@b:2",
                        "the addresses have different users or passwords",
                        "nodes of a cluster share one login: write it in one address, or the same in all"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    redis://a:1/1,redis://b:2     | redis://a:1/1,redis://b:2
                    redis://a:1/0,redis://b:2/2   | redis://a:1/0,redis://b:2/2
                    redis://:secret@a:1/1,redis://b:2/1 | redis://***@a:1/1,redis://b:2/1
                    """)
    void rejectsADatabaseOfACluster(String text, String shown) {
        assertThat(read(text)).isEmpty();
        assertThat(problems)
                .containsExactly(new ConfigurationProblem(
                        "WEIR-403",
                        PLACE,
                        shown,
                        "an address names a database",
                        "remove the database: several addresses are a cluster, which has only database 0"));
    }

    @Test
    void rejectsNodesWithAndWithoutTls() {
        assertThat(read("redis://a:1,rediss://b:2")).isEmpty();
        assertThat(problems)
                .containsExactly(new ConfigurationProblem(
                        "WEIR-403",
                        PLACE,
                        "redis://a:1,rediss://b:2",
                        "the addresses have both redis:// and rediss://",
                        "use the same scheme for all nodes of a cluster"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://a:1,b:2",
                "redis://a:1,",
                "redis://a:1,,redis://b:2",
                ",redis://a:1",
                "redis://a:1;redis://b:2",
                "redis://a:1 redis://b:2"
            })
    void rejectsOtherSeparators(String text) {
        assertThat(read(text)).isEmpty();
        assertThat(problems)
                .hasSize(1)
                .allSatisfy(problem -> assertThat(problem.problem())
                        .isEqualTo(
                                "the address is invalid: use redis://host:6379 or rediss://user:password@host:6379/0"));
    }

    @Test
    void reportsEachProblemWithoutSecrets() {
        assertThat(read("redis://:secret@a:1/1, rediss://me:secret@b:2, redis://:secret@c:0, redis://:secret@d:x"))
                .isEmpty();
        assertThat(problems)
                .extracting(ConfigurationProblem::problem)
                .containsExactly(
                        "the port is not in the range 1 to 65535",
                        "the address is invalid: use redis://host:6379 or rediss://user:password@host:6379/0",
                        "the addresses have both redis:// and rediss://",
                        "the addresses have different users or passwords",
                        "an address names a database");
        assertThat(problems.get(0).value()).isEqualTo("redis://***@c:0");
        assertThat(problems)
                .allSatisfy(problem -> assertThat(problem.toString()).doesNotContain("secret"));
    }

    private Optional<RedisServers> read(String text) {
        return RedisServers.read(text, PLACE, problems);
    }

    private Config config(String text) {
        return read(text).orElseThrow(() -> new AssertionError(problems)).config();
    }
}
