// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys of a namespace: {@code weir:1:{<namespace>:<identity>}:<policy>:<letter><window in ms>}, one per limit.
 *
 * @param head what all begin with
 */
record StoredKeys(String head) {
    static StoredKeys of(String namespace) {
        return new StoredKeys("weir:1:{" + namespace + ":");
    }

    /** One key per limit, in the order of the charges and their limits. */
    List<String> of(List<Charge> charges) {
        if (charges.size() == 1 && charges.get(0).policy().limits().size() == 1) {
            return List.of(of(charges.get(0), 0));
        }
        List<String> keys = new ArrayList<>();
        for (Charge charge : charges) {
            for (int limit = 0; limit < charge.policy().limits().size(); limit++) {
                keys.add(of(charge, limit));
            }
        }
        return keys;
    }

    String of(Charge charge, int limit) {
        return head + charge.identity() + "}:" + charge.policy().keyTail(limit);
    }
}
