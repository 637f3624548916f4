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
 * A client whose keys expire by the clock of the scripts. By the clock of Redis, the state of a window of 1 ms would be lost before the clock
 * of a test advances.
 *
 * <p>The script runs unchanged as a function of another script, in which a time to live is the instant of the end in a second key. Other tests
 * check expiry with Redis's clock.
 */
final class ManualExpiryClient {
    private static final String AROUND = """
            local server, now = redis, nil
            if string.byte(ARGV[1]) % 2 == 1 then
              now = struct.unpack('>I7', ARGV[1], 2)
            else
              local time = server.call('TIME')
              now = (time[1] - 1735689600) * 1000000 + time[2]
            end

            local function expire(key)
              local ends = server.call('GET', key .. ':end')
              if ends and tonumber(ends) <= now then
                server.call('DEL', key, key .. ':end')
              end
            end

            local redis = setmetatable({}, {__index = server})

            function redis.call(name, ...)
              local key, value, option, life = ...
              if name == 'GET' then
                expire(key)
              elseif name == 'DEL' then
                return server.call('DEL', key, key .. ':end')
              elseif option == 'PX' then
                server.call('SET', key .. ':end', string.format('%.0f', now + life * 1000))
                return server.call('SET', key, value)
              elseif option == 'KEEPTTL' then
                return server.call('SET', key, value)
              end
              return server.call(name, ...)
            end

            function redis.pcall(name, key)
              expire(key)
              return server.pcall(name, key)
            end

            local function script()
            %s
            end
            return script()
            """;

    private final Map<String, String> digests = new ConcurrentHashMap<>();

    private ManualExpiryClient() {}

    static RedissonClient of(RedissonClient client) {
        ManualExpiryClient around = new ManualExpiryClient();
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
        return AROUND.replace("%s\n", script.text());
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
