// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of an application with any backend. Most policies of the test application have the key {@code header:X-Client}, and each
 * test is a different client, so that tests share one server without interference.
 */
abstract class ApplicationContract {
    private static final String ADDRESS = "address:127.0.0.1";

    final String client = UUID.randomUUID().toString();

    /** Returns the root of the test application, with a slash at the end. */
    abstract URI base();

    /** Returns a pattern of the thread that completes {@code acquireAsync}; Quarkus has no executor in JNDI. */
    String threadOfTheContainer() {
        return "in context";
    }

    // --- Annotations

    @Test
    void methodAnnotationReplacesTheClassAnnotation() {
        HttpResponse<String> own = get("api/class/method");

        assertThat(LimitResponse.field(own, "RateLimit-Policy")).isEqualTo("\"method-level\";q=2;w=3600");
        assertThat(remaining("class-level")).isEqualTo(3);
        assertThat(get("api/class/method").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/class/method"), "method-level");

        HttpResponse<String> plain = get("api/class");
        assertThat(LimitResponse.field(plain, "RateLimit-Policy")).isEqualTo("\"class-level\";q=3;w=3600");
        assertThat(LimitResponse.remaining(plain)).isEqualTo(2);
    }

    @Test
    void exemptMethodOfALimitedClassIsNotLimited() {
        assertThat(Http.statuses(5, uri("api/class/exempt"), "X-Client", client))
                .containsOnly(200);

        LimitResponse.verifyNoQuota(get("api/class/exempt"));
        assertThat(remaining("class-level")).isEqualTo(3);
    }

    @Test
    void annotationIsInheritedFromASuperclass() {
        assertThat(get("api/inherited").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/inherited"), "inherited");
    }

    @Test
    void stereotypeHasALimit() {
        assertThat(get("api/stereotyped").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/stereotyped"), "stereotyped");
    }

    @Test
    void interfaceMethodHasALimit() {
        assertThat(get("api/described").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/described"), "described");
    }

    @Test
    void subResourceThatIsNoBeanIsLimited() {
        assertThat(get("api/charge/sub").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/charge/sub"), "sub");
    }

    @Test
    void subResourceWithAnInlinePolicyIsLimited() {
        assertThat(get("api/charge/sub-inline").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/charge/sub-inline"), "InlineSubResource.get");
    }

    @Test
    void classLimitAppliesToASubResourceLocator() {
        for (int i = 0; i < 3; i++) {
            assertThat(get("api/class/down").statusCode()).isEqualTo(200);
        }
        LimitResponse.verifyRejected(get("api/class/down"), "class-level");
        assertThat(Http.get(uri("api/class/down"), "X-Client", client + "x").statusCode())
                .isEqualTo(200);
    }

    // --- Charges

    @Test
    void severalPoliciesAreOneDecision() {
        HttpResponse<String> allowed = get("api/charge/several");
        assertThat(allowed.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.field(allowed, "RateLimit-Policy"))
                .isEqualTo("\"wide\";q=10;w=3600, \"narrow\";q=1;w=3600");
        assertThat(LimitResponse.policy(allowed)).isEqualTo("narrow");
        assertThat(remaining("wide")).isEqualTo(9);

        LimitResponse.verifyRejected(get("api/charge/several"), "narrow");

        assertThat(remaining("wide")).isEqualTo(9);
    }

    @Test
    void requestIsChargedOncePerPolicy() {
        HttpResponse<String> response = get("api/charge/once");

        assertThat(response.body()).isEqualTo("once");
        assertThat(LimitResponse.remaining(response)).isEqualTo(9);
        assertThat(remaining("once")).isEqualTo(9);
    }

    @Test
    @Tag("field")
    void eachCallOfABeanMethodInOneRequestIsCharged() {
        HttpResponse<String> allowed = get("api/charge/repeated?calls=4");
        assertThat(allowed.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.remaining(allowed)).isEqualTo(6);

        LimitResponse.verifyRejected(get("api/charge/repeated?calls=50"), "repeated");

        assertThat(remaining("repeated")).isZero();
    }

    @Test
    void nestedCallWithAHigherCostChargesTheDifference() {
        HttpResponse<String> response = get("api/charge/dearer");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.remaining(response)).isEqualTo(5);
        assertThat(remaining("dearer")).isEqualTo(5);
    }

    @Test
    void rejectionOfABeanHasTheSameResponse() {
        assertThat(get("api/charge/below").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/charge/below"), "below");
    }

    @Test
    void resourceCanHandleARejection() {
        assertThat(get("api/charge/handled").body()).isEqualTo("below");

        HttpResponse<String> rejected = get("api/charge/handled");

        assertThat(rejected.statusCode()).isEqualTo(409);
        // At most two hours: the current window ends, and then its permit leaves the next window.
        assertThat(rejected.body()).matches("retry after (7[01]\\d\\d|7200)");
    }

    @Test
    void clientIsAllowedAfterRetryAfter() throws Exception {
        assertThat(get("api/charge/soon").statusCode()).isEqualTo(200);
        // Two calls per second are allowed, so on a slow machine the rejection can come later.
        HttpResponse<String> rejected = Stream.generate(() -> get("api/charge/soon"))
                .limit(50)
                .filter(response -> response.statusCode() == 429)
                .findFirst()
                .orElseThrow();

        TimeUnit.SECONDS.sleep(LimitResponse.verifyRejected(rejected, "soon"));

        assertThat(get("api/charge/soon").statusCode()).isEqualTo(200);
    }

    @Test
    void asynchronousResourceIsChargedOnce() {
        HttpResponse<String> response = get("api/charge/later");

        assertThat(response.body()).isEqualTo("later");
        assertThat(LimitResponse.remaining(response)).isEqualTo(1);
        assertThat(get("api/charge/later").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/charge/later"), "later");
    }

    @Test
    void headIsChargedLikeGet() {
        HttpResponse<String> first = Http.head(uri("api/inherited"), "X-Client", client);
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.remaining(first)).isZero();

        HttpResponse<String> rejected = Http.head(uri("api/inherited"), "X-Client", client);

        LimitResponse.verifyRejected(rejected, "inherited");
        assertThat(rejected.body()).isEmpty();
    }

    @Test
    void requestWithoutAMatchingMethodIsNotCharged() {
        assertThat(Http.options(uri("api/charge/post"), "X-Client", client).statusCode())
                .isEqualTo(200);
        assertThat(get("api/charge/post").statusCode()).isEqualTo(405);
        assertThat(remaining("posted")).isEqualTo(2);

        assertThat(Http.post(uri("api/charge/post"), "text/plain", "text", "X-Client", client)
                        .body())
                .isEqualTo("text");
        assertThat(remaining("posted")).isEqualTo(1);
    }

    @Test
    void entityIsNotReadBeforeARejection() {
        int before = Integer.parseInt(get("api/entity/read").body());
        HttpResponse<String> allowed =
                Http.post(uri("api/entity"), "application/x-recorded", "four", "X-Client", client);
        assertThat(allowed.body()).isEqualTo("4");
        assertThat(Integer.parseInt(get("api/entity/read").body())).isEqualTo(before + 1);

        LimitResponse.verifyRejected(
                Http.post(uri("api/entity"), "application/x-recorded", "four", "X-Client", client), "entity");

        assertThat(Integer.parseInt(get("api/entity/read").body())).isEqualTo(before + 1);
    }

    @Test
    void rejectionDoesNotWaitForTheEntity() {
        Http.post(uri("api/entity"), "application/x-recorded", "four", "X-Client", client);

        // Only ten bytes of the entity are sent, so a server that reads the entity waits forever. WildFly accepts at
        // most ten megabytes.
        String answer = Http.raw(
                base(),
                "POST " + uri("api/entity").getPath() + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client
                        + "\r\nContent-Type: application/x-recorded\r\nContent-Length: 9000000\r\n\r\n0123456789");

        assertThat(answer).startsWith("HTTP/1.1 429");
    }

    // --- Keys

    @Test
    void usersOfOneAddressHaveSeparateLimits() {
        resetUsers();
        for (String user : new String[] {"ann", "ben"}) {
            assertThat(as(user).statusCode()).isEqualTo(200);
            assertThat(as(user).statusCode()).isEqualTo(200);
            LimitResponse.verifyRejected(as(user), "by-user");
        }
        assertThat(remaining("by-user", "user:ann")).isZero();
        assertThat(remaining("by-user", ADDRESS)).isEqualTo(2);
    }

    @Test
    void userNamedLikeAnAddressIsADifferentKey() {
        resetUsers();
        assertThat(Http.statuses(2, uri("api/key/visitor"))).containsOnly(200);
        LimitResponse.verifyRejected(Http.get(uri("api/key/visitor")), "by-user");

        assertThat(LimitResponse.remaining(as("127.0.0.1"))).isEqualTo(1);
    }

    @Test
    void unauthorizedRequestIsNotCharged() {
        resetUsers();
        // If only the annotation requires a role, the status of an anonymous request depends on the server.
        assertThat(Http.statuses(3, uri("api/key/user"))).allMatch(status -> status == 401 || status == 403);
        assertThat(Http.statuses(3, uri("api/key/user"), "Authorization", Http.basic("ann", "wrong")))
                .allMatch(status -> status == 401 || status == 403);
        assertThat(Http.statuses(3, uri("api/key/user"), "Authorization", Http.basic("outsider", "outsider-password")))
                .containsOnly(403);
        assertThat(Http.statuses(3, uri("api/key/locked"))).containsOnly(401);
        assertThat(Http.statuses(3, uri("api/key/locked"), "Authorization", Http.basic("ann", "wrong")))
                .containsOnly(401);
        assertThat(Http.statuses(
                        3, uri("api/key/locked"), "Authorization", Http.basic("outsider", "outsider-password")))
                .containsOnly(403);

        assertThat(remaining("by-user", ADDRESS)).isEqualTo(2);
        assertThat(remaining("by-user", "anonymous")).isEqualTo(2);
        assertThat(remaining("by-user", "user:ann")).isEqualTo(2);
        assertThat(remaining("by-user", "user:outsider")).isEqualTo(2);
    }

    @Test
    void headerCanBeAKey() {
        assertThat(apiKey("api-key", client).statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(apiKey("api-key", client), "by-api-key");
        assertThat(apiKey("api-key", client + "x").statusCode()).isEqualTo(200);
    }

    @Test
    void compoundKeyHasTwoParts() {
        assertThat(apiKey("ip-and-api-key", client).statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(apiKey("ip-and-api-key", client), "by-ip-and-api-key");
        assertThat(apiKey("ip-and-api-key", client + "x").statusCode()).isEqualTo(200);
    }

    @Test
    void globalKeyIsSharedByAllClients() {
        limiter("reset?policy=by-nothing&key=all");
        assertThat(get("api/key/global").statusCode()).isEqualTo(200);
        assertThat(LimitResponse.remaining(Http.get(uri("api/key/global"), "X-Client", client + "x")))
                .isEqualTo(1);
        assertThat(limiter("remaining?policy=by-nothing&key=all").body()).isEqualTo("1");
        assertThat(get("api/key/global").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/key/global"), "by-nothing");
    }

    @Test
    void argumentCanBeAKey() {
        HttpResponse<String> first = get("api/key/argument?user=" + client);
        assertThat(first.statusCode()).isEqualTo(200);
        // The decisions of the method and of the nested bean have the same argument and are one charge.
        assertThat(LimitResponse.remaining(first)).isZero();

        LimitResponse.verifyRejected(get("api/key/argument?user=" + client), "by-argument");

        assertThat(get("api/key/argument?user=" + client + "x").statusCode()).isEqualTo(200);
    }

    @Test
    void argumentOfABeanCanBeAKey() {
        assertThat(get("api/key/argument-of-bean?user=a").body()).isEqualTo("for a");
        LimitResponse.verifyRejected(get("api/key/argument-of-bean?user=a"), "by-argument-of-bean");
        assertThat(get("api/key/argument-of-bean?user=b").body()).isEqualTo("for b");
    }

    // --- RateLimiter

    @Test
    void limiterAcquiresPeeksAndResets() {
        String of = "?policy=code&key=code:" + client;
        assertThat(limiter("acquire" + of).body()).isEqualTo("Allowed");
        assertThat(limiter("acquire" + of + "&cost=3").body()).isEqualTo("Allowed");
        assertThat(limiter("remaining" + of).body()).isEqualTo("1");
        assertThat(limiter("acquire" + of + "&cost=2").body()).isEqualTo("Rejected");
        assertThat(limiter("remaining" + of).body()).isEqualTo("1");

        limiter("reset" + of);

        assertThat(limiter("remaining" + of).body()).isEqualTo("5");
    }

    @Test
    void limiterRefunds() {
        String of = "?policy=code&key=code:" + client;
        limiter("acquire" + of + "&cost=3");
        assertThat(limiter("acquire-and-refund" + of).body()).isEqualTo("refunded");
        assertThat(limiter("remaining" + of).body()).isEqualTo("2");

        limiter("refund" + of + "&cost=1");

        assertThat(limiter("remaining" + of).body()).isEqualTo("3");
    }

    @Test
    void acquireAsyncCompletesOnAThreadOfTheContainer() {
        String of = "?policy=code&key=code:" + client;
        for (int i = 0; i < 5; i++) {
            assertThat(limiter("acquire-async" + of).body()).matches("Allowed " + threadOfTheContainer());
        }
        assertThat(limiter("acquire-async" + of).body()).matches("Rejected " + threadOfTheContainer());
    }

    @Test
    void observersReceiveARejectionOnce() {
        String of = "?policy=code&key=code:" + UUID.randomUUID();
        int now = decisions("rejected%20code");
        int later = decisions("rejected%20async%20code");
        limiter("acquire" + of + "&cost=5");

        assertThat(limiter("acquire" + of).body()).isEqualTo("Rejected");

        assertThat(decisions("rejected%20code")).isEqualTo(now + 1);
        for (int i = 0; i < 100 && decisions("rejected%20async%20code") == later; i++) {
            LockSupport.parkNanos(20_000_000);
        }
        assertThat(decisions("rejected%20async%20code")).isEqualTo(later + 1);
    }

    // --- Changes of limits

    @ParameterizedTest
    @ValueSource(strings = {"application", "process"})
    void changedLimitAppliesWithoutARestart(String where) throws Exception {
        try {
            assertThat(Http.statuses(3, uri("api/change/limited"), "X-Client", client))
                    .containsExactly(200, 200, 429);

            set(where, "changing", "4/1h");

            awaitRemaining("changing", 2);
            assertThat(Http.statuses(3, uri("api/change/limited"), "X-Client", client))
                    .containsExactly(200, 200, 429);

            set(where, "changing", "lots");
            set(where, "beside", "10/1h");

            awaitRemaining("beside", 6);
            assertThat(remaining("changing")).isZero();
            LimitResponse.verifyRejected(get("api/change/limited"), "changing");
        } finally {
            set(where, "changing", "");
            set(where, "beside", "");
        }
        awaitRemaining("beside", 96);
    }

    /** The server reads a property for the application, or it does not; the limit is the same in both cases. */
    @ParameterizedTest
    @ValueSource(strings = {"source", "profile", "profiles"})
    @Tag("field")
    void policiesAreThoseThatTheServerReads(String place) {
        String name = "ratelimit.policies.of-" + place + ".paths";
        String paths = get("api/change/configured?name=" + name).body();
        System.out.println("The server reads " + name + " = " + paths);
        assertThat(Http.statuses(2, uri("api/change/" + place), "X-Client", client))
                .containsExactly(200, paths.isEmpty() ? 200 : 429);
        if (place.equals("source")) {
            assertThat(paths).isEqualTo("/api/change/source");
        }
    }

    private void set(String where, String policy, String limit) {
        String name = "ratelimit.policies." + policy + ".limit";
        get("api/change/set?where=" + where + "&name=" + name + "&value=" + URLEncoder.encode(limit, UTF_8));
    }

    private void awaitRemaining(String policy, long remaining) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (remaining(policy) != remaining && System.nanoTime() < end) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
        assertThat(remaining(policy)).as("remaining of " + policy).isEqualTo(remaining);
    }

    @Test
    void policySourceOverridesTheLimitsOfAKey() {
        String premium = "premium-" + client;
        assertThat(Http.statuses(4, uri("api/change/bought"), "X-Client", premium))
                .containsExactly(200, 200, 200, 429);
        assertThat(Http.statuses(2, uri("api/change/bought"), "X-Client", client))
                .containsExactly(200, 429);
        assertThat(remaining("bought", "client:premium-other-" + client)).isEqualTo(3);
    }

    // --- Helpers

    HttpResponse<String> get(String path) {
        return Http.get(uri(path), "X-Client", client);
    }

    URI uri(String path) {
        return base().resolve(path);
    }

    HttpResponse<String> apiKey(String resource, String value) {
        return Http.get(uri("api/key/" + resource), "X-API-Key", value);
    }

    private HttpResponse<String> as(String user) {
        String password = user.equals("127.0.0.1") ? "address-password" : user + "-password";
        return Http.get(uri("api/key/user"), "Authorization", Http.basic(user, password));
    }

    private void resetUsers() {
        for (String key : new String[] {ADDRESS, "user:ann", "user:ben", "user:127.0.0.1", "user:outsider"}) {
            limiter("reset?policy=by-user&key=" + key);
        }
    }

    HttpResponse<String> limiter(String call) {
        HttpResponse<String> response = get("api/limiter/" + call);
        assertThat(response.statusCode()).as(call).isIn(200, 204);
        return response;
    }

    long remaining(String policy) {
        return remaining(policy, "client:" + client);
    }

    long remaining(String policy, String key) {
        return Long.parseLong(limiter("remaining?policy=" + policy + "&key=" + URLEncoder.encode(key, UTF_8))
                .body());
    }

    int decisions(String endpoint) {
        return Integer.parseInt(limiter("decisions?endpoint=" + endpoint).body());
    }
}
