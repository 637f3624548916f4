// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import io.weir.ratelimit.FailureMode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The callers of a run: a mix of operations that a seed selects. */
final class Workload {
    private static final Duration WINDOW = Duration.ofSeconds(2);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration DAY = Duration.ofDays(1);

    /** Slots with the default timeout, which survive the outages of a run, and slots with the shortest useful one. */
    private static final Policy HELD = slots("held", Duration.ofSeconds(60));

    private static final Policy BRIEF = slots("brief", Duration.ofSeconds(6));

    private static final Policy ACCOUNT =
            policy("account", Form.FIXED_WINDOW, 1_000_000, DAY, 0, FailureMode.CLOSED, Map.of());
    private static final Policy BLOCKED =
            policy("blocked", Form.FIXED_WINDOW, 1_000_000, DAY, 0, FailureMode.CLOSED, Map.of());
    private static final Policy CHANGED =
            policy("changed", Form.FIXED_WINDOW, 1_000, Duration.ofHours(1), 0, FailureMode.CLOSED, Map.of());

    /** The limits by time, which the callers exhaust. */
    private static final List<Policy> LIMITS = List.of(
            policy("fixed", Form.FIXED_WINDOW, 10, Duration.ofSeconds(5), 0, FailureMode.OPEN, Map.of()),
            policy("sliding", Form.SLIDING_WINDOW, 20, WINDOW, 0, FailureMode.CLOSED, Map.of()),
            policy("log", Form.SLIDING_LOG, 20, WINDOW, 0, FailureMode.LOCAL, Map.of()),
            policy("token", Form.TOKEN_BUCKET, 20, WINDOW, 10, FailureMode.LOCAL, Map.of()),
            policy("leaky", Form.LEAKY_BUCKET, 20, WINDOW, 5, FailureMode.CLOSED, Map.of()),
            policy("minute", Form.CALENDAR, 300, MINUTE, 0, FailureMode.CLOSED, Map.of()),
            policy(
                    "shares",
                    Form.FIXED_WINDOW,
                    40,
                    Duration.ofSeconds(4),
                    0,
                    FailureMode.CLOSED,
                    Map.of("notify-at", "50%")));

    /** A limit whose only key is busy enough for leases. */
    private static final Policy LEASED =
            policy("leased", Form.FIXED_WINDOW, 100, WINDOW, 0, FailureMode.CLOSED, Map.of("lease", "10"));

    /** A limit whose many rejections block its only key. */
    private static final Policy PENALIZED = policy(
            "penalized",
            Form.FIXED_WINDOW,
            5,
            WINDOW,
            0,
            FailureMode.CLOSED,
            Map.of("penalty.after", "20/2s", "penalty.for", "1s", "penalty.factor", "1", "penalty.max", "2s"));

    /** The policy of a REST client, which has its name. Only its upstream rejects calls. */
    private static final Policy UPSTREAM =
            policy("upstream", Form.FIXED_WINDOW, 1_000_000_000, DAY, 0, FailureMode.OPEN, Map.of());

    /** Limits that a call charges together, each for a key of its own. Calls under two of them exhaust one, or both. */
    private static final List<Policy> JOINT = List.of(
            joint("org", 1_000_000, DAY, "enforce"),
            joint("team", 20, WINDOW, "enforce"),
            joint("trial", 20, WINDOW, "shadow"),
            joint("audit", 1_000_000, DAY, "shadow"),
            joint("left", 100, DAY, "enforce"),
            joint("right", 100, DAY, "enforce"));

    /** The policies of such calls, of which the last two have a new key after each time. */
    private static final List<List<String>> TOGETHER = List.of(
            List.of("org", "team"),
            List.of("team", "org"),
            List.of("org", "trial"),
            List.of("team", "audit"),
            List.of("left", "right"),
            List.of("right", "left"));

    private static final Duration NEW_KEY_AFTER = Duration.ofSeconds(1);
    private static final int MOST_COST = 3;

