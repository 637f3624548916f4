// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * The address of the client behind proxies.
 *
 * <p>A proxy that is trusted is believed about the peer that it has the request from. So the hops are walked from the right, from
 * the server's own peer on, for as long as they are trusted; the first that is not is the client, since nobody trusted has vouched
 * for what stands left of it. Where a trusted hop reports something that is no literal address, the client is that hop.
 */
public final class ClientAddress {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final List<AddressRange> trusted;
    private final ForwardedHeader header;
    private final AtomicBoolean told = new AtomicBoolean();

    /**
     * Believes the proxies of some ranges.
     *
     * @param trusted the addresses of the proxies; if there are none, the client is always the peer
     * @param header the only header that is read
     */
    public ClientAddress(List<AddressRange> trusted, ForwardedHeader header) {
        this.trusted = List.copyOf(trusted);
        this.header = header;
    }

    /**
     * The client's address.
     *
     * @param peer the address of the server's own peer
     * @param headerLines the lines of a header by its name, in the order they were received
     * @return the address, empty if the peer's is not known or no literal
     */
    public Optional<IpAddress> of(Optional<String> peer, Function<String, List<String>> headerLines) {
        Optional<IpAddress> address = peer.flatMap(IpAddress::parse);
        if (trusted.isEmpty()) {
            warnOfProxy(headerLines);
            return address;
        }
        return address.map(
                nearest -> isTrusted(nearest) ? walk(nearest, headerLines.apply(header.fieldName())) : nearest);
    }

    private IpAddress walk(IpAddress peer, List<String> lines) {
        IpAddress hop = peer;
        for (int i = lines.size() - 1; i >= 0; i--) {
            String line = lines.get(i);
            int end = line.length();
            while (end >= 0) {
                int start = header.start(line, end);
                IpAddress next = start < 0 ? null : header.address(line, start, end);
                if (next == null) {
                    return hop;
                }
                if (!isTrusted(next)) {
                    return next;
                }
                hop = next;
                end = start - 1;
            }
        }
        return hop;
    }

    private boolean isTrusted(IpAddress address) {
        for (AddressRange range : trusted) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private void warnOfProxy(Function<String, List<String>> headerLines) {
        if (!told.get() && !headerLines.apply(header.fieldName()).isEmpty() && told.compareAndSet(false, true)) {
            MESSAGES.log(LOG, "WEIR-309", header.fieldName());
        }
    }
}
