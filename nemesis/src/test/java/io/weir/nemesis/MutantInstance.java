// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import io.weir.nemesis.run.Instance;
import java.io.IOException;

/** Instances that break the promise of events. */
final class MutantInstance {
    private MutantInstance() {}

    /** An instance that fires each event twice. */
    static final class Repeating {
        private Repeating() {}

        public static void main(String[] properties) throws IOException {
            Instance.run(properties, events -> event -> {
                events.accept(event);
                events.accept(event);
            });
        }
    }

    /** An instance that fires no event. */
    static final class Silent {
        private Silent() {}

        public static void main(String[] properties) throws IOException {
            Instance.run(properties, events -> event -> {});
        }
    }
}