    /** The limits whose permits return within seconds, so that a caller can wait for them. */
    private static final List<Policy> SHORT_LIMITS =
            LIMITS.stream().filter(limit -> limit.form() != Form.CALENDAR).toList();

    private static final List<String> KEYS = List.of("ann", "bob");
    private static final int CALLERS = 3;
    private static final int HOLDERS = 3;
    private static final int CALLS_OF_KEY = 40;
    private static final int CLIENTS = 2;
    private static final int SLOW_ANSWERS = 8;
    private static final int MOST_ANSWER_MILLIS = 2_000;
    private static final int PAUSES_OF_ANSWERS = 40;
    private static final int MOST_PAUSE_SECONDS = 5;
    private static final int MOST_CALLS_TO_EXHAUST = 60;
    private static final long MOST_WAIT_SECONDS = 10;
    private static final int RUSHES = 3;
    private static final int CALLS_OF_RUSH = 20;

    /** With longer pauses, a reading would miss changes. */
    private static final int MOST_PACE_OF_READER = 5;

    /** With longer pauses, a block would end before the next call. */
    private static final int MOST_PACE_OF_BLOCKER = 20;

    /** Calls hold their slots for up to this many times three seconds, so that few calls hold all of them. */
    private static final int MOST_PACE_OF_HOLDER = 10;

    /** So many calls, one shortly after the other, exceed a limit and reach a penalty. Longer pauses are between such series. */
    private static final int CALLS_OF_SERIES = 30;

    private static final int MILLIS_BETWEEN_SERIES = 50;

    /** For so many windows do all callers exhaust the same limit, if each of them makes few calls: one more than the checker compares. */
    private static final int WINDOWS_OF_PHASE = 21;

    /** For so many periods do they exhaust the calendar limit, whose other windows are too long for a run. */
    private static final int PERIODS_OF_PHASE = 3;

    /** So many changes of an attribute are kept at least, and can apply again. */
    private static final int KEPT_CHANGES = 9;

    private final Stage stage;
    private final long seed;
    private final int instances;
    private final int pace;
    private final long startNanos = System.nanoTime();
    private final List<Thread> threads = new ArrayList<>();

    /** The policies and keys of accounts, whose spent permits are known. */
    private final Set<String> accounts = new TreeSet<>();

    private volatile boolean running = true;

    /** The losses of data that the operator knows. Only its thread uses this number. */
    private int knownLosses;

    Workload(Stage stage, Run run) {
        this.stage = stage;
        this.instances = run.instances();
        this.seed = run.seed();
        this.pace = run.pace();
    }

    /** Returns all policies. */
    static List<Policy> policies() {
        List<Policy> all = new ArrayList<>(LIMITS);
        all.addAll(List.of(HELD, BRIEF, ACCOUNT, BLOCKED, CHANGED, LEASED, PENALIZED, UPSTREAM));
        all.addAll(JOINT);
        return all;
    }

    /** Returns the names of the policies whose calls can be requests: they end nothing later, and cost one permit. */
    static Set<String> requested() {
        return Stream.concat(LIMITS.stream(), Stream.of(BLOCKED, LEASED, PENALIZED))
                .map(Policy::name)
                .collect(Collectors.toSet());
    }

    /** Returns the names of the policies whose keys are headers with the names of the policies. */
    static Set<String> withOwnKeys() {
        return JOINT.stream().map(Policy::name).collect(Collectors.toSet());
    }

    /** Returns the properties of the REST client, whose calls share a pause for each host. */
    static Map<String, String> client() {
        String client = "ratelimit.clients." + UPSTREAM.name();
        return Map.of(client + ".policy", UPSTREAM.name(), client + ".key", "host");
    }

    private static Policy joint(String name, long permits, Duration window, String mode) {
        Map<String, String> more = Map.of("key", "header:" + name, "mode", mode);
        return policy(name, Form.FIXED_WINDOW, permits, window, 0, FailureMode.CLOSED, more);
    }

    private static Policy slots(String name, Duration timeout) {
        return policy(name, Form.CONCURRENCY, 4, timeout, 0, FailureMode.CLOSED, Map.of());
    }

