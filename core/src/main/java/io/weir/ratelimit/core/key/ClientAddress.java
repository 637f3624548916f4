// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A resolver of the client address behind proxies.
 *
 * <p>Each proxy reports the address of its peer in a header, at the right end. The addresses are read from right to left,
 * beginning with the peer of the server, as long as they are trusted. The first address that is not trusted is the client,
 * because no trusted proxy has reported the addresses to its left. If a trusted proxy reports the unspecified address or
 * anything other than a literal address, the client is that proxy.
 */
public final class ClientAddress {
    private final List<AddressRange> trusted;
    private final ForwardedHeader header;
    private final String headerName;
    private final AtomicBoolean warned;

    /** Creates a resolver that reads one header. Without trusted proxies, the client is always the peer. */
    public ClientAddress(List<AddressRange> trusted, ForwardedHeader header) {
        this(trusted, header, false);
    }

    /** Creates a resolver for peers that can already be the client behind a proxy: the header is then no sign of another one. */
    public ClientAddress(List<AddressRange> trusted, ForwardedHeader header, boolean forwardedPeers) {
        this.trusted = List.copyOf(trusted);
        this.header = header;
        this.headerName = header.fieldName();
        this.warned = new AtomicBoolean(forwardedPeers);
    }

    /**
     * Returns the address of the client; empty if the address of the peer is unknown or not a literal. The server writes a peer with or
     * without brackets and a port. The lines of a header are in the order of the request.
     */
    public Optional<IpAddress> of(Optional<String> peer, Function<String, List<String>> headerLines) {
        Optional<IpAddress> address = peer.flatMap(IpAddress::ofPeer);
        if (trusted.isEmpty()) {
            warnOfProxy(headerLines);
            return address;
        }
        return address.map(nearest -> isTrusted(nearest) ? walk(nearest, headerLines.apply(headerName)) : nearest);
    }

    /** Returns the text of the peer's address if it alone determines the client, empty if it is unknown; otherwise null. */
    @Nullable
    String onlyPeer(Optional<String> peer, Function<String, List<String>> headerLines) {
        if (!trusted.isEmpty()) {
            return null;
        }
        warnOfProxy(headerLines);
        return peer.orElse("");
    }

    private IpAddress walk(IpAddress peer, List<String> lines) {
        IpAddress hop = peer;
        for (int i = lines.size() - 1; i >= 0; i--) {
            String line = lines.get(i);
            int end = line.length();
            while (end >= 0) {
                int start = header.start(line, end);
                IpAddress next = start < 0 ? null : header.address(line, start, end);
                if (next == null || next.isUnspecified()) {
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
        if (!warned.get() && !headerLines.apply(headerName).isEmpty() && warned.compareAndSet(false, true)) {
            MESSAGES.log("WEIR-309", headerName);
        }
    }
}
