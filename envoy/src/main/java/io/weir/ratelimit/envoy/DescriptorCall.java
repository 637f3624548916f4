// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.CallContext;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A descriptor as a call. An entry answers the key term of its name, so a key expression has one meaning in the application and at the
 * edge. If several entries have one name, the first one answers.
 *
 * @param entries the values by the name of the term; names of header fields are in lower case
 */
record DescriptorCall(Map<String, String> entries) implements CallContext {
    private static final String HEADER = "header:";
    private static final String MASKED = "masked_remote_address";

    DescriptorCall {
        entries = Map.copyOf(entries);
    }

    static DescriptorCall of(RateLimitDescriptor descriptor) {
        Map<String, String> entries = new HashMap<>();
        for (RateLimitDescriptor.Entry entry : descriptor.getEntriesList()) {
            entries.putIfAbsent(term(entry.getKey()), entry.getValue());
        }
        return new DescriptorCall(entries);
    }

    /** Returns the call with further values, which take precedence. */
    DescriptorCall with(Map<String, String> values) {
        if (values.isEmpty()) {
            return this;
        }
        Map<String, String> all = new HashMap<>(entries);
        all.putAll(values);
        return new DescriptorCall(all);
    }

    private static String term(String key) {
        return key.regionMatches(true, 0, HEADER, 0, HEADER.length()) ? key.toLowerCase(Locale.ROOT) : key;
    }

    /** Tests whether a policy only reports calls with the key of the descriptor. */
    boolean isShadowUnder(Policy policy, RateLimitEngine engine) {
        return policy.isShadowFor(engine.encoder().encode(policy.key().resolve(this)));
    }

    /** Tests whether no limit applies to the caller. A masked address stands for each address of its range. */
    boolean isExempt(HostedWeir weir) {
        Optional<String> range = entry(MASKED).filter(text -> text.indexOf('/') >= 0);
        if (range.isEmpty()
                || entry("ip").isPresent()
                || entry("remote_address").isPresent()) {
            return weir.bypasses(this);
        }
        Map<String, String> others = new HashMap<>(entries);
        others.remove(MASKED);
        return weir.bypasses(new DescriptorCall(others))
                || weir.policies().bypass().appliesTo(range.get());
    }

    /** Returns the value of an entry. */
    Optional<String> entry(String term) {
        return Optional.ofNullable(entries.get(term));
    }

    /** The address of the client, as Envoy determines it. A masked one has the length of its prefix. */
    @Override
    public Optional<String> peerAddress() {
        return entry("ip")
                .or(() -> entry("remote_address"))
                .or(() -> entry(MASKED).map(range -> range.replaceFirst("/\\d+$", "")));
    }

    @Override
    public Optional<String> principal() {
        return entry("principal");
    }

    @Override
    public Optional<String> header(String name) {
        return entry(HEADER + name.toLowerCase(Locale.ROOT));
    }

    @Override
    public List<String> headerLines(String name) {
        return header(name).stream().toList();
    }

    @Override
    public Optional<String> cookie(String name) {
        return entry("cookie:" + name);
    }

    @Override
    public Optional<String> queryParameter(String name) {
        return entry("query:" + name);
    }

    @Override
    public Optional<String> pathParameter(String name) {
        return entry("path:" + name);
    }

    @Override
    public Optional<String> claim(String name) {
        return entry("claim:" + name);
    }

    @Override
    public Optional<String> method() {
        return entry("method");
    }

    @Override
    public Optional<Object> argument(String name) {
        return entry("arg:" + name).map(value -> value);
    }

    @Override
    public boolean isInRole(String role) {
        return role.equals(entries.get("role"));
    }

    /** Returns the number of entries, because their values can be secrets. */
    @Override
    public String toString() {
        return "DescriptorCall[" + entries.size() + " entries]";
    }
}