    private static Policy policy(
            String name,
            Form form,
            long permits,
            Duration window,
            long burst,
            FailureMode mode,
            Map<String, String> more) {
        return new Policy(name, form, permits, window, burst, mode, more);
    }

    /** Starts the callers. */
    void start() {
        for (int i = 0; i < instances; i++) {
            int instance = i;
            for (int caller = 0; caller < CALLERS; caller++) {
                start("caller", random -> call(stage.instance(instance), random));
            }
            for (int holder = 0; holder < HOLDERS; holder++) {
                start("holder", random -> hold(stage.instance(instance), random));
            }
            start("offender", random -> {
                for (int call = 0; call < CALLS_OF_SERIES && running; call++) {
                    stage.instance(instance).run(Kind.ACQUIRE, PENALIZED.name(), "any", 1, 0);
                    pause(5 + random.nextInt(30));
                }
                pauseAfterSeries(random);
            });
            start("rusher", random -> {
                rush(stage.instance(instance));
                pause((long) pace * (500 + random.nextInt(1_000)));
            });
            start("accountant", random -> account(stage.instance(instance), instance, random));
            for (int client = 0; client < CLIENTS; client++) {
                start("client", random -> send(stage.instance(instance), random));
            }
            start("reader", random -> {
                stage.instance(instance).run(Kind.READ, CHANGED.name(), "any", 0, 0);
                pause((long) Math.min(pace, MOST_PACE_OF_READER) * (100 + random.nextInt(100)));
            });
        }
        start("blocker", this::block);
        Deque<long[]> made = new ArrayDeque<>();
        start("operator", random -> change(random, made));
        for (int i = 0; i < instances; i++) {
            int instance = i;
            start("patient", random -> obey(stage.instance(instance), "patient-" + instance, random));
        }
        for (int i = 0; i < instances; i++) {
            int instance = i;
            start("joiner", random -> join(stage.instance(instance), random));
        }
    }

    private interface Loop {
        void run(Random random) throws InterruptedException;
    }

