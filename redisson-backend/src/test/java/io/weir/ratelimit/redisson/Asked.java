// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.ArrayList;
import java.util.List;

/**
 * What a flight asks {@code acquire.lua}, read back from its argument.
 *
 * @param spends whether it spends
 * @param follows whether it spends only if the check before it was admitted
 * @param count how many equal checks it stands for
 * @param keys the keys
 * @param costs what of each
 * @param patienceMicros how long for each
 */
record Asked(
        boolean spends, boolean follows, int count, List<String> keys, List<Long> costs, List<Long> patienceMicros) {
    static List<Asked> by(Flight flight) {
        byte[] bytes = flight.argument(1);
        Message in = Message.received(bytes);
        int at = 7 + Message.LIMIT * flight.keys().size();
        for (int i = 0; i < at; i++) {
            in.get(1);
        }
        List<Asked> all = new ArrayList<>();
        while (at < bytes.length) {
            long operation = in.get(1);
            Asked asked = new Asked(
                    operation == 1,
                    operation == 2,
                    (int) in.get(2),
                    new ArrayList<>(),
                    new ArrayList<>(),
                    new ArrayList<>());
            long parts = in.get(2);
            for (int part = 0; part < parts; part++) {
                asked.keys.add((String) flight.keys().get((int) in.get(2) - 1));
                asked.costs.add(in.get(6));
                asked.patienceMicros.add(in.get(6));
            }
            at += 5 + 14 * (int) parts;
            all.add(asked);
        }
        return all;
    }
}
