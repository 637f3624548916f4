// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports of terms that do not resolve. */
class KeyTermTest {
    private static final String PLACE = "ratelimit.policies.api.key";
    private static final TestCall ALICE = TestCall.fromAddress("203.0.113.7").withPrincipal("alice");

    private final LogCapture log = new LogCapture();
    private final KeyTerms terms = new KeyTerms(32, 64);

    @AfterEach
    void end() {
        log.close();
    }

    /** A call of a method on the thread of a timer. */
    private record TimerCall(CallContext caller) implements MethodCall {
        @Override
        public boolean isInRequest() {
            return false;
        }

        @Override
        public Optional<String> method() {
            return Optional.of("Mail.send");
        }

        @Override
        public Optional<String> peerAddress() {
            return Optional.empty();
        }

        @Override
        public Optional<String> principal() {
            return caller.principal();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String name) {
            return caller.argument(name);
        }
    }

    private KeyExpression key(String text) {
        return KeyExpression.parse(text, terms.at(PLACE));
    }

    private static void resolve(KeyExpression key, CallContext call, int times) {
        for (int i = 0; i < times; i++) {
            if (key.source(call) == null) {
                key.resolve(call);
            }
        }
    }

    private List<String> warnings() {
        return log.lines();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "header:user",
                "principal",
                "ip",
                "cookie:id",
                "query:id",
                "path:id",
                "method",
                "arg:id",
                "claim:sub"
            })
    @Tag("field")
    void aTermThatNeverResolvesIsReportedOnce(String term) {
        KeyExpression key = key(term);
        resolve(key, TestCall.EMPTY, KeyTerm.FIRST - 1);
        assertThat(warnings()).isEmpty();
        resolve(key, TestCall.EMPTY, 1);
        assertThat(warnings())
                .containsExactly(
                        "WARNING WEIR-337 " + PLACE + ": the term " + term + " did not resolve the first 100 times."
                                + " Such calls of all callers share the key anonymous. Correct the term, or use another key."
                                + " This is logged once.");
        resolve(key, TestCall.EMPTY, KeyTerm.FIRST);
        resolve(key(term), TestCall.EMPTY, KeyTerm.FIRST); // the expression of a reload
        assertThat(warnings()).hasSize(1);
    }

    @Test
    void aTermThatResolvesForSomeCallersIsNotReported() {
        for (KeyExpression key : List.of(key("principal"), key("principal + method"))) {
            resolve(key, TestCall.EMPTY, KeyTerm.FIRST - 1);
            resolve(key, ALICE.withTerm("method", "Search.find"), 1);
            resolve(key, TestCall.EMPTY, KeyTerm.FIRST);
        }
        assertThat(warnings()).isEmpty();
    }

    @Test
    void callersWithoutAUserAreNormalIfAnAlternativeFollows() {
        resolve(key("principal | ip"), TestCall.fromAddress("203.0.113.7"), 2 * KeyTerm.FIRST);
        resolve(key("claim:sub | ip"), TestCall.fromAddress("203.0.113.7"), 2 * KeyTerm.FIRST);
        resolve(key("global"), TestCall.EMPTY, 2 * KeyTerm.FIRST);
        assertThat(warnings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"claim:sub", "claim:sub | ip"})
    @Tag("field")
    void aClaimThatNoUserHasIsReported(String expression) {
        resolve(key(expression), ALICE, KeyTerm.FIRST);
        assertThat(warnings())
                .containsExactly(
                        "WARNING WEIR-337 " + PLACE + ": the term claim:sub did not resolve the first 100 times,"
                                + " although the users were authenticated. The next alternative of the key applies,"
                                + " else all such calls share the key anonymous. Add the claim to the JWT, or use another key."
                                + " This is logged once.");
    }

    @Test
    @Tag("field")
    void aTierThatNoCallerHasIsReported() {
        KeyExpression tier = KeyExpression.parse("claim:plan", terms.at("ratelimit.policies.api.tier"));
        for (int i = 0; i < KeyTerm.FIRST; i++) {
            assertThat(tier.value(TestCall.EMPTY)).isEmpty();
        }
        assertThat(warnings()).as("callers without a user").isEmpty();
        for (int i = 0; i < KeyTerm.FIRST; i++) {
            assertThat(tier.value(ALICE)).isEmpty();
        }
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(
                        "WEIR-337 ratelimit.policies.api.tier: the term claim:plan did not resolve the first 100 times. The limits of"
                                + " the policy itself apply to such calls.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ip", "principal | ip", "principal", "header:x", "cookie:x + arg:id"})
    @Tag("field")
    void aCallWithoutARequestIsReportedAtOnce(String expression) {
        KeyExpression key = key(expression);
        resolve(key, ALICE.withHeader("x", "y").withTerm("cookie:x", "y").withArgument("id", "z"), 1);
        resolve(key, new TimerCall(TestCall.EMPTY.withArgument("id", "z")), 3);
        assertThat(warnings())
                .singleElement()
                .asString()
                .startsWith(
                        "WARNING WEIR-336 " + PLACE + ": Mail.send is called on a thread without a request, where ");
    }

    @Test
    void aCallWithoutARequestIsNotReportedIfItsKeyResolves() {
        TimerCall call = new TimerCall(TestCall.byPrincipal("alice").withArgument("id", "z"));
        for (String expression : List.of("principal | ip", "ip | arg:id", "method", "global", "principal + method")) {
            assertThat(key(expression).resolve(call)).as(expression).isNotEqualTo(Identity.ANONYMOUS);
        }
        assertThat(warnings()).isEmpty();
    }

    @Test
    void anExpressionWithoutAPlaceIsNotReported() {
        resolve(KeyExpression.parse("ip", terms), TestCall.EMPTY, KeyTerm.FIRST);
        assertThat(warnings()).isEmpty();
    }
}
