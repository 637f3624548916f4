// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.redisson.connection.CRC16;

/**
 * The keys of a namespace in Redis, one per limit: {@code weir:1:{<namespace>:<stored key>}:<policy>:<letter><window in ms>}.
 *
 * @param prefix the beginning of all keys
 */
record RedisKeys(String prefix) {
    private static final int SLOTS = 16_384;

    static RedisKeys of(String namespace) {
        return new RedisKeys("weir:1:{" + namespace + ":");
    }

    /** Returns one key per limit, in the order of the charges and their limits. */
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

    /** Returns the key of the n-th limit of a charge. */
    String of(Charge charge, int limit) {
        return prefix + charge.storedKey() + "}:" + charge.policy().storedKeySuffix(limit);
    }

    /** Returns the slot of a key in a cluster, without a call to Redis as the client would make it. */
    static int slot(String key) {
        String tag = key.substring(key.indexOf('{') + 1, key.indexOf('}'));
        return CRC16.crc16(tag.getBytes(StandardCharsets.UTF_8)) % SLOTS;
    }
}
