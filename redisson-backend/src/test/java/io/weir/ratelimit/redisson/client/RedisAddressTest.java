// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisAddressTest {

    @ParameterizedTest
    @CsvSource({
        "redis://cache, redis://cache:6379, 0",
        "redis://cache:7000, redis://cache:7000, 0",
        "redis://cache:7000/, redis://cache:7000, 0",
        "rediss://cache.example.org:7000/3, rediss://cache.example.org:7000, 3",
        "redis://192.0.2.1/15, redis://192.0.2.1:6379, 15",
        "redis://[2001:db8::1]:7000, redis://[2001:db8::1]:7000, 0",
        "redis://redis_1:65535, redis://redis_1:65535, 0"
    })
    void readsServerAndDatabase(String text, String server, int database) {
        RedisAddress address = RedisAddress.parse(text);
        assertThat(address.server()).isEqualTo(server);
        assertThat(address.database()).isEqualTo(database);
        assertThat(address.user()).isEmpty();
        assertThat(address.password()).isEmpty();
    }

    @Test
    void decodesUserAndPasswordAndKeepsPlusSigns() {
        RedisAddress address = RedisAddress.parse("redis://a%40b:p%2Fw+1%C3%A9@cache");
        assertThat(address.user()).contains("a@b");
        assertThat(address.password()).contains("p/w+1é");
        assertThat(RedisAddress.parse("redis://:pw@cache").user()).isEmpty();
        assertThat(RedisAddress.parse("redis://:pw@cache").password()).contains("pw");
        assertThat(RedisAddress.parse("redis://me@cache").user()).contains("me");
        assertThat(RedisAddress.parse("redis://me@cache").password()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "cache",
                "cache:6379",
                "http://cache:6379",
                "redis:cache",
                "redis://",
                "redis://:6379",
                "redis://a b",
                "redis://cache:port",
                "redis://cache:123456",
                "redis://cache/one",
                "redis://cache/12345",
                "redis://a@b@cache",
                "redis://cache?timeout=1",
                "redis://cache:6379 ",
                "redis://[::1",
                "redis://cache:6379/0/1",
                "REDIS://cache"
            })
    void rejectsOtherForms(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisAddress.parse(text))
                .withMessage("the address is invalid: use redis://host:6379 or rediss://user:password@host:6379/0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis://cache:0", "redis://cache:65536", "redis://cache:99999"})
    void rejectsAPortOutOfRange(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisAddress.parse(text))
                .withMessage("the port is not in the range 1 to 65535");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis://:%q7secret@cache", "redis://:secret%@cache", "redis://:secret%4@cache"})
    void doesNotQuoteAPasswordThatIsNotEncodedCorrectly(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisAddress.parse(text))
                .withMessage("the user or the password is not percent-encoded correctly")
                .withNoCause();
    }

    @ParameterizedTest
    @CsvSource({
        "redis://cache:6379, redis://cache:6379",
        "redis://cache:99999/x, redis://***",
        "localhost:6379, localhost:6379",
        "'redis://a:1, redis://b:2', 'redis://a:1, redis://b:2'",
        "redis://:secret@cache:6379/1, redis://***@cache:6379/1",
        "redis://secret:secret@cache, redis://***@cache",
        "redis://:se@cret@cache:99999, redis://***@cache:99999",
        "'redis://:secret@a:1,redis://:secret@b:2', redis://***@b:2",
        ":secret@cache, ***@cache",
        "secret@redis://cache, ***@redis://cache",
        "redis://:secret, redis://***",
        "redis://user:secret, redis://***",
        "redis://:secret%40cache:6379, redis://***",
        "redis://cache:6379?password=secret, redis://***",
        "redis://me@cache:6379?password=secret, redis://***@***"
    })
    void masksEverythingThatCouldBeASecret(String text, String shown) {
        assertThat(RedisAddress.masked(text)).isEqualTo(shown).doesNotContain("secret");
    }

    @Test
    void theTextContainsNoUserAndNoPassword() {
        assertThat(RedisAddress.parse("redis://secret:secret@cache:6379/1")).hasToString("redis://cache:6379/1");
    }
}
