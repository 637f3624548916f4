// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.key.DerivedKey;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The receipts that the edge adds to requests in a header field. A receipt is a text in base64url: a signature, a random number, the time of
 * its end, and the charges. The signature covers the namespace as well, because the stored keys belong to it.
 */
public final class EdgeReceipts {
    /** The time for which a receipt is valid. */
    public static final Duration LIFETIME = Duration.ofSeconds(30);

    /** The longest text of a receipt: a proxy and a server accept header fields of this size. */
    static final int MAX_LENGTH = 4_096;

    /** The number of fields of one request that are verified, which bounds the work that a client can cause. */
    private static final int MAX_FIELDS = 2;

    private static final int ID_BYTES = 16;
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    /** The time after the charge in which a request can claim its receipt: it can call a limited method late, and settle at its end. */
    static final Duration CLAIMABLE = Duration.ofMinutes(10);

    /** Each receipt has one permit for all that time, so that it pays once, also if the clocks differ by less than its lifetime. */
    private static final PolicyLimits ONCE =
            new PolicyLimits("+receipt", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, CLAIMABLE.plus(LIFETIME))));

    private final byte[] namespace;
    private final DerivedKey key;
    private final Supplier<Instant> clock;
    private final Consumer<EdgeReceipt.Result> listener;
    private final SecureRandom random = new SecureRandom();

    /** Creates the receipts of a limiter with the key secret. The listener receives the result of each receipt of a request. */
    public EdgeReceipts(
            String namespace, String secret, Supplier<Instant> clock, Consumer<EdgeReceipt.Result> listener) {
        this.namespace = (namespace + "\n").getBytes(UTF_8);
        this.key = new DerivedKey(secret, "weir receipts 1");
        this.clock = clock;
        this.listener = listener;
    }

    /** Returns a receipt of charges with the states right after them; empty without charges, or if it does not fit a header field. */
    public Optional<String> issue(List<ChargeStates> charged) {
        if (charged.isEmpty()) {
            return Optional.empty();
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(body)) {
            byte[] id = new byte[ID_BYTES];
            random.nextBytes(id);
            out.write(id);
            out.writeLong(clock.get().plus(LIFETIME).toEpochMilli());
            EdgeReceiptCodec.write(charged, out);
        } catch (IOException e) {
            return Optional.empty();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(key.sign(signed(body.toByteArray())));
        bytes.writeBytes(body.toByteArray());
        String text = ENCODER.encodeToString(bytes.toByteArray());
        return text.length() <= MAX_LENGTH ? Optional.of(text) : Optional.empty();
    }

    private byte[] signed(byte[] body) {
        byte[] all = Arrays.copyOf(namespace, namespace.length + body.length);
        System.arraycopy(body, 0, all, namespace.length, body.length);
        return all;
    }

    /** Returns the receipt of a request by the values of its header field; null if there is none. */
    public @Nullable EdgeReceipt read(List<String> fields) {
        for (int i = 0; i < Math.min(MAX_FIELDS, fields.size()); i++) {
            EdgeReceipt receipt = read(fields.get(i));
            if (receipt != null) {
                return receipt;
            }
        }
        return null;
    }

    private @Nullable EdgeReceipt read(String text) {
        byte[] body = verified(text.strip());
        if (body == null) {
            listener.accept(EdgeReceipt.Result.FORGED);
            return null;
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(body))) {
            byte[] id = in.readNBytes(ID_BYTES);
            long end = in.readLong();
            if (clock.get().toEpochMilli() >= end) {
                listener.accept(EdgeReceipt.Result.EXPIRED);
                return null;
            }
            long claimable = end + CLAIMABLE.minus(LIFETIME).toMillis();
            return new EdgeReceipt(
                    new Charge(ONCE, "receipt." + ENCODER.encodeToString(id), 1),
                    () -> clock.get().toEpochMilli() < claimable,
                    EdgeReceiptCodec.read(in),
                    listener);
        } catch (IOException e) {
            listener.accept(EdgeReceipt.Result.FORGED);
            return null;
        }
    }

    /** Returns the content of a receipt with a valid signature, null for any other text. */
    private byte @Nullable [] verified(String text) {
        if (text.length() > MAX_LENGTH) {
            return null;
        }
        byte[] bytes;
        try {
            bytes = Base64.getUrlDecoder().decode(text.getBytes(US_ASCII));
        } catch (IllegalArgumentException e) {
            return null;
        }
        if (bytes.length <= DerivedKey.BYTES) {
            return null;
        }
        byte[] body = Arrays.copyOfRange(bytes, DerivedKey.BYTES, bytes.length);
        return key.verifies(Arrays.copyOf(bytes, DerivedKey.BYTES), signed(body)) ? body : null;
    }
}
