// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** The minimal cost of a script call per decision through Redisson: {@code EVALSHA} of {@code return 1} with one key. */
final class Floor implements Contender {
    static final String NAME = "floor";

    private final RScript scripts;
    private final String digest;
    private final List<List<Object>> keys;

    Floor(RedissonClient client, String namespace, Workload workload) {
        scripts = client.getScript(ByteArrayCodec.INSTANCE);
        digest = scripts.scriptLoad("return 1");
        keys = IntStream.range(0, workload.keys())
                .mapToObj(key ->
                        List.<Object>of(workload.redisKeys(namespace, key).get(0)))
                .toList();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Object decide(int key) {
        List<Object> one = keys.get(key);
        return scripts.evalSha((String) one.get(0), Mode.READ_WRITE, digest, ReturnType.LONG, one);
    }

    @Override
    public CompletionStage<?> decideAsync(int key) {
        List<Object> one = keys.get(key);
        return scripts.evalShaAsync((String) one.get(0), Mode.READ_WRITE, digest, ReturnType.LONG, one);
    }

    /** Returns true: the floor allows every call, whatever the workload. */
    @Override
    public boolean allowed(Object result) {
        return true;
    }
}
