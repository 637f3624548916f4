// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.IpAddress;
import io.weir.ratelimit.spi.CallContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The conditions under which a call is not limited: a bypass token, a client address or a role. */
public final class Bypass {
    public static final Bypass NONE = new Bypass("", List.of(), List.of(), Set.of());

    private static final Pattern DIGEST = Pattern.compile("[0-9a-fA-F]{64}");

    /** A longer header value is not hashed. */
    private static final int LONGEST_TOKEN = 1_024;

    private final String header;
    private final List<byte[]> digests;
    private final List<AddressRange> addresses;
    private final Set<String> roles;

    private Bypass(String header, List<byte[]> digests, List<AddressRange> addresses, Set<String> roles) {
        this.header = header;
        this.digests = List.copyOf(digests);
        this.addresses = List.copyOf(addresses);
        this.roles = Set.copyOf(roles);
    }

    public static Bypass read(ConfigProperties config, Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        return new Bypass(
                reader.value(ConfigKeys.BYPASS_HEADER),
                digests(reader),
                reader.value(ConfigKeys.BYPASS_ADDRESSES),
                new TreeSet<>(reader.optional(ConfigKeys.BYPASS_ROLES).orElse(List.of())));
    }

    private static List<byte[]> digests(ConfigReader reader) {
        List<byte[]> digests = new ArrayList<>();
        // The value is hidden because it can be the token itself.
        List<String> entries = reader.optional(
                        ConfigKeys.BYPASS_TOKENS,
                        (text, reason) ->
                                MESSAGES.problem("WEIR-102.no-default", ConfigKeys.BYPASS_TOKENS.name(), "***", reason))
                .orElse(List.of());
        for (int i = 0; i < entries.size(); i++) {
            if (DIGEST.matcher(entries.get(i)).matches()) {
                digests.add(HexFormat.of().parseHex(entries.get(i)));
            } else {
                reader.report(MESSAGES.problem("WEIR-124", ConfigKeys.BYPASS_TOKENS.name(), "***", i + 1));
            }
        }
        return digests;
    }

    public boolean isEmpty() {
        return digests.isEmpty() && addresses.isEmpty() && roles.isEmpty();
    }

    /** Tests whether a range of client addresses is configured. */
    public boolean includes(AddressRange range) {
        return addresses.contains(range);
    }

    /** Tests whether no address of a range is limited; false if the text is no range. */
    public boolean appliesTo(String range) {
        try {
            AddressRange all = AddressRange.parse(range);
            return addresses.stream().anyMatch(each -> each.contains(all));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Tests whether a call is not limited, given the look-up of the client address behind trusted proxies. */
    public boolean appliesTo(CallContext call, Supplier<Optional<IpAddress>> client) {
        return hasToken(call) || hasAddress(client) || hasRole(call);
    }

    private boolean hasToken(CallContext call) {
        return !digests.isEmpty()
                && call.header(header)
                        .map(String::strip)
                        .filter(token -> !token.isEmpty() && token.length() <= LONGEST_TOKEN)
                        .filter(this::isKnown)
                        .isPresent();
    }

    /** Compares all digests in constant time. */
    private boolean isKnown(String token) {
        byte[] digest = IdentityEncoder.sha256(token.getBytes(StandardCharsets.UTF_8));
        boolean known = false;
        for (byte[] each : digests) {
            known |= MessageDigest.isEqual(each, digest);
        }
        return known;
    }

    private boolean hasAddress(Supplier<Optional<IpAddress>> client) {
        return !addresses.isEmpty()
                && client.get()
                        .filter(address -> addresses.stream().anyMatch(range -> range.contains(address)))
                        .isPresent();
    }

    private boolean hasRole(CallContext call) {
        for (String role : roles) {
            if (call.isInRole(role)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bypass that
                && header.equals(that.header)
                && texts(digests).equals(texts(that.digests))
                && addresses.equals(that.addresses)
                && roles.equals(that.roles);
    }

    @Override
    public int hashCode() {
        return Objects.hash(header, texts(digests), addresses, roles);
    }

    private static List<String> texts(List<byte[]> digests) {
        return digests.stream().map(HexFormat.of()::formatHex).toList();
    }

    /** Returns the number of tokens, the addresses and the roles. */
    @Override
    public String toString() {
        return digests.size() + " tokens, addresses " + addresses + ", roles " + new TreeSet<>(roles);
    }
}
