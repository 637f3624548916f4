// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.config.spi.ConfigSource;

/** A config source whose properties a test sets at run time. Its name begins like that of the environment. */
public class ChangingSource implements ConfigSource {
    static final Map<String, String> PROPERTIES = new ConcurrentHashMap<>(Map.of(
            "ratelimit.policies.of-source.limit", "1/1h",
            "ratelimit.policies.of-source.key", "header:X-Client",
            "ratelimit.policies.of-source.paths", "/api/change/source"));

    @Override
    public Set<String> getPropertyNames() {
        return PROPERTIES.keySet();
    }

    @Override
    public String getValue(String name) {
        return PROPERTIES.get(name);
    }

    @Override
    public String getName() {
        return "Environment of tests";
    }

    @Override
    public int getOrdinal() {
        return 200;
    }
}
