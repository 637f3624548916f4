// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.core.engine.CallEnds;
import io.weir.ratelimit.core.engine.CurrentCharges;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.policy.Bypass;
import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.EdgeReceipts;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.ResponseQuotas;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The gate that requests and bean calls enter before they run and leave after they have run.
 *
 * <p>All entry points take the same steps here: bind the policies, let callers bypass them, decide, settle.
 */
public final class RateLimitGate {
    private final RateLimitEngine engine;
    private final Supplier<PolicySnapshot> policies;
    private final ClientAddress clients;
    private final Requests requests;
    private final Supplier<Executor> executor;
    private final Sleeper clock;
    private final @Nullable EdgeReceipts receipts;
    private final CallEnds ends;
    private final BiPredicate<RequestState, Runnable> slotHolder;
    private final Set<String> unlimited = ConcurrentHashMap.newKeySet();
    private final Set<String> lateUsers = ConcurrentHashMap.newKeySet();

    /** The arguments of a call. They are read only if a key uses them, or if no request has the caller. */
    @FunctionalInterface
    public interface Arguments {
        /** Returns the arguments, null if the method has no parameters. */
        @Nullable
        Object @Nullable [] get();
    }

    RateLimitGate(
            RateLimitEngine engine,
            Supplier<PolicySnapshot> policies,
            ClientAddress clients,
            Requests requests,
            Supplier<Executor> executor,
            Sleeper clock,
            @Nullable EdgeReceipts receipts) {
        this.engine = engine;
        this.policies = policies;
        this.clients = clients;
        this.requests = requests;
        this.executor = executor;
        this.clock = clock;
        this.receipts = receipts;
        this.ends = engine.ends();
        this.slotHolder = requests::hold;
    }

    /** Returns the current time by the clock of decisions. */
    public Instant now() {
        return clock.now();
    }

    /** Returns the nanoseconds since the instant of a decision, as {@link ResponseQuotas#atNanos} returns it. */
    public long nanosSince(long atNanos) {
        return clock.nanos() - atNanos;
    }

    /**
     * Enters a request for the policies with {@code phase=early}: before it is matched to a resource method, and again when it is matched,
     * because a filter can have changed its method or path. Nothing is decided if all policies were decided before.
     */
    public Entry enterEarly(HttpCall call) {
        Attempt attempt = early(call);
        return attempt == null ? Entry.OPEN : ofRequest(decide(attempt));
    }

    /** Enters a request as {@link #enterEarly}, on a thread that must not block; what can block runs on other threads. */
    public LaterEntry enterEarlyAsync(HttpCall call, Executor threads) {
        Attempt attempt = early(call);
        return attempt == null ? LaterEntry.OPEN : decideAsync(attempt, threads, this::ofRequest);
    }

    /** Returns the early policies to decide, null if there are none. */
    private @Nullable Attempt early(HttpCall call) {
        PolicySnapshot current = policies.get();
        Binding binding = current.early().join(Binding.NONE, call.httpMethod(), () -> RequestPath.of(call.path()));
        if (binding.policies().isEmpty() || call.isPreflight()) {
            return null;
        }
        RequestState request = start(call);
        if (bypasses(current.bypass(), binding, request)) {
            return null;
        }
        Binding undecided = request.decideEarly(binding);
        return undecided.policies().isEmpty() ? null : new Attempt(undecided, call, request, true);
    }

    /**
     * Enters a request that is matched to a resource method; the class is that of the resource, not of its proxy. Nothing is decided if a
     * key needs the arguments of the method, which only the interceptor knows.
     */
    public Entry enter(HttpCall call, Class<?> resource, Method method) {
        PolicySnapshot current = policies.get();
        Binding.OfMethod bound = current.bindings().of(resource, method);
        RequestState request = start(call);
        Attempt attempt = matched(current, call, request, bound.binding());
        if (attempt == null) {
            return Entry.OPEN;
        }
        boolean canContinueLater = bound.asynchrony() != Binding.Asynchrony.NONE
                && !bound.binding().policies().isEmpty()
                && attempt.binding().canWait();
        Entry entry = canContinueLater ? decideOrWait(attempt) : decide(attempt);
        return entered(attempt, request, entry);
    }

    /**
     * Enters as {@link #enter(HttpCall, Class, Method)}, on a thread that must not block. Steps that can block run on other threads, in the
     * context of the request.
     */
    public LaterEntry enterAsync(HttpCall call, Class<?> resource, Method method, Executor threads) {
        PolicySnapshot current = policies.get();
        RequestState request = start(call);
        Attempt attempt = matched(
                current, call, request, current.bindings().of(resource, method).binding());
        return attempt == null
                ? LaterEntry.OPEN
                : decideAsync(attempt, threads, entry -> entered(attempt, request, entry));
    }

