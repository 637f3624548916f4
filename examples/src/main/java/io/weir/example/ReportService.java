// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

/** A CDI bean with an inline policy, whose name is {@code ReportService.report}. */
@ApplicationScoped
public class ReportService {
    @RateLimit(limit = "3/10s", key = "global")
    public Report report() {
        return new Report("Water levels", 3);
    }

    /**
     * A report.
     *
     * @param title the title
     * @param pages the number of pages
     */
    public record Report(String title, int pages) {}
}
