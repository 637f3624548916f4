// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.interceptor.key.AddressRange;
import io.weir.ratelimit.interceptor.key.IpAddress;
import io.weir.ratelimit.spi.CallContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.Config;

/** Who is not limited: callers with a token, from an address or in a role that configuration names. */
public final class Bypass {
    /** Nobody passes by. */
    public static final Bypass NONE = new Bypass("", List.of(), List.of(), Set.of());

    private static final String PREFIX = ConfigReader.PREFIX + "bypass.";
    private static final String TOKENS = PREFIX + "tokens";
    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");
    private static final int DIGEST_CHARACTERS = 64;

    /** What is longer is no token, and not worth a hash. */
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

    /**
     * Reads who passes by.
     *
     * @param config where from
     * @param problems takes what is wrong
     * @return those of whom nothing is wrong
     */
    public static Bypass read(Config config, Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        String header = reader.value(PREFIX + "header", "X-RateLimit-Bypass", Bypass::fieldName);
        List<byte[]> digests = new ArrayList<>();
        List<String> entries = reader.text(TOKENS).map(ConfigReader::list).orElse(List.of());
        for (int i = 0; i < entries.size(); i++) {
            String digest = entries.get(i);
            // What is no digest may well be a token itself.
            if (digest.length() != DIGEST_CHARACTERS || !digest.matches("[0-9a-fA-F]+")) {
                problems.add(
                        "WEIR-124",
                        TOKENS,
                        "***",
                        "entry " + (i + 1) + " is no SHA-256 digest",
                        "write the 64 hexadecimal digits that printf %s \"$token\" | sha256sum prints, never the token");
            } else {
                digests.add(HexFormat.of().parseHex(digest));
            }
        }
        return new Bypass(
                header,
                digests,
                reader.value(PREFIX + "addresses", List.of(), AddressRange::parseAll),
                new TreeSet<>(
                        reader.text(PREFIX + "roles").map(ConfigReader::list).orElse(List.of())));
    }

    private static String fieldName(String text) {
        if (!FIELD_NAME.matcher(text).matches()) {
            throw new IllegalArgumentException("must be the name of a header field");
        }
        return text;
    }

    /**
     * Whether nobody passes by.
     *
     * @return true if no caller need be asked about
     */
    public boolean isEmpty() {
        return digests.isEmpty() && addresses.isEmpty() && roles.isEmpty();
    }

    /**
     * Whether the callers of a whole range pass by.
     *
     * @param range the range, as it is configured
     * @return true if it is one of those that do
     */
    public boolean hasRange(AddressRange range) {
        return addresses.contains(range);
    }

    /**
     * Whether a caller passes by.
     *
     * @param call who calls
     * @param client the caller's address, behind proxies that are trusted
     * @return true if no limit holds for the call
     */
    public boolean lets(CallContext call, Supplier<Optional<IpAddress>> client) {
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

    /** Compares all digests to their ends, so that the time it takes tells nothing. */
    private boolean isKnown(String token) {
        byte[] digest = sha256(token);
        boolean known = false;
        for (byte[] each : digests) {
            known |= MessageDigest.isEqual(each, digest);
        }
        return known;
    }

    private static byte[] sha256(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
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

    /** How many tokens, and which addresses and roles. */
    @Override
    public String toString() {
        return digests.size() + " tokens, addresses " + addresses + ", roles " + new TreeSet<>(roles);
    }
}