    /** Returns the policies of a resource method to decide, null if the filter decides nothing. */
    private @Nullable Attempt matched(PolicySnapshot current, HttpCall call, RequestState request, Binding annotated) {
        Binding binding = call.isPreflight()
                ? Binding.EXEMPT
                : current.paths().join(annotated, call.httpMethod(), () -> RequestPath.of(call.path()));
        boolean open = binding.policies().isEmpty() || bypasses(current.bypass(), binding, request);
        boolean deferred = !open && binding.needsArguments();
        request.bind(annotated, binding, deferred);
        return open || deferred ? null : new Attempt(binding, call, request, true);
    }

    private Entry entered(Attempt attempt, RequestState request, Entry entry) {
        if (entry.decision().allowed()) {
            request.enter(attempt.binding());
        }
        return ofRequest(entry);
    }

    /** Releases the slots of a request that has ended before its decision, because nothing else does. */
    private Entry ofRequest(Entry entry) {
        if (entry.slots() == CallEnds.Slots.OF_CALL) {
            leave(entry);
        }
        return entry;
    }

    /** Decides, or leaves the rest of a wait to the interceptor. */
    private Entry decideOrWait(Attempt attempt) {
        LaterEntry later = decideLater(attempt);
        return later.isDecided() ? later.entry() : Entry.WAITING;
    }

    /** Returns the policies of a bean method; the class is that of the bean, not of its proxy. */
    public Binding.OfMethod method(Class<?> beanClass, Method method) {
        return policies.get().bindings().of(beanClass, method);
    }

    /** Enters a call of a bean method. */
    public Entry enter(Binding.OfMethod method, Arguments arguments) {
        Attempt attempt = attempt(method, arguments);
        if (attempt == null) {
            return Entry.OPEN;
        }
        return isEntered(attempt) ? entry(attempt, Decision.Allowed.UNLIMITED) : decide(attempt);
    }

    /** Enters a call of a bean method that can run later on another thread. */
    public LaterEntry enterLater(Binding.OfMethod method, Arguments arguments) {
        Attempt attempt = attempt(method, arguments);
        if (attempt == null) {
            return LaterEntry.OPEN;
        }
        return isEntered(attempt) ? decidedByFilter(attempt) : decideLater(attempt);
    }

    /** Enters a call of a bean method on a thread that must not block. Steps that can block run on other threads, in the context of the call. */
    public LaterEntry enterAsync(Binding.OfMethod method, Arguments arguments, Executor threads) {
        Attempt attempt = attempt(method, arguments);
        if (attempt == null) {
            return LaterEntry.OPEN;
        }
        return isEntered(attempt) ? decidedByFilter(attempt) : decideAsync(attempt, threads, UnaryOperator.identity());
    }

    /** Returns the answer to a call about which the filter of the request has decided, or for which it has started the wait. */
    private LaterEntry decidedByFilter(Attempt attempt) {
        RequestState request = Objects.requireNonNull(attempt.request(), "only a request has a filter");
        return request.waiting(attempt.binding().endpoint())
                .map(wait -> later(new Attempt(wait.binding(), attempt.call(), request, true), wait.decision()))
                .orElseGet(() -> later(attempt, CompletableFuture.completedFuture(Decision.Allowed.UNLIMITED)));
    }

    private static boolean isEntered(Attempt attempt) {
        return attempt.request() != null && attempt.request().takeEntered(attempt.binding());
    }

    /** A call that has to be decided. */
    private record Attempt(
            Binding binding, CallContext call, @Nullable RequestState request, boolean settlesWithResponse) {}

    /** Returns the call to decide, null if no policy applies. */
    private @Nullable Attempt attempt(Binding.OfMethod method, Arguments arguments) {
        if (method.binding().policies().isEmpty()) {
            return null;
        }
        RequestState request = requests.current(this);
        Binding binding = request == null ? method.binding() : request.bindingOf(method.binding());
        if (binding.policies().isEmpty() || bypasses(policies.get().bypass(), binding, request)) {
            return null;
        }
        // The method of the resource settles with the response if the filter has left the decision to it.
        boolean settlesWithResponse =
                request != null && request.pending().filter(binding::equals).isPresent();
        return new Attempt(binding, call(method, binding, request, arguments), request, settlesWithResponse);
    }

    private CallContext call(
            Binding.OfMethod method, Binding binding, @Nullable RequestState request, Arguments arguments) {
        @Nullable Object[] known = binding.needsArguments() ? arguments.get() : null;
        return new InvocationCall(
                request == null ? requests.withoutRequest(arguments.get()) : request.caller(),
                request != null,
                binding.endpoint(),
                method.arguments(),
                // Payara has null for an enterprise bean's method without parameters.
                known == null ? List.of() : Arrays.asList(known));
    }

    private boolean bypasses(Bypass bypass, Binding binding, @Nullable RequestState request) {
        if (request == null
                || bypass.isEmpty()
                || !request.bypasses(
                        call -> bypass.appliesTo(call, () -> clients.of(call.peerAddress(), call::headerLines)))) {
            return false;
        }
        if (request.bypass(binding)) {
            engine.bypass(binding);
        }
        return true;
    }

    private Entry decide(Attempt attempt) {
        return entry(attempt, engine.decide(attempt.binding(), attempt.call(), attempt.request()));
    }

