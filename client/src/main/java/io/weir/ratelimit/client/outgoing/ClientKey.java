// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static io.weir.ratelimit.client.outgoing.ClientMessages.MESSAGES;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** The key of outgoing calls: one term, or several that are joined with {@code +}. */
public final class ClientKey {
    /** The terms that are no bean, for messages. */
    static final String FORMS = "client, host, path";

    private final String text;
    private final List<Function<OutgoingCall, Identity>> terms;

    private ClientKey(String text, List<Function<OutgoingCall, Identity>> terms) {
        this.text = text;
        this.terms = List.copyOf(terms);
    }

    /**
     * Parses the terms of a key, by the key resolvers of the application. Throws an {@link IllegalArgumentException} with the reason if a
     * term is unknown.
     */
    static ClientKey parse(String text, Map<String, KeyResolver> resolvers) {
        List<Function<OutgoingCall, Identity>> terms = new ArrayList<>();
        for (String term : text.split("\\+", -1)) {
            terms.add(term(term.strip(), resolvers));
        }
        return new ClientKey(text, terms);
    }

    private static Function<OutgoingCall, Identity> term(String term, Map<String, KeyResolver> resolvers) {
        return switch (term) {
            case "client" -> call -> Identity.of(call.client());
            case "host" -> call -> call.host().isBlank() ? Identity.ANONYMOUS : Identity.of(call.host());
            case "path" ->
                call -> call.pathTemplate()
                        .filter(template -> !template.isBlank())
                        .map(Identity::of)
                        .orElse(Identity.ANONYMOUS);
            default -> {
                AtomicBoolean failed = new AtomicBoolean();
                KeyResolver resolver = resolvers.get(term);
                if (resolver == null) {
                    throw new IllegalArgumentException("\"" + term + "\" is neither one of " + FORMS
                            + " nor a KeyResolver bean, here one of " + Set.copyOf(resolvers.keySet()));
                }
                yield call -> resolve(term, resolver, call, failed);
            }
        };
    }

    /** A resolver that fails must neither fail the call nor exempt it from the limit. */
    private static Identity resolve(String name, KeyResolver resolver, OutgoingCall call, AtomicBoolean failed) {
        try {
            Optional<Identity> key = resolver.resolve(call.context());
            return key == null ? Identity.ANONYMOUS : key.orElse(Identity.ANONYMOUS);
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-241", call.client(), name);
            }
            return Identity.ANONYMOUS;
        }
    }

    /** Resolves the key of a call; a term that does not resolve is {@link Identity#ANONYMOUS}. */
    Identity of(OutgoingCall call) {
        Identity key = terms.get(0).apply(call);
        for (int i = 1; i < terms.size(); i++) {
            key = key.and(terms.get(i).apply(call));
        }
        return key;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ClientKey that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
