// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.weir.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.redisson.connection.CRC16;

/** The keys of a namespace in Redis, one per policy and caller: {@code weir:2:{<namespace>:<stored key>}:<policy>}. */
public record RedisKeys(String prefix) {
    private static final int SLOTS = 16_384;

    public static RedisKeys of(String namespace) {
        return new RedisKeys("weir:2:{" + namespace + ":");
    }

    /** Returns one key per charge, in their order. */
    public List<String> of(List<Charge> charges) {
        if (charges.size() == 1) {
            return List.of(of(charges.get(0)));
        }
        List<String> keys = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            keys.add(of(charges.get(i)));
        }
        return keys;
    }

    /** Returns the key of a charge, which contains the states of all its limits. */
    public String of(Charge charge) {
        return prefix + charge.storedKey() + "}:" + charge.policy().policy();
    }

    /** Returns the slot of a key in a cluster, without a call to Redis as the client would make it. */
    static int slot(String key) {
        String tag = key.substring(key.indexOf('{') + 1, key.indexOf('}'));
        return CRC16.crc16(tag.getBytes(StandardCharsets.UTF_8)) % SLOTS;
    }
}