    private LaterEntry decideLater(Attempt attempt) {
        RequestState request = attempt.request();
        CompletableFuture<Decision> decision = engine.decideLater(attempt.binding(), attempt.call(), request, executor);
        if (request != null && attempt.settlesWithResponse() && !decision.isDone()) {
            waitInRequest(attempt, request, decision);
        }
        return later(attempt, decision);
    }

    /** Decides without blocking the calling thread. The decision ends with its request. */
    private LaterEntry decideAsync(Attempt attempt, Executor threads, UnaryOperator<Entry> answered) {
        RequestState request = attempt.request();
        CompletableFuture<Decision> decision = engine.decideAsync(attempt.binding(), attempt.call(), request, threads);
        boolean waits = request != null && attempt.settlesWithResponse() && !decision.isDone();
        if (waits && request != null) {
            waitInRequest(attempt, request, decision);
        }
        return new LaterEntry(decision, request, decided -> {
            if (waits && request != null) {
                request.endWait();
            }
            return answered.apply(entry(attempt, decided));
        });
    }

    /** Lets a decision end with its request. Nobody asks for the decision if another filter aborts the request. */
    private void waitInRequest(Attempt attempt, RequestState request, CompletableFuture<Decision> decision) {
        request.waitFor(attempt.binding(), decision);
        CompletionStage<Decision> decided = decision;
        decided.thenAccept(late -> ends.keepUntilEnd(late, request, slotHolder));
    }

    private LaterEntry later(Attempt attempt, CompletableFuture<Decision> decision) {
        return new LaterEntry(decision, attempt.request(), decided -> entry(attempt, decided));
    }

    private Entry entry(Attempt attempt, Decision decision) {
        Binding binding = attempt.binding();
        RequestState request = attempt.request();
        boolean settles =
                binding.countsOutcomes() && decision.allowed() && !decision.equals(Decision.Allowed.UNLIMITED);
        if (settles && attempt.settlesWithResponse() && request != null) {
            request.settleLater(binding, decision);
        }
        CallEnds.Slots ownSlots = ends.take(binding, decision, request, !attempt.settlesWithResponse(), slotHolder);
        return new Entry(
                Entry.Passage.DECIDED,
                decision,
                binding,
                request,
                ownSlots != CallEnds.Slots.NONE || (settles && !attempt.settlesWithResponse()),
                ownSlots);
    }

    /** Returns the charges of the request that the calling thread serves. */
    public RequestCharges charges() {
        return new CurrentCharges(engine.settlements(), policy -> policies.get().has(policy), this::current);
    }

    /** Leaves with the outcome of a bean call, by the answer on its entry. */
    public void leave(Entry entry, boolean succeeded) {
        if (entry.binding().countsOutcomes()) {
            ends.settle(entry.binding(), entry.decision(), succeeded, entry.request());
        }
        leave(entry);
    }

    private void leave(Entry entry) {
        ends.leave(entry.slots(), entry.decision(), entry.request());
    }

    /** Leaves with the outcome of a request. Only the first call has an effect. */
    public void leave(RequestState request, boolean succeeded) {
        request.endWait();
        if (!request.endsWith(succeeded)) {
            ends.settle(request, succeeded);
        }
        if (succeeded) {
            // A failed request may not have reached its method, for instance if an argument did not convert.
            request.pending().ifPresent(this::warnUnlimited);
        }
    }

    private void warnUnlimited(Binding binding) {
        if (unlimited.add(binding.endpoint())) {
            MESSAGES.log("WEIR-304", binding.endpoint());
        }
    }

    /**
     * Considers a user whom a filter has authenticated after the request has entered. Reports the policies that were decided under another
     * key.
     */
    public void authenticated(RequestState request, CallContext call) {
        request.caller(call);
        request.quotas()
                .lastEvent()
                .ifPresent(decided -> decided.charges().stream()
                        .filter(charge -> !lateUsers.contains(charge.policy().policy()) && isKeyOfAnother(charge, call))
                        .map(charge -> charge.policy().policy())
                        .filter(lateUsers::add)
                        .forEach(policy -> MESSAGES.log("WEIR-338", decided.endpoint(), policy)));
    }

    private boolean isKeyOfAnother(Charge charge, CallContext call) {
        return policies.get()
                .policy(charge.policy().policy())
                .map(policy -> engine.encoder().encode(policy.key().resolve(call)))
                .filter(key -> !key.equals(charge.storedKey()))
                .isPresent();
    }

    /**
     * Starts a request that has not entered yet, and sets its caller. Only code that calls a bean before the filters has to start a
     * request.
     */
    public RequestState start(HttpCall call) {
        RequestState attached = call.attachedState();
        if (attached != null) {
            attached.caller(call);
            return attached;
        }
        RequestState request = requests.start(call, this);
        if (receipts != null) {
            request.receipt(receipts.read(call.headerLines(HostedWeir.RECEIPT_FIELD)));
        }
        call.attach(request);
        return request;
    }

    /** Returns the state of the HTTP request that the calling thread serves; empty if it serves none, as a thread of a timer. */
    public Optional<RequestState> current() {
        return Optional.ofNullable(requests.current(this));
    }
}
