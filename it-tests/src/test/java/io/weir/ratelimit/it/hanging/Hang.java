// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.hanging;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.CountDownLatch;

/** A database that does not answer until it is told to. */
@ApplicationScoped
public class Hang {
    private final CountDownLatch end = new CountDownLatch(1);

    public void await() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public void end() {
        end.countDown();
    }
}
