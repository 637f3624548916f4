// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.interceptor.engine.LogCapture;
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
        return new KeyTerms(
                32, 64, new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR), resolvers, Claims.areHere());
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
        assertThat(resolve("cookie:id", call.andTerm("cookie:id", "s"))).isEqualTo(Identity.cookie("id", "s"));
        assertThat(resolve("query:a[b]", call.andTerm("query:a[b]", "s"))).isEqualTo(Identity.query("a[b]", "s"));
        assertThat(resolve("path:org", call.andTerm("path:org", "s"))).isEqualTo(Identity.path("org", "s"));
        assertThat(resolve("claim:https://example.org/plan", call.andTerm("claim:https://example.org/plan", "s")))
                .isEqualTo(Identity.claim("https://example.org/plan", "s"));
        assertThat(resolve("method", call.andTerm("method", "Search.find"))).isEqualTo(Identity.method("Search.find"));
        assertThat(resolve("header:X-Api-Key", Calls.with("x-api-key", "s \t ")))
                .isEqualTo(Identity.header("x-api-key", "s"));
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
    void otherTextIsRefusedWithItsPosition(String expression, String message) {
        assertThatThrownBy(() -> KeyExpression.parse(expression, WITH_TENANT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void aCharacterThatCannotBeSeenIsShownByItsNumber() {
        assertThatThrownBy(() -> KeyExpression.parse("ip | \0ip", TERMS))
                .hasMessage("at character 6: a term is expected, found U+0000");
    }

    @Test
    void aHeadersNameIsATokenOfAtMost64Characters() {
        String longest = "x".repeat(64);
        assertThat(resolve("header:" + longest, Calls.with(longest, "v"))).isEqualTo(Identity.header(longest, "v"));
        assertThatThrownBy(() -> KeyExpression.parse("header:" + longest + "x", TERMS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("at character 72: a name after header: has at most 64 characters");
        assertThat(resolve("header:!#$%&'*.^_`~-9", Calls.with("!#$%&'*.^_`~-9", "v")))
                .isEqualTo(Identity.header("!#$%&'*.^_`~-9", "v"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t \n"})
    void blankValuesDoNotResolve(String blank) {
        assertThat(resolve("principal", Calls.by(blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("header:x", Calls.with("x", blank))).isEqualTo(Identity.ANONYMOUS);
        assertThat(resolve("arg:x", Calls.NOBODY.andArgument("x", blank))).isEqualTo(Identity.ANONYMOUS);
        for (String term : List.of("cookie:x", "query:x", "path:x", "claim:x", "method")) {
            assertThat(resolve(term, Calls.NOBODY.andTerm(term, blank)))
                    .as(term)
                    .isEqualTo(Identity.ANONYMOUS);
        }
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

    @ParameterizedTest
    @ValueSource(strings = {"header:x", "cookie:x", "query:x", "path:x", "claim:x", "arg:x", "method", "principal"})
    void whateverAClientSendsBecomesAShortKeyOfItsOwn(String term) {
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
            Calls call =
                    Calls.with("x", value).andBy(value).andArgument("x", value).andTerm(term, value);
            assertThat(stored.add(encoder.encode(key.resolve(call)))).isTrue();
        }
        assertThat(stored).allMatch(text -> text.matches("[A-Za-z0-9._@%~-]{1,80}"));
    }

    @Test
    void itsTextIsCanonical() {
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
    void anExpressionKnowsWhatItUses(
            String expression, boolean early, boolean claims, boolean header, boolean compound) {
        KeyExpression key = KeyExpression.parse(expression, WITH_TENANT);
        assertThat(key.isEarly()).isEqualTo(early);
        assertThat(key.usesClaims()).isEqualTo(claims);
        assertThat(key.usesHeader()).isEqualTo(header);
        assertThat(key.isCompound()).isEqualTo(compound);
    }

    @Test
    void theValueOfAnExpressionIsThatOfTheTermThatResolved() {
        KeyExpression plan = KeyExpression.parse("header:X-Plan | claim:plan", TERMS);
        assertThat(plan.value(Calls.with("x-plan", " Free ").andTerm("claim:plan", "basic")))
                .contains("Free");
        assertThat(plan.value(Calls.NOBODY.andTerm("claim:plan", "basic"))).contains("basic");
        assertThat(plan.value(Calls.NOBODY)).isEmpty();
        assertThat(KeyExpression.parse("global", TERMS).value(Calls.NOBODY)).isEmpty();
        assertThat(KeyExpression.parse("ip + principal", TERMS)
                        .value(Calls.from("203.0.113.7").andBy("alice")))
                .isEmpty();
        assertThat(KeyExpression.parse("tenant", WITH_TENANT).value(Calls.with("x-tenant", "acme")))
                .contains("acme");
    }

    @Test
    void aResolverOfTheApplicationsIsATermLikeAnyOther() {
        Calls call = Calls.with("x-tenant", "acme").andBy("alice");
        assertThat(KeyExpression.parse("tenant", WITH_TENANT).resolve(call)).isEqualTo(Identity.of("acme"));
        assertThat(KeyExpression.parse("tenant + principal", WITH_TENANT).resolve(call))
                .isEqualTo(Identity.of("acme").and(ALICE));
        assertThat(KeyExpression.parse("tenant | principal", WITH_TENANT).resolve(Calls.by("alice")))
                .isEqualTo(ALICE);
        assertThat(KeyExpression.parse("tenant", WITH_TENANT).resolve(Calls.NOBODY))
                .isEqualTo(Identity.ANONYMOUS);
    }

    @Test
    void aTermThatThrowsOrAnswersNullDoesNotResolveAndIsMentionedOnce() {
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
                    Calls call = Calls.by("alice").andArgument("x", new Object() {
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
                            said("throwing failed"),
                            said("broken failed"),
                            said("blank failed"),
                            said("none answered null"),
                            said("arg:x failed"));
        }
    }

    private static String said(String what) {
        return "WARNING WEIR-305 the key term " + what
                + "; a call for which it does so has no such key, and the next alternative counts; said once";
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
    void aTermOfTheApplicationsHasANameThatIsNoWordOfTheLanguage(String name, boolean possible) {
        assertThat(KeyTerms.isName(name)).isEqualTo(possible);
    }

    @Test
    void anyExpressionIsTheSameAfterWritingAndReadingIt() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            String text = RandomKeys.expression(random);
            KeyExpression read = KeyExpression.parse(text, WITH_TENANT);
            KeyExpression again = KeyExpression.parse(read.toString(), WITH_TENANT);
            Calls call = RandomKeys.call(random);
            assertThat(again).as("%s, seed %d", text, seed).isEqualTo(read).hasToString(read.toString());
            assertThat(again.resolve(call)).as("%s, seed %d", text, seed).isEqualTo(read.resolve(call));
            assertThat(again.arguments()).as("%s, seed %d", text, seed).isEqualTo(read.arguments());
        }
    }

    @Test
    void anyTextIsReadOrRefusedWithAPositionInIt() {
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
