// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.Policy;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * A check for limited methods whose work continues after they have returned, or that a messaging runtime calls once for a whole channel.
 * Annotations and types have names, because APIs can be missing.
 */
final class ResultCheck {
    private static final String ENTERPRISE_BEAN = "jakarta.ejb.Asynchronous";
    private static final Set<String> OTHER_THREAD = Set.of(
            ENTERPRISE_BEAN,
            "jakarta.enterprise.concurrent.Asynchronous",
            "org.eclipse.microprofile.faulttolerance.Asynchronous");
    private static final Set<String> REACTIVE = Set.of(
            "org.reactivestreams.Publisher",
            "io.smallrye.mutiny.Uni",
            "io.vertx.core.Future",
            "io.reactivex.rxjava3.core.CompletableSource",
            "io.reactivex.rxjava3.core.MaybeSource",
            "io.reactivex.rxjava3.core.ObservableSource",
            "io.reactivex.rxjava3.core.SingleSource",
            "kotlinx.coroutines.Deferred",
            "kotlinx.coroutines.flow.Flow");

    /** The type of the last parameter of a suspending function of Kotlin, which can return before its end. */
    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

    private static final String MESSAGING = "org.eclipse.microprofile.reactive.messaging.";
    private static final String REPEATED = "io.smallrye.reactive.messaging.annotations.";
    private static final Set<String> INCOMING = Set.of(MESSAGING + "Incoming", REPEATED + "Incomings");
    private static final Set<String> OUTGOING = Set.of(MESSAGING + "Outgoing", REPEATED + "Outgoings");
    private static final Set<String> NO_PAYLOAD = Set.of(
            MESSAGING + "Message",
            "java.util.concurrent.Flow$Publisher",
            "org.eclipse.microprofile.reactive.streams.operators.PublisherBuilder",
            "org.reactivestreams.Publisher");

    private ResultCheck() {}

    /** Checks that the thread of the caller decides. The interceptors of an enterprise bean run after the change of the thread. */
    static void checkThread(Class<?> beanClass, Method method, Problems problems) {
        if (isAnnotated(beanClass, method, Set.of(ENTERPRISE_BEAN))) {
            problems.add(MESSAGES.problem("WEIR-260", place(beanClass, method), ""));
        }
    }

    /** Checks that a method of a channel is called for each message, and that the runtime reports a rejection to the broker. */
    static void checkChannel(Class<?> beanClass, Method method, Problems problems) {
        boolean incoming = isAnnotated(beanClass, method, INCOMING);
        boolean payload = incoming
                && method.getParameterCount() > 0
                && Stream.of(method.getParameterTypes()).noneMatch(type -> isOneOf(type, NO_PAYLOAD));
        if (!payload && (incoming || isAnnotated(beanClass, method, OUTGOING))) {
            problems.add(MESSAGES.problem("WEIR-263", place(beanClass, method), ""));
        }
    }

    /** Checks that the end of the work is known if a policy needs it. */
    static void checkEnd(AnnotatedMethods.Limited limited, Policy policy, Problems problems) {
        Class<?> beanClass = limited.beanClass();
        Method method = limited.method();
        Class<?> result = method.getReturnType();
        if (CompletionStage.class.isAssignableFrom(result) || !needsEnd(policy)) {
            return;
        }
        boolean otherThread = isAnnotated(beanClass, method, OTHER_THREAD);
        boolean endsLater = (endsLater(result) || isSuspending(method)) && !limited.endIsKnown();
        if (otherThread || endsLater) {
            problems.add(MESSAGES.problem("WEIR-261", place(beanClass, method), result.getSimpleName(), policy.name()));
        }
    }

    private static boolean needsEnd(Policy policy) {
        return policy.hasConcurrency() || policy.count() != Policy.Count.ALWAYS;
    }

    private static boolean endsLater(Class<?> result) {
        return Future.class.isAssignableFrom(result)
                || Flow.Publisher.class.isAssignableFrom(result)
                || isOneOf(result, REACTIVE);
    }

    private static boolean isOneOf(Class<?> type, Set<String> names) {
        return TypeHierarchy.of(type).stream().map(Class::getName).anyMatch(names::contains);
    }

    private static boolean isSuspending(Method method) {
        return Arrays.stream(method.getParameterTypes()).map(Class::getName).anyMatch(CONTINUATION::equals);
    }

    private static boolean isAnnotated(Class<?> beanClass, Method method, Set<String> annotations) {
        return Stream.of(beanClass, method.getDeclaringClass(), method)
                .flatMap(element -> Arrays.stream(element.getAnnotations()))
                .anyMatch(annotation ->
                        annotations.contains(annotation.annotationType().getName()));
    }

    private static String place(Class<?> beanClass, Method method) {
        return beanClass.getName() + "." + method.getName();
    }
}