    private void start(String name, Loop loop) {
        Random random = new Random(seed * 1_000 + threads.size());
        Thread thread = new Thread(
                () -> {
                    try {
                        while (running) {
                            loop.run(random);
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private static void pause(long millis) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(millis);
    }

    /** A caller waits for an instance that has ended. */
    private void pauseAfter(Operation call, int millis) throws InterruptedException {
        pause(call.outcome() == Outcome.LOST ? 100 : (long) pace * millis);
    }

    private static <T> T any(List<T> list, Random random) {
        return list.get(random.nextInt(list.size()));
    }

    private void call(InstanceProcess instance, Random random) throws InterruptedException {
        Policy limit =
                pace == 1 ? any(LIMITS, random) : limitAt(Duration.ofNanos(System.nanoTime() - startNanos), seed);
        String key = pace == 1 ? any(KEYS, random) : KEYS.get(0);
        Operation call = instance.run(Kind.ACQUIRE, limit.name(), key, 1, 0);
        pauseAfter(call, 1 + random.nextInt(5));
    }

    /** Returns the limit whose only key all callers use at a time of a run, if each of them makes few calls. */
    static Policy limitAt(Duration time, long seed) {
        Duration left = time;
        for (long number = seed; ; number++) {
            Policy limit = LIMITS.get(Math.floorMod(number, LIMITS.size()));
            Duration phase = phase(limit);
            if (left.compareTo(phase) < 0) {
                return limit;
            }
            left = left.minus(phase);
        }
    }

    private static Duration phase(Policy limit) {
        return limit.window().multipliedBy(limit.form() == Form.CALENDAR ? PERIODS_OF_PHASE : WINDOWS_OF_PHASE);
    }

    /** Exhausts a limit of its own, and calls again after the time that the rejection names. */
    private void obey(InstanceProcess instance, String key, Random random) throws InterruptedException {
        Policy limit = any(SHORT_LIMITS, random);
        Operation call = instance.run(Kind.ACQUIRE, limit.name(), key, 1, 0);
        for (int i = 1; i < MOST_CALLS_TO_EXHAUST && call.outcome() == Outcome.ALLOWED && running; i++) {
            pause(pace);
            call = instance.run(Kind.ACQUIRE, limit.name(), key, 1, 0);
        }
        if (call.outcome() == Outcome.REJECTED) {
            TimeUnit.SECONDS.sleep(Math.min(MOST_WAIT_SECONDS, call.value()));
            instance.run(Kind.ACQUIRE, limit.name(), key, 1, 0);
        }
        pauseAfter(call, 200 + random.nextInt(500));
    }

    /** Makes so many calls at once that a key is leased, several times one after the other. */
    private static void rush(InstanceProcess instance) {
        for (int i = 0; i < RUSHES; i++) {
            List<CompletableFuture<Operation>> calls = Stream.generate(
                            () -> instance.start(Kind.ACQUIRE, LEASED.name(), "any", 1, 0))
                    .limit(CALLS_OF_RUSH)
                    .toList();
            calls.forEach(CompletableFuture::join);
        }
    }

    private void hold(InstanceProcess instance, Random random) throws InterruptedException {
        int longHold = Math.min(pace, MOST_PACE_OF_HOLDER);
        Policy policy = random.nextBoolean() ? HELD : BRIEF;
        Operation call = instance.run(Kind.ACQUIRE, policy.name(), "ann", 1, 0);
        if (call.outcome() == Outcome.ALLOWED) {
            pause((long) longHold * random.nextInt(random.nextInt(10) == 0 ? 3_000 : 300));
            instance.run(Kind.RELEASE, policy.name(), "ann", 1, call.number());
        }
        pause(call.outcome() == Outcome.LOST ? 100 : (long) longHold * (5 + random.nextInt(20)));
    }

    private void account(InstanceProcess instance, int number, Random random) throws InterruptedException {
        String key = "account-" + number + "-" + random.nextInt(1_000_000);
        synchronized (accounts) {
            accounts.add(ACCOUNT.name() + " " + key);
        }
        for (int i = 0; i < CALLS_OF_KEY && running; i++) {
            Operation call = instance.run(Kind.ACQUIRE, ACCOUNT.name(), key, 1 + random.nextInt(9), 0);
            if (call.outcome() == Outcome.ALLOWED) {
                end(instance, call, random);
            }
            if (random.nextInt(4) == 0) {
                instance.run(Kind.PEEK, ACCOUNT.name(), key, 0, 0);
            }
            pauseAfter(call, 5 + random.nextInt(10));
        }
    }

    /** Refunds or settles a call, sometimes twice. */
    private static void end(InstanceProcess instance, Operation call, Random random) {
        int choice = random.nextInt(6);
        if (choice < 2) {
            Kind kind = choice == 0 ? Kind.REFUND : Kind.SETTLE;
            Operation first = instance.run(kind, call.policy(), call.key(), random.nextInt(20), call.number());
            if (first.outcome() == Outcome.DONE && random.nextInt(3) == 0) {
                instance.run(kind, call.policy(), call.key(), random.nextInt(20), call.number());
            }
        }
    }

    private void pauseAfterSeries(Random random) throws InterruptedException {
        pause((pace - 1L) * (MILLIS_BETWEEN_SERIES + random.nextInt(2 * MILLIS_BETWEEN_SERIES)));
    }

    private void join(InstanceProcess instance, Random random) throws InterruptedException {
        List<String> policies = any(TOGETHER, random);
        for (int call = 0; call < CALLS_OF_SERIES && running; call++) {
            join(instance, policies, random);
        }
        pauseAfterSeries(random);
    }

    /** Calls under two policies, and sometimes under one of those that a call with both can then exceed. */
    private void join(InstanceProcess instance, List<String> policies, Random random) throws InterruptedException {
        boolean isNew = policies.contains("left");
        long age = (System.nanoTime() - startNanos)
                / NEW_KEY_AFTER.multipliedBy(pace).toNanos();
        // The key of an account is not one of those that move to another master, which calls use all the time.
        String suffix = isNew ? "-account-" + age : "";
        List<String> keys = policies.stream().map(policy -> policy + suffix).toList();
        long cost = 1 + random.nextInt(MOST_COST);
        Operation call = isNew && random.nextInt(3) == 0
                ? instance.run(Kind.ACQUIRE, policies.get(0), keys.get(0), cost, 0)
                : instance.run(policies, keys, cost);
        for (Policy policy : JOINT) {
            if (policies.contains(policy.name()) && policy.window().equals(DAY)) {
                String key = policy.name() + suffix;
                synchronized (accounts) {
                    accounts.add(policy.name() + " " + key);
                }
                if (random.nextInt(8) == 0) {
                    instance.run(Kind.PEEK, policy.name(), key, 0, 0);
                }
            }
        }
        pause(call.outcome() == Outcome.LOST ? 100 : 5 + random.nextInt(10));
    }

    /** Sends an outgoing call. One of many answers requires a pause. */
    private void send(InstanceProcess instance, Random random) throws InterruptedException {
        Operation call = instance.run(Kind.SEND, UPSTREAM.name(), any(KEYS, random), 1, 0);
        if (call.outcome() == Outcome.ALLOWED || call.outcome() == Outcome.DEGRADED_ALLOWED) {
            if (random.nextInt(SLOW_ANSWERS) == 0) {
                pause(random.nextInt(MOST_ANSWER_MILLIS)); // the other client receives its answers meanwhile
            }
            long seconds = random.nextInt(PAUSES_OF_ANSWERS) == 0 ? 1 + random.nextInt(MOST_PAUSE_SECONDS) : 0;
            instance.run(Kind.ANSWER, call.policy(), call.key(), TimeUnit.SECONDS.toNanos(seconds), call.number());
        }
        pauseAfter(call, 5 + random.nextInt(20));
    }

    private void block(Random random) throws InterruptedException {
        InstanceProcess instance = stage.instance(random.nextInt(instances));
        String key = any(KEYS, random);
        instance.run(Kind.BLOCK, BLOCKED.name(), key, TimeUnit.MILLISECONDS.toNanos(500 + random.nextInt(2_000)), 0);
        for (int i = 0; i < 100 && running; i++) {
            stage.instance(random.nextInt(instances)).run(Kind.ACQUIRE, BLOCKED.name(), key, 1, 0);
            pause((long) Math.min(pace, MOST_PACE_OF_BLOCKER) * random.nextInt(20));
            if (i == 50 && random.nextBoolean()) {
                stage.instance(random.nextInt(instances)).run(Kind.UNBLOCK, BLOCKED.name(), key, 0, 0);
            }
        }
    }

    /** Makes a change, or undoes the last one. Without an answer or after a loss, the last one is unknown, and a change follows. */
    private void change(Random random, Deque<long[]> made) throws InterruptedException {
        int losses = stage.losses();
        if (losses != knownLosses) {
            made.clear();
            knownLosses = losses;
        }
        InstanceProcess instance = stage.instance(random.nextInt(instances));
        boolean isUndo = !made.isEmpty() && random.nextInt(3) == 0;
        long[] last = isUndo ? made.pop() : new long[2];
        long limit = !isUndo ? 1_001 + random.nextInt(1_000_000) : made.isEmpty() ? -1 : made.peek()[1];
        if (limit < 0) {
            return;
        }
        Operation change = instance.run(Kind.CHANGE, CHANGED.name(), "any", limit, isUndo ? last[0] : 0);
        if (change.outcome() != Outcome.DONE) {
            made.clear();
        } else if (!isUndo) {
            made.push(new long[] {change.value(), limit});
            if (made.size() > KEPT_CHANGES) {
                made.removeLast();
            }
        }
        pause(500 + random.nextInt(1_500));
    }

    /** Ends the callers, and reads the accounts. */
    void end() throws InterruptedException {
        running = false;
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (accounts) {
            accounts.forEach(account -> {
                String[] words = account.split(" ", -1);
                stage.instance(0).run(Kind.PEEK, words[0], words[1], 0, 0);
            });
        }
    }
}
