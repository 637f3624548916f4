// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Assertions about the responses of limited resources, and their quota headers. */
final class LimitResponse {
    private static final Pattern IETF = Pattern.compile("\"([^\"]+)\";r=(\\d+)(?:;t=(\\d+))?");

    private LimitResponse() {}

    /** Verifies a rejection by one policy and returns Retry-After in seconds. */
    static long verifyRejected(HttpResponse<String> response, String policy) {
        return verifyRejected(response, policy, "");
    }

    /** Verifies a rejection by a calendar limit whose period ends as the text states. */
    static long verifyRejectedUntil(String periodEnd, HttpResponse<String> response, String policy) {
        return verifyRejected(response, policy, " and resets on " + periodEnd);
    }

    private static long verifyRejected(HttpResponse<String> response, String policy, String reset) {
        assertThat(response.statusCode()).isEqualTo(429);
        long seconds = number(response, "Retry-After");
        assertThat(seconds).isPositive();
        // Open Liberty adds a directive if it sets a cookie.
        boolean cookie = response.headers().firstValue("Set-Cookie").isPresent();
        assertThat(field(response, "Cache-Control"))
                .isIn(cookie ? List.of("no-store", "no-store, no-cache=set-cookie") : List.of("no-store"));
        assertThat(field(response, "Content-Type")).isEqualTo("application/problem+json");
        if (!response.request().method().equals("HEAD")) {
            assertThat(response.body())
                    .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                            + "\"title\":\"Too Many Requests\",\"status\":429,"
                            + "\"detail\":\"The quota of the policy " + policy + " is used up" + reset + ".\","
                            + "\"violated-policies\":[\"" + policy + "\"],"
                            + "\"error\":\"rate_limit_exceeded\",\"retry_after\":" + seconds + ","
                            + "\"message\":\"The quota of the policy " + policy + " is used up" + reset
                            + ". Try again in " + inWords(seconds) + ".\"}");
        }
        assertThat(field(response, "RateLimit"))
                .as("t equals Retry-After")
                .isEqualTo("\"" + policy + "\";r=" + remaining(response) + ";t=" + seconds);
        return seconds;
    }

    /** Returns the text of a wait for people, up to that of a calendar limit of days. */
    static String inWords(long seconds) {
        return seconds == 1
                ? "1 second"
                : seconds <= 120
                        ? seconds + " seconds"
                        : seconds <= 7_200
                                ? (seconds + 59) / 60 + " minutes"
                                : seconds <= 172_800
                                        ? (seconds + 3_599) / 3_600 + " hours"
                                        : (seconds + 86_399) / 86_400 + " days";
    }

    /** Verifies the response of a closed policy while the backend is unavailable: it has no quota. */
    static void verifyUnavailable(HttpResponse<String> response) {
        verifyUnavailable(response, 1);
    }

    /** Verifies the response of a closed policy while the backend is unavailable, with a Retry-After in seconds. */
    static void verifyUnavailable(HttpResponse<String> response, long seconds) {
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(number(response, "Retry-After")).isEqualTo(seconds);
        assertThat(field(response, "Cache-Control")).isEqualTo("no-store");
        assertThat(field(response, "Content-Type")).isEqualTo("application/problem+json");
        assertThat(response.body())
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                        + "\"title\":\"Service Unavailable\",\"status\":503,"
                        + "\"detail\":\"The service cannot check its rate limits as usual at the moment and takes fewer calls.\","
                        + "\"error\":\"rate_limit_unavailable\",\"retry_after\":" + seconds + ","
                        + "\"message\":\"The service cannot check its rate limits as usual at the moment and takes fewer calls. Try again in "
                        + inWords(seconds) + ".\"}");
        verifyNoQuota(response);
    }

    /** Verifies that the response has no quota headers. */
    static void verifyNoQuota(HttpResponse<String> response) {
        assertThat(response.headers().map().keySet())
                .noneMatch(name -> name.toLowerCase(Locale.ROOT).contains("ratelimit"));
    }

    /** Returns the policy of the field RateLimit. */
    static String policy(HttpResponse<String> response) {
        return ietf(response).group(1);
    }

    /** Returns the remaining permits of the field RateLimit. */
    static long remaining(HttpResponse<String> response) {
        return Long.parseLong(ietf(response).group(2));
    }

    /** Returns the seconds of the field RateLimit. */
    static long seconds(HttpResponse<String> response) {
        return Long.parseLong(ietf(response).group(3));
    }

    private static Matcher ietf(HttpResponse<String> response) {
        Matcher matcher = IETF.matcher(field(response, "RateLimit"));
        assertThat(matcher.matches()).as(field(response, "RateLimit")).isTrue();
        return matcher;
    }

    /** Returns the single value of a field. */
    static String field(HttpResponse<String> response, String name) {
        assertThat(response.headers().allValues(name))
                .as("%s of %s", name, response)
                .hasSize(1);
        return response.headers().allValues(name).get(0);
    }

    static long number(HttpResponse<String> response, String name) {
        assertThat(field(response, name)).matches("\\d+");
        return Long.parseLong(field(response, name));
    }

    /** Returns the time of the response in seconds since the epoch. Payara sends no Date, so the local time is used. */
    static long date(HttpResponse<String> response) {
        return response.headers()
                .firstValue("Date")
                .map(text -> ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                        .toEpochSecond())
                .orElseGet(() -> Instant.now().getEpochSecond());
    }
}
