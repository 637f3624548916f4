// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.shop;

import jakarta.enterprise.context.ApplicationScoped;

public interface Stock {
    int left();

    @ApplicationScoped
    class InMemory implements Stock {
        @Override
        public int left() {
            return 7;
        }
    }

    /** Is no bean, as on a server with the discovery mode {@code annotated}. */
    class OfAnotherShop implements Stock {
        @Override
        public int left() {
            return 0;
        }
    }
}
