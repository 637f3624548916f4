// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

/** A limit defined in place, on a plain CDI bean. Its policy is called {@code ReportService.report}. */
@ApplicationScoped
public class ReportService {
    @RateLimit(limit = "3/10s", key = "global")
    public Report report() {
        return new Report("Water levels", 3);
    }

    /** A short report. */
    public record Report(String title, int pages) {}
}
