// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.script.Script;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * A client whose scripts leave keys that never expire. Keys expire by real time, and a test may have another clock: the state of a window
 * of 1 ms would be lost before the test's clock advances.
 *
 * <p>The script runs unchanged as a function of another script, which removes the expiry of the keys afterwards, in the same step. Other
 * tests check expiry with Redis's clock.
 */
final class UnexpiringClient {
    private static final String AROUND = """
            local function script()
            %s
            end
            local reply = script()
            for i = 1, #KEYS do redis.call('PERSIST', KEYS[i]) end
            return reply
            """;

    private final Map<String, String> digests = new ConcurrentHashMap<>();

    private UnexpiringClient() {}

    static RedissonClient of(RedissonClient client) {
        UnexpiringClient around = new UnexpiringClient();
        for (Script script : new Script[] {Script.ACQUIRE, Script.REFUND, Script.BLOCK, Script.RELEASE}) {
            around.digests.put(
                    script.digest(), client.getScript(StringCodec.INSTANCE).scriptLoad(around(script)));
        }
        return proxy(RedissonClient.class, (method, arguments) -> {
            Object result = method.invoke(client, arguments);
            return result instanceof RScript scripts ? around.scripts(scripts) : result;
        });
    }

    /** Returns the text of the script around another one. */
    static String around(Script script) {
        return AROUND.formatted(script.text());
    }

    private RScript scripts(RScript scripts) {
        return proxy(RScript.class, (method, arguments) -> {
            if (method.getName().equals("evalShaAsync")) {
                arguments[2] = digests.get((String) arguments[2]);
            }
            return method.invoke(scripts, arguments);
        });
    }

    private interface Call {
        Object on(Method method, Object[] arguments) throws IllegalAccessException, InvocationTargetException;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return call.on(method, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
