// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.CallContext;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyExpressionTest {
    private static final KeyTerms TERMS = new KeyTerms(32, 64);
    private static final Identity ALICE = Identity.principal("alice");
    private static final Identity ADDRESS = Identity.address("203.0.113.7");

    private static Identity resolve(String expression, CallContext call) {
        return KeyExpression.parse(expression, TERMS).resolve(call);
    }

    @Test
    void eachTermResolvesToItsKind() {
        Calls call = Calls.from("203.0.113.7").andBy("alice").andArgument("username", 42);
        assertThat(resolve("global", call)).isEqualTo(Identity.GLOBAL);
        assertThat(resolve("ip", call)).isEqualTo(ADDRESS);
        assertThat(resolve("principal", call)).isEqualTo(ALICE);
        assertThat(resolve("arg:username", call)).isEqualTo(Identity.argument("username", "42"));
        assertThat(resolve("header:X-Api-Key", Calls.with("x-api-key", "s")))
                .isEqualTo(Identity.header("x-api-key", "s"));
        assertThat(resolve("header:X-Api-Key", Calls.with("x-api-key", "s \t ")))
                .isEqualTo(Identity.header("x-api-key", "s"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"global", "ip", "principal", "header:x", "arg:x", "principal | ip", "ip + principal"})
    void whatDoesNotResolveIsAnonymousExceptGlobal(String expression) {
        assertThat(resolve(expression, CallContext.NONE))
                .isEqualTo(expression.equals("global") ? Identity.GLOBAL : Identity.ANONYMOUS);
    }

    @Test
    void theFirstAlternativeThatResolvesCounts() {
        Calls both = Calls.from("203.0.113.7").andBy("alice");
        assertThat(resolve("principal | ip", both)).isEqualTo(ALICE);
        assertThat(resolve("ip | principal", both)).isEqualTo(ADDRESS);
        assertThat(resolve("principal | ip", Calls.from("203.0.113.7"))).isEqualTo(ADDRESS);
        assertThat(resolve("principal | ip | global", Calls.NOBODY)).isEqualTo(Identity.GLOBAL);
    }

    @Test
    void aCompoundNeedsAllOfItsPartsAndKeepsTheirOrder() {
        Calls both = Calls.from("203.0.113.7").andBy("alice");
        assertThat(resolve("ip + principal", both)).isEqualTo(ADDRESS.and(ALICE));
        assertThat(resolve("principal + ip", both)).isEqualTo(ALICE.and(ADDRESS));
        assertThat(resolve("ip + principal", Calls.by("alice"))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("ip + principal", Calls.from("203.0.113.7"))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("ip + global + principal", both))
                .isEqualTo(ADDRESS.and(Identity.GLOBAL).and(ALICE));
    }

    @Test
    void plusBindsTighterThanOr() {
        Calls both = Calls.from("203.0.113.7").andBy("alice");
        assertThat(resolve("header:x + ip | principal", both)).isEqualTo(ALICE);
        assertThat(resolve("principal | ip + header:x", Calls.from("203.0.113.7")))
                .isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("principal + ip | ip", Calls.from("203.0.113.7"))).isEqualTo(ADDRESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"principal|ip", " principal | ip ", "\tprincipal\n|\r\n ip"})
    void blanksBetweenTermsDoNotMatter(String expression) {
        assertThat(resolve(expression, Calls.from("203.0.113.7"))).isEqualTo(ADDRESS);
        assertThat(resolve(expression, Calls.by("alice"))).isEqualTo(ALICE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "''                    > at character 1: a term is missing",
                "'  '                  > at character 1: a term is missing",
                "'|'                   > at character 1: a term is missing",
                "'ip |'                > at character 5: a term is missing",
                "'ip || principal'     > at character 5: a term is missing",
                "'ip + | principal'    > at character 5: a term is missing",
                "'+ ip'                > at character 1: a term is missing",
                "'ip + user'           > at character 5: there is no key term \"user\"",
                "'ip | a + b'          > at character 5: there is no key term \"a\"",
                "'ip | ip + b'         > at character 10: there is no key term \"b\"",
                "'IP'                  > at character 1: there is no key term \"IP\"",
                "'ip principal'        > at character 1: there is no key term \"ip principal\"",
                "'ip,principal'        > at character 1: there is no key term \"ip,principal\"",
                "'cookie:session'      > at character 1: there is no key term \"cookie:session\"",
                "'header'              > at character 1: there is no key term \"header\"",
                "'header:'             > at character 1: \"header:\" needs a name after header:",
                "'ip|header: '         > at character 4: \"header:\" needs a name after header:",
                "'header: x'           > at character 1: \"header: x\" needs a name after header:",
                "'header:a b'          > at character 1: \"header:a b\" needs a name after header:",
                "'header:a:b'          > at character 1: \"header:a:b\" needs a name after header:",
                "'header:é'            > at character 1: \"header:é\" needs a name after header:",
                "'header:(x)'          > at character 1: \"header:(x)\" needs a name after header:",
                "'arg:'                > at character 1: \"arg:\" needs a name after arg:",
                "'arg:user name'       > at character 1: \"arg:user name\" needs a name after arg:",
                "'(ip)'                > at character 1: there is no key term \"(ip)\"",
            })
    void otherTextIsRefusedWithItsPosition(String expression, String message) {
        assertThatThrownBy(() -> KeyExpression.parse(expression, TERMS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void aHeadersNameIsATokenOfAtMost64Characters() {
        String longest = "x".repeat(64);
        assertThat(resolve("header:" + longest, Calls.with(longest, "v"))).isEqualTo(Identity.header(longest, "v"));
        assertThatThrownBy(() -> KeyExpression.parse("header:" + longest + "x", TERMS))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(resolve("header:!#$%&'*.^_`~-9", Calls.with("!#$%&'*.^_`~-9", "v")))
                .isEqualTo(Identity.header("!#$%&'*.^_`~-9", "v"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t \n"})
    void blankValuesDoNotResolve(String blank) {
        assertThat(resolve("principal", Calls.by(blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("header:x", Calls.with("x", blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("arg:x", Calls.NOBODY.andArgument("x", blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("principal | ip", Calls.from("203.0.113.7").andBy(blank)))
                .isEqualTo(ADDRESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "unknown", "localhost", "[::1]", "127.1"})
    void whatIsNoLiteralAddressDoesNotResolve(String junk) {
        assertThat(resolve("ip", Calls.from(junk))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("ip | principal", Calls.from(junk).andBy("alice"))).isEqualTo(ALICE);
    }

    @Test
    void addressesShareAKeyByTheConfiguredPrefix() {
        KeyExpression ip = KeyExpression.parse("ip", new KeyTerms(24, 56));
        assertThat(ip.resolve(Calls.from("203.0.113.7"))).isEqualTo(Identity.address("203.0.113.0/24"));
        assertThat(ip.resolve(Calls.from("::ffff:203.0.113.9"))).isEqualTo(Identity.address("203.0.113.0/24"));
        assertThat(ip.resolve(Calls.from("2001:db8:0:1::1"))).isEqualTo(Identity.address("2001:db8::/56"));
        assertThat(resolve("ip", Calls.from("2001:db8:0:1::1"))).isEqualTo(Identity.address("2001:db8:0:1::/64"));
    }

    @Test
    void theTextNullIsAValueAndNotTheLackOfOne() {
        assertThat(resolve("principal", Calls.by("null"))).isEqualTo(Identity.principal("null"));
        assertThat(resolve("arg:x", Calls.NOBODY)).isEqualTo(Identity.ANONYMOUS);
    }

    @ParameterizedTest
    @CsvSource({"global, false", "principal | ip, false", "header:arg, false", "ip + arg:a, true", "ip | arg:a, true"})
    void anExpressionKnowsWhetherItNeedsArguments(String expression, boolean needed) {
        assertThat(KeyExpression.parse(expression, TERMS).needsArguments()).isEqualTo(needed);
    }

    @Test
    void laterTermsAreNotAskedOnceTheAnswerIsKnown() {
        CallContext call = new CallContext() {
            @Override
            public Optional<String> peerAddress() {
                throw new AssertionError("asked");
            }

            @Override
            public Optional<String> principal() {
                return Optional.of("alice");
            }

            @Override
            public Optional<String> header(String name) {
                return Optional.empty();
            }

            @Override
            public Optional<Object> argument(String name) {
                return Optional.empty();
            }
        };
        assertThat(resolve("header:x + ip | principal | ip", call)).isEqualTo(ALICE);
    }

    @Test
    void itsTextIsWhatWasWritten() {
        assertThat(KeyExpression.parse("principal | ip", TERMS)).hasToString("principal | ip");
    }
}
