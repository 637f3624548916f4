// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.QuotaThresholdReached;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.ObservesAsync;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The latest notices about used shares of monthly quotas. An application with mail addresses sends mails instead. */
@ApplicationScoped
public class MonthlyNotices {
    private static final int KEPT = 100;

    private final Deque<Notice> latest = new ArrayDeque<>();

    private record Notice(String customer, String text) {}

    void reached(@ObservesAsync QuotaThresholdReached event) {
        String customer = event.identity().parts().get(0).value();
        String text =
                "You have used " + event.percent() + " % of " + event.quota().capacity() + " calls\n";
        synchronized (latest) {
            if (latest.size() == KEPT) {
                latest.removeFirst();
            }
            latest.add(new Notice(customer, text));
        }
    }

    /** Returns the notices to a customer, the oldest first. */
    public List<String> of(String customer) {
        synchronized (latest) {
            return latest.stream()
                    .filter(notice -> notice.customer.equals(customer))
                    .map(Notice::text)
                    .toList();
        }
    }
}
