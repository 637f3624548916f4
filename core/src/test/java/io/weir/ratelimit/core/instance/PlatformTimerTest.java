// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.StackWalker.Option;
import java.lang.StackWalker.StackFrame;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PlatformTimerTest {
    private final List<Class<?>> callers = new ArrayList<>();
    private ClassLoader context;

    @Test
    void startsTheTimerWithoutReferencesToTheApplication() throws Exception {
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
            current.setContextClassLoader(application);
            PlatformTimer.startBy(new Recording()).get(5, TimeUnit.SECONDS);
        } finally {
            current.setContextClassLoader(before);
        }

        assertThat(context).isSameAs(ClassLoader.getSystemClassLoader());
        assertThat(callers)
                .isNotEmpty()
                .allSatisfy(type -> assertThat(type.getModule()).isSameAs(Object.class.getModule()));
    }

    @Test
    void keepsTheInterruptOfTheCallingThread() {
        Thread.currentThread().interrupt();
        PlatformTimer.start();
        assertThat(Thread.interrupted()).isTrue();
    }

    /** The executor in place of the timer of the platform. */
    private final class Recording implements Executor {
        @Override
        public void execute(Runnable task) {
            context = Thread.currentThread().getContextClassLoader();
            StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE).forEach(this::add);
            task.run();
        }

        private void add(StackFrame frame) {
            if (frame.getDeclaringClass() != Recording.class) {
                callers.add(frame.getDeclaringClass());
            }
        }
    }
}
