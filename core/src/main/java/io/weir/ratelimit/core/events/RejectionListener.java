// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.Charge;
import java.util.List;

/** A part that follows each rejection of a call, after the listeners of decisions. It does not block the thread. */
@FunctionalInterface
public interface RejectionListener {
    RejectionListener NONE = (binding, charges, decision) -> {};

    void rejected(Binding binding, List<Charge> charges, Decision.Rejected decision);
}
