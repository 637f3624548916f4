// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of an application on a server with Jakarta EE: servlets, enterprise beans, transactions, sessions and managed threads. */
abstract class EnterpriseContract extends ApplicationContract {
    @Test
    void beanCalledByAServletIsLimited() {
        assertThat(get("served").body()).isEqualTo("served served");
        assertThat(get("served").body()).isEqualTo("served served");
        assertThat(get("served").statusCode()).isEqualTo(429);
        assertThat(Http.get(uri("served"), "X-Client", client + "x").statusCode())
                .isEqualTo(200);
    }

    @Test
    void sessionScopedBeanIsLimited() {
        assertThat(get("api/bean/session").body()).isEqualTo("added");
        LimitResponse.verifyRejected(get("api/bean/session"), "cart");
    }

    @Test
    void statelessBeanIsLimited() {
        assertThat(get("api/bean/stateless").body()).isEqualTo("served");
        LimitResponse.verifyRejected(get("api/bean/stateless"), "clerk");
        assertThat(get("api/bean/caught").body()).isEqualTo("RateLimitExceededException");
    }

    @Test
    void singletonBeanIsLimited() {
        assertThat(get("api/bean/singleton").body()).isEqualTo("kept");
        LimitResponse.verifyRejected(get("api/bean/singleton"), "keeper");
    }

    @Test
    void callsOutsideOfARequestAreDecidedSeparately() {
        limiter("reset?policy=detached&key=anonymous");
        assertThat(get("api/bean/detached").body()).isEqualTo("[detached, detached, RateLimitExceededException]");
        assertThat(get("api/bean/at-start").body()).isEqualTo("[called, called, rejected]");
    }

    @Test
    void retriedMethodIsChargedOnceAndARejectionIsNotRetried() {
        assumeFalse(
                "glassfish".equals(System.getProperty("arquillian.launch")),
                "GlassFish has no MicroProfile Fault Tolerance, so no @Retry");
        int attempts = Integer.parseInt(get("api/bean/attempts").body());
        assertThat(get("api/bean/retried").body()).isEqualTo("on purpose");
        assertThat(get("api/bean/attempts").body()).isEqualTo("" + (attempts + 4));
        assertThat(remaining("retried")).isEqualTo(1);
        get("api/bean/retried");
        int decisions = decisions("Flaky.alwaysFails");

        LimitResponse.verifyRejected(get("api/bean/retried"), "retried");

        assertThat(get("api/bean/attempts").body()).isEqualTo("" + (attempts + 8));
        assertThat(decisions("Flaky.alwaysFails")).isEqualTo(decisions + 1);
    }

    @Test
    void rejectionFailsTheStageOfAnAsynchronousMethod() {
        assertThat(get("api/bean/asynchronous").body()).isEqualTo("done");
        assertThat(remaining("asynchronous")).isEqualTo(1);
        assertThat(get("api/bean/asynchronous").body()).isEqualTo("done");

        assertThat(get("api/bean/asynchronous").body()).isEqualTo("failed with RateLimitExceededException");
    }

    @Test
    @Tag("field")
    void rejectionFailsTheStageOfAnEnterpriseBean() {
        assertThat(get("api/bean/enterprise-stage").body()).isEqualTo("offer");

        assertThat(get("api/bean/enterprise-stage").body()).isEqualTo("failed with RateLimitExceededException");
        LimitResponse.verifyRejected(get("api/bean/failed-stage"), "clerk");
    }

    @Test
    void rejectedStageOfAResourceIsAnswered() {
        String user = "api/bean/argument-stage?user=" + client;
        assertThat(get(user).body()).isEqualTo("hello " + client);

        LimitResponse.verifyRejected(get(user), "by-argument-of-bean");
    }

    @ParameterizedTest
    @ValueSource(strings = {"enterprise", "transactional"})
    @Tag("field")
    void rejectionThatLeavesABeanRollsItsTransactionBack(String bean) {
        assertThat(get("api/bean/order?bean=" + bean).body()).isEqualTo("placed, committed");

        assertThat(get("api/bean/order?bean=" + bean).body()).isEqualTo("RateLimitExceededException, rolled back");
    }

    @Test
    @Tag("field")
    void methodOnAnotherThreadIsDecidedWithTheKeyOfItsCaller() {
        for (String caller : List.of(client, "other-" + client)) {
            URI uri = uri("api/bean/background");
            assertThat(Http.get(uri, "X-Client", caller).body()).isEqualTo("another thread");
            assertThat(Http.get(uri, "X-Client", caller).body()).isEqualTo("another thread");
            LimitResponse.verifyRejected(Http.get(uri, "X-Client", caller), "background");
        }
    }

    @Test
    @Tag("field")
    void methodWithoutAResultOnAnotherThreadIsRejectedAtTheCall() {
        assertThat(get("api/bean/background-void").body()).isEqualTo("started");
        LimitResponse.verifyRejected(get("api/bean/background-void"), "background-void");
    }

    @Test
    void methodOnAnotherThreadRunsOnceAfterItsWait() {
        List<CompletableFuture<HttpResponse<String>>> calls = IntStream.range(0, 5)
                .mapToObj(call -> Http.getAsync(uri("api/bean/background-paced")))
                .toList();
        Set<String> runs = calls.stream()
                .map(CompletableFuture::join)
                .map(HttpResponse::body)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(runs).hasSize(5).allMatch(run -> run.startsWith("run "));
    }

    @Test
    void methodOnAnotherThreadKeepsItsSlotUntilItEnds() {
        assertThat(get("api/bean/background-slot").body())
                .isEqualTo("first, failed with RateLimitExceededException, third");
    }

    @Test
    void caughtRejectionDoesNotRollBackTheTransaction() {
        assertThat(get("api/bean/book").body()).isEqualTo("booked, may commit");

        HttpResponse<String> rejected = get("api/bean/book");

        assertThat(rejected.statusCode()).isEqualTo(200);
        assertThat(rejected.body()).isEqualTo("rejected, may commit");
    }

    @Test
    void rejectionPrecedesTheTransaction() {
        assertThat(limiter("acquire?policy=mandatory&key=client:" + client).body())
                .isEqualTo("Allowed");

        LimitResponse.verifyRejected(get("api/bean/mandatory"), "mandatory");
    }
}
