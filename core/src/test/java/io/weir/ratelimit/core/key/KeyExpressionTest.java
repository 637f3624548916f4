// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyExpressionTest {
    private static final KeyTerms TERMS = new KeyTerms(32, 64);
    private static final KeyTerms WITH_TENANT =
            with(Map.of("tenant", call -> call.header("x-tenant").map(Identity::of)));
    private static final Identity ALICE = Identity.principal("alice");
    private static final Identity ADDRESS = Identity.address("203.0.113.7");

    private static Identity resolve(String expression, CallContext call) {
        return KeyExpression.parse(expression, TERMS).resolve(call);
    }

    private static KeyTerms with(Map<String, KeyResolver> resolvers) {
        return new KeyTerms(32, 64, new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR), resolvers, true);
    }

    @Test
    void eachTermResolvesToItsKind() {
        TestCall call =
                TestCall.fromAddress("203.0.113.7").withPrincipal("alice").withArgument("username", 42);
        assertThat(resolve("global", call)).isEqualTo(Identity.GLOBAL);
        assertThat(resolve("ip", call)).isEqualTo(ADDRESS);
        assertThat(resolve("principal", call)).isEqualTo(ALICE);
        assertThat(resolve("arg:username", call)).isEqualTo(Identity.argument("username", "42"));
        assertThat(resolve("header:X-Api-Key", TestCall.ofHeader("x-api-key", "s")))
                .isEqualTo(Identity.header("x-api-key", "s"));
        assertThat(resolve("cookie:id", call.withTerm("cookie:id", "s"))).isEqualTo(Identity.cookie("id", "s"));
        assertThat(resolve("query:a[b]", call.withTerm("query:a[b]", "s"))).isEqualTo(Identity.query("a[b]", "s"));
        assertThat(resolve("path:org", call.withTerm("path:org", "s"))).isEqualTo(Identity.path("org", "s"));
        assertThat(resolve("claim:https://example.org/plan", call.withTerm("claim:https://example.org/plan", "s")))
                .isEqualTo(Identity.claim("https://example.org/plan", "s"));
        assertThat(resolve("method", call.withTerm("method", "Search.find"))).isEqualTo(Identity.method("Search.find"));
        assertThat(resolve("header:X-Api-Key", TestCall.ofHeader("x-api-key", "s \t ")))
                .isEqualTo(Identity.header("x-api-key", "s"));
    }

    /** A server can find the session by one value, and the runtime can pass the other. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "id=s; id=t",
                "id=t; x=y; id=s",
                "id=s;id=t",
                "id=s, id=t",
                "id = s; id=\"s\"",
                "id=s; id=",
                "x=y; id=s; id=s; id=t"
            })
    void aCookieWithSeveralValuesDoesNotResolve(String header) {
        TestCall call =
                TestCall.fromAddress("203.0.113.7").withTerm("cookie:id", "s").withHeader("cookie", header);
        assertThat(resolve("cookie:id", call)).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("cookie:id | ip", call)).isEqualTo(ADDRESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"id=s", "id=s; ID=t; xid=t; idx=t; id", "id=s; id=s", "x=id; id=s; y=id=t", "id=s=t"})
    void otherCookiesDoNotMatter(String header) {
        TestCall call = TestCall.EMPTY.withTerm("cookie:id", "s").withHeader("cookie", header);
        assertThat(resolve("cookie:id", call)).isEqualTo(Identity.cookie("id", "s"));
    }

    /** An argument that shows its identity would give each call a key of its own. */
    @Test
    @Tag("field")
    void anArgumentWithoutATextOfItsOwnDoesNotResolve() {
        for (Object argument : List.of(new Object(), new byte[] {1}, (Runnable) () -> {})) {
            TestCall call = TestCall.fromAddress("203.0.113.7").withArgument("order", argument);
            assertThat(resolve("arg:order", call)).isEqualTo(Identity.ANONYMOUS);
            assertThat(resolve("arg:order | ip", call)).isEqualTo(ADDRESS);
        }
        Object text = new StringBuilder("o-1");
        assertThat(resolve("arg:order", TestCall.EMPTY.withArgument("order", text)))
                .isEqualTo(Identity.argument("order", "o-1"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "global",
                "ip",
                "principal",
                "method",
                "header:x",
                "cookie:x",
                "query:x",
                "path:x",
                "claim:x",
                "arg:x",
                "principal | ip",
                "ip + principal"
            })
    void aCallWithoutPropertiesIsAnonymousExceptUnderGlobal(String expression) {
        assertThat(resolve(expression, CallContext.NONE))
                .isEqualTo(expression.equals("global") ? Identity.GLOBAL : Identity.ANONYMOUS);
    }

    @Test
    void resolvesToTheFirstAlternativeThatResolves() {
        TestCall both = TestCall.fromAddress("203.0.113.7").withPrincipal("alice");
        assertThat(resolve("principal | ip", both)).isEqualTo(ALICE);
        assertThat(resolve("ip | principal", both)).isEqualTo(ADDRESS);
        assertThat(resolve("principal | ip", TestCall.fromAddress("203.0.113.7")))
                .isEqualTo(ADDRESS);
        assertThat(resolve("principal | ip | global", TestCall.EMPTY)).isEqualTo(Identity.GLOBAL);
    }

    @Test
    void aCompoundNeedsAllOfItsPartsAndKeepsTheirOrder() {
        TestCall both = TestCall.fromAddress("203.0.113.7").withPrincipal("alice");
        assertThat(resolve("ip + principal", both)).isEqualTo(ADDRESS.and(ALICE));
        assertThat(resolve("principal + ip", both)).isEqualTo(ALICE.and(ADDRESS));
        assertThat(resolve("ip + principal", TestCall.byPrincipal("alice"))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("ip + principal", TestCall.fromAddress("203.0.113.7")))
                .isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("ip + global + principal", both))
                .isEqualTo(ADDRESS.and(Identity.GLOBAL).and(ALICE));
    }

    @Test
    void plusBindsTighterThanOr() {
        TestCall both = TestCall.fromAddress("203.0.113.7").withPrincipal("alice");
        assertThat(resolve("header:x + ip | principal", both)).isEqualTo(ALICE);
        assertThat(resolve("principal | ip + header:x", TestCall.fromAddress("203.0.113.7")))
                .isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("principal + ip | ip", TestCall.fromAddress("203.0.113.7")))
                .isEqualTo(ADDRESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"principal|ip", " principal | ip ", "\tprincipal\n|\r\n ip"})
    void blanksBetweenTermsDoNotMatter(String expression) {
        assertThat(resolve(expression, TestCall.fromAddress("203.0.113.7"))).isEqualTo(ADDRESS);
        assertThat(resolve(expression, TestCall.byPrincipal("alice"))).isEqualTo(ALICE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            value = {
                "'' => at character 1: a term is missing at the end",
                "'  ' => at character 3: a term is missing at the end",
                "'|' => at character 1: a term is missing before \"|\"",
                "'ip |' => at character 5: a term is missing at the end",
                "'ip || principal' => at character 5: a term is missing before \"|\"",
                "'ip + | principal' => at character 6: a term is missing before \"|\"",
                "'+ ip' => at character 1: a term is missing before \"+\"",
                "'ip + user' => at character 6: there is no key term \"user\"",
                "'ip | a + b' => at character 6: there is no key term \"a\"",
                "'ip | ip + b' => at character 11: there is no key term \"b\"",
                "'IP' => at character 1: there is no key term \"IP\"; did you mean ip?",
                "'principle' => at character 1: there is no key term \"principle\"; did you mean principal?",
                "'ip | heder:x' => at character 6: there is no key term \"heder:\"; did you mean header:<name>?",
                "'cokie' => at character 1: there is no key term \"cokie\"; did you mean cookie:<name>?",
                "'tennant' => at character 1: there is no key term \"tennant\"; did you mean tenant?",
                "'tenant:x' => at character 1: there is no key term \"tenant:\"; did you mean tenant?",
                "'ip principal' => at character 4: + or | is expected after \"ip\", found \"p\"",
                "'ip,principal' => at character 3: + or | is expected after \"ip\", found \",\"",
                "'ip:x' => at character 3: + or | is expected after \"ip\", found \":\"",
                "'header' => at character 7: a colon and a name are expected after \"header\", found the end",
                "'header :x' => at character 7: a colon and a name are expected after \"header\", found a blank",
                "'header + ip' => at character 7: a colon and a name are expected after \"header\", found a blank",
                "'header:' => at character 8: a name is expected after header:, found the end",
                "'ip|header: ' => at character 11: a name is expected after header:, found a blank",
                "'header: x' => at character 8: a name is expected after header:, found a blank",
                "'header:+ip' => at character 8: a name is expected after header:, found \"+\"",
                "'header:a b' => at character 10: + or | is expected after \"header:a\", found \"b\"",
                "'header:a:b' => at character 9: a name after header: cannot have \":\"",
                "'header:é' => at character 8: a name is expected after header:, found \"é\"",
                "'header:aé' => at character 9: a name after header: cannot have \"é\"",
                "'header:(x)' => at character 8: a name is expected after header:, found \"(\"",
                "'cookie:a;b' => at character 9: a name after cookie: cannot have \";\"",
                "'path:a/b' => at character 7: a name after path: cannot have \"/\"",
                "'query:a\"b' => at character 8: a name after query: cannot have \"\"\"",
                "'arg:' => at character 5: a name is expected after arg:, found the end",
                "'arg:user name' => at character 10: + or | is expected after \"arg:user\", found \"n\"",
                "'(ip)' => at character 1: a term is expected, found \"(\"",
                "'ip\u0007|ip' => at character 3: + or | is expected after \"ip\", found U+0007",
                "'header:a\u202e' => at character 9: a name after header: cannot have U+202E",
                "'ip\u00a0| ip' => at character 3: + or | is expected after \"ip\", found U+00A0",
                "'\ud83d\ude00' => at character 1: a term is expected, found \"\ud83d\ude00\"",
                "'ip + \ud83d' => at character 6: a term is expected, found U+D83D",
                "'query:\ud83d\ude00' => at character 7: a name is expected after query:, found \"\ud83d\ude00\"",
            })
    void rejectsOtherTextWithThePosition(String expression, String message) {
        assertThatThrownBy(() -> KeyExpression.parse(expression, WITH_TENANT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void anInvisibleCharacterIsShownAsItsNumber() {
        assertThatThrownBy(() -> KeyExpression.parse("ip | \0ip", TERMS))
                .hasMessage("at character 6: a term is expected, found U+0000");
    }

    @Test
    @Tag("field")
    void aHeaderNameIsATokenOfAtMost64Characters() {
        String longest = "x".repeat(64);
        assertThat(resolve("header:" + longest, TestCall.ofHeader(longest, "v")))
                .isEqualTo(Identity.header(longest, "v"));
        assertThatThrownBy(() -> KeyExpression.parse("header:" + longest + "x", TERMS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("at character 72: a name after header: has at most 64 characters");
        assertThat(resolve("header:!#$%&'*.^_`~-9", TestCall.ofHeader("!#$%&'*.^_`~-9", "v")))
                .isEqualTo(Identity.header("!#$%&'*.^_`~-9", "v"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t \n"})
    void blankValuesDoNotResolve(String blank) {
        assertThat(resolve("principal", TestCall.byPrincipal(blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("header:x", TestCall.ofHeader("x", blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("arg:x", TestCall.EMPTY.withArgument("x", blank))).isEqualTo(Identity.ANONYMOUS);
        for (String term : List.of("cookie:x", "query:x", "path:x", "claim:x", "method")) {
            assertThat(resolve(term, TestCall.EMPTY.withTerm(term, blank)))
                    .as(term)
                    .isEqualTo(Identity.ANONYMOUS);
        }
        assertThat(resolve("principal | ip", TestCall.fromAddress("203.0.113.7").withPrincipal(blank)))
                .isEqualTo(ADDRESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "unknown", "localhost", "[::1", "127.1"})
    void otherTextThanALiteralAddressDoesNotResolve(String junk) {
        assertThat(resolve("ip", TestCall.fromAddress(junk))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("ip | principal", TestCall.fromAddress(junk).withPrincipal("alice")))
                .isEqualTo(ALICE);
    }

    @Test
    void addressesShareAKeyByTheConfiguredPrefix() {
        KeyExpression ip = KeyExpression.parse("ip", new KeyTerms(24, 56));
        assertThat(ip.resolve(TestCall.fromAddress("203.0.113.7"))).isEqualTo(Identity.address("203.0.113.0/24"));
        assertThat(ip.resolve(TestCall.fromAddress("::ffff:203.0.113.9")))
                .isEqualTo(Identity.address("203.0.113.0/24"));
        assertThat(ip.resolve(TestCall.fromAddress("2001:db8:0:1::1"))).isEqualTo(Identity.address("2001:db8::/56"));
        assertThat(resolve("ip", TestCall.fromAddress("2001:db8:0:1::1")))
                .isEqualTo(Identity.address("2001:db8:0:1::/64"));
    }

    @Test
    void theTextNullIsAValue() {
        assertThat(resolve("principal", TestCall.byPrincipal("null"))).isEqualTo(Identity.principal("null"));
        assertThat(resolve("arg:x", TestCall.EMPTY)).isEqualTo(Identity.ANONYMOUS);
    }

    @ParameterizedTest
    @CsvSource({"global, false", "principal | ip, false", "header:arg, false", "ip + arg:a, true", "ip | arg:a, true"})
    void anExpressionWithAnArgumentNeedsArguments(String expression, boolean needed) {
        assertThat(KeyExpression.parse(expression, TERMS).needsArguments()).isEqualTo(needed);
    }

    @Test
    void doesNotResolveTermsAfterTheResultIsKnown() {
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

    @ParameterizedTest
    @ValueSource(strings = {"header:x", "cookie:x", "query:x", "path:x", "claim:x", "arg:x", "method", "principal"})
    void eachTextOfAClientHasAShortStoredKeyOfItsOwn(String term) {
        KeyExpression key = KeyExpression.parse(term, TERMS);
        IdentityEncoder encoder = new IdentityEncoder(Optional.empty());
        Set<String> stored = new HashSet<>();
        List<String> hostile = List.of(
                "x".repeat(1_000_000),
                "x".repeat(1_000_001),
                "a\r\nSet-Cookie: b",
                "a\rb",
                "a\nb",
                "a\0",
                "a\0b",
                "{a}",
                "a+p.b",
                "é",
                "e\u0301",
                "\ud83d\ude00",
                "\ud83d",
                "\u202ea",
                "null");
        for (String value : hostile) {
            TestCall call = TestCall.ofHeader("x", value)
                    .withPrincipal(value)
                    .withArgument("x", value)
                    .withTerm(term, value);
            assertThat(stored.add(encoder.encode(key.resolve(call)))).isTrue();
        }
        assertThat(stored).allMatch(text -> text.matches("[A-Za-z0-9._@%~-]{1,80}"));
    }

    @Test
    void theTextIsCanonical() {
        assertThat(KeyExpression.parse("principal | ip", TERMS)).hasToString("principal | ip");
        assertThat(KeyExpression.parse(" header:X-Key+ip|cookie:Id ", TERMS))
                .hasToString("header:x-key + ip | cookie:Id");
        assertThat(KeyExpression.parse("ip|tenant", WITH_TENANT)).hasToString("ip | tenant");
    }

    @ParameterizedTest
    @CsvSource({
        "global, true, false, false, false",
        "ip | header:x, true, false, true, false",
        "ip + header:x | global, true, false, true, true",
        "ip | principal, false, false, false, false",
        "method, false, false, false, false",
        "ip | cookie:x, false, false, false, false",
        "query:x, false, false, false, false",
        "path:x, false, false, false, false",
        "tenant, false, false, false, false",
        "arg:header, false, false, false, false",
        "header:x | claim:plan, false, true, true, false",
        "ip + claim:plan, false, true, false, true",
    })
    void reportsTheKindsOfItsTerms(String expression, boolean early, boolean claims, boolean header, boolean compound) {
        KeyExpression key = KeyExpression.parse(expression, WITH_TENANT);
        assertThat(key.isEarly()).isEqualTo(early);
        assertThat(key.usesClaims()).isEqualTo(claims);
        assertThat(key.usesHeader()).isEqualTo(header);
        assertThat(key.isCompound()).isEqualTo(compound);
    }

    @Test
    void theValueOfAnExpressionIsThatOfTheTermThatResolved() {
        KeyExpression plan = KeyExpression.parse("header:X-Plan | claim:plan", TERMS);
        assertThat(plan.value(TestCall.ofHeader("x-plan", " Free ").withTerm("claim:plan", "basic")))
                .contains("Free");
        assertThat(plan.value(TestCall.EMPTY.withTerm("claim:plan", "basic"))).contains("basic");
        assertThat(plan.value(TestCall.EMPTY)).isEmpty();
        assertThat(KeyExpression.parse("global", TERMS).value(TestCall.EMPTY)).isEmpty();
        assertThat(KeyExpression.parse("ip + principal", TERMS)
                        .value(TestCall.fromAddress("203.0.113.7").withPrincipal("alice")))
                .isEmpty();
        assertThat(KeyExpression.parse("tenant", WITH_TENANT).value(TestCall.ofHeader("x-tenant", "acme")))
                .contains("acme");
    }

    @Test
    void aResolverOfTheApplicationIsATerm() {
        TestCall call = TestCall.ofHeader("x-tenant", "acme").withPrincipal("alice");
        assertThat(KeyExpression.parse("tenant", WITH_TENANT).resolve(call)).isEqualTo(Identity.of("acme"));
        assertThat(KeyExpression.parse("tenant + principal", WITH_TENANT).resolve(call))
                .isEqualTo(Identity.of("acme").and(ALICE));
        assertThat(KeyExpression.parse("tenant | principal", WITH_TENANT).resolve(TestCall.byPrincipal("alice")))
                .isEqualTo(ALICE);
        assertThat(KeyExpression.parse("tenant", WITH_TENANT).resolve(TestCall.EMPTY))
                .isEqualTo(Identity.ANONYMOUS);
    }

    @Test
    void aTermThatThrowsOrReturnsNullDoesNotResolveAndIsLoggedOnce() {
        Map<String, KeyResolver> resolvers = Map.of(
                "throwing",
                call -> {
                    throw new IllegalStateException("down");
                },
                "broken",
                call -> {
                    throw new NoClassDefFoundError("gone");
                },
                "blank",
                call -> Optional.of(Identity.of(" ")),
                "none",
                call -> null,
                "empty",
                call -> Optional.empty());
        KeyTerms terms = with(resolvers);
        try (LogCapture log = new LogCapture()) {
            for (String name : List.of("throwing", "broken", "blank", "none", "empty", "arg:x")) {
                for (int i = 0; i < 3; i++) {
                    TestCall call = TestCall.byPrincipal("alice").withArgument("x", new Object() {
                        @Override
                        public String toString() {
                            throw new IllegalStateException("no text");
                        }
                    });
                    assertThat(KeyExpression.parse(name, terms).resolve(call)).isEqualTo(Identity.ANONYMOUS);
                    assertThat(KeyExpression.parse(name + " | principal", terms).resolve(call))
                            .isEqualTo(ALICE);
                    assertThat(KeyExpression.parse("principal + " + name + " | principal", terms)
                                    .resolve(call))
                            .isEqualTo(ALICE);
                    assertThat(KeyExpression.parse(name, terms).value(call)).isEmpty();
                }
            }
            assertThat(log.lines())
                    .containsExactly(
                            warning("throwing failed"),
                            warning("broken failed"),
                            warning("blank failed"),
                            warning("none returned null"),
                            warning("arg:x failed"));
        }
    }

    private static String warning(String what) {
        return "WARNING WEIR-305 Key term " + what + ". The next alternative of the key applies to such calls."
                + " Later failures of this term are not logged.";
    }

    @ParameterizedTest
    @CsvSource({
        "tenant, true",
        "_t, true",
        "a.b-c_9, true",
        "Global, true",
        "'', false",
        "9a, false",
        ".a, false",
        "-a, false",
        "a b, false",
        "a:b, false",
        "a+b, false",
        "é, false",
        "global, false",
        "ip, false",
        "principal, false",
        "method, false",
        "header, false",
        "cookie, false",
        "query, false",
        "path, false",
        "claim, false",
        "arg, false",
    })
    void theNameOfAResolverIsNotAWordOfTheKeyLanguage(String name, boolean possible) {
        assertThat(KeyTerms.isName(name)).isEqualTo(possible);
    }

    @Test
    void anyExpressionEqualsItsParsedText() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            String text = RandomKeys.expression(random);
            KeyExpression read = KeyExpression.parse(text, WITH_TENANT);
            KeyExpression again = KeyExpression.parse(read.toString(), WITH_TENANT);
            TestCall call = RandomKeys.call(random);
            assertThat(again).as("%s, seed %d", text, seed).isEqualTo(read).hasToString(read.toString());
            assertThat(again.resolve(call)).as("%s, seed %d", text, seed).isEqualTo(read.resolve(call));
            assertThat(again.arguments()).as("%s, seed %d", text, seed).isEqualTo(read.arguments());
        }
    }

    @Test
    void anyTextIsParsedOrRejectedWithAPosition() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Pattern message = Pattern.compile("at character (\\d+): \\P{Cntrl}+");
        for (int i = 0; i < 20_000; i++) {
            String text = RandomKeys.text(random);
            try {
                KeyExpression read = KeyExpression.parse(text, WITH_TENANT);
                assertThat(KeyExpression.parse(read.toString(), WITH_TENANT)).isEqualTo(read);
            } catch (IllegalArgumentException e) {
                Matcher matcher = message.matcher(String.valueOf(e.getMessage()));
                assertThat(matcher.matches())
                        .as("%s of %s, seed %d", e.getMessage(), text, seed)
                        .isTrue();
                assertThat(Integer.parseInt(matcher.group(1)))
                        .as("%s, seed %d", text, seed)
                        .isBetween(1, text.codePointCount(0, text.length()) + 1);
            }
        }
    }
}
