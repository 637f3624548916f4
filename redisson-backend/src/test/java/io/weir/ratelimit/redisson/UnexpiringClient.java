// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * A client whose scripts leave keys that never expire. Expiry goes by real time, which a test with a clock of its own does not
 * go by: a state of a window of 1 ms would be gone before the test's clock has moved at all.
 *
 * <p>The script runs unchanged, as a function of a script around it that takes the expiry off its keys afterwards, in the same
 * step. What is left untested by that, expiry itself, is tested with Redis's clock.
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
        for (Script script : new Script[] {Script.ACQUIRE, Script.GIVE_BACK}) {
            around.digests.put(
                    script.digest(), client.getScript(StringCodec.INSTANCE).scriptLoad(around(script)));
        }
        return proxy(RedissonClient.class, (method, arguments) -> {
            Object result = method.invoke(client, arguments);
            return result instanceof RScript scripts ? around.scripts(scripts) : result;
        });
    }

    /** The script whose keys do not expire. */
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
