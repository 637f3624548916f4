// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static io.weir.ratelimit.core.config.ConfigKey.CLIENT;
import static io.weir.ratelimit.core.config.ConfigKey.POLICY;
import static io.weir.ratelimit.core.config.ValueForm.ADDRESSES;
import static io.weir.ratelimit.core.config.ValueForm.DEADLINE;
import static io.weir.ratelimit.core.config.ValueForm.FACTOR;
import static io.weir.ratelimit.core.config.ValueForm.FIELD_NAME;
import static io.weir.ratelimit.core.config.ValueForm.FLAG;
import static io.weir.ratelimit.core.config.ValueForm.HEADER_DIALECTS;
import static io.weir.ratelimit.core.config.ValueForm.HTTP_METHODS;
import static io.weir.ratelimit.core.config.ValueForm.PENALTY;
import static io.weir.ratelimit.core.config.ValueForm.PERCENTAGE;
import static io.weir.ratelimit.core.config.ValueForm.PERCENTAGES;
import static io.weir.ratelimit.core.config.ValueForm.REJECTIONS;
import static io.weir.ratelimit.core.config.ValueForm.RESOURCE_PATH;
import static io.weir.ratelimit.core.config.ValueForm.URI_REFERENCE;
import static io.weir.ratelimit.core.config.ValueForm.WEB_ADDRESS;
import static io.weir.ratelimit.core.config.ValueForm.duration;
import static io.weir.ratelimit.core.config.ValueForm.durationOrZero;
import static io.weir.ratelimit.core.config.ValueForm.list;
import static io.weir.ratelimit.core.config.ValueForm.matching;
import static io.weir.ratelimit.core.config.ValueForm.namesOrNone;
import static io.weir.ratelimit.core.config.ValueForm.number;
import static io.weir.ratelimit.core.config.ValueForm.numberOrAuto;
import static io.weir.ratelimit.core.config.ValueForm.oneOf;
import static io.weir.ratelimit.core.config.ValueForm.permits;
import static io.weir.ratelimit.core.config.ValueForm.someOf;
import static io.weir.ratelimit.core.config.ValueForm.text;
import static io.weir.ratelimit.core.config.ValueForm.texts;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.core.key.ForwardedHeader;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/** The table of all properties, for the readers, the check for unknown properties and the reference of the configuration. */
public final class ConfigKeys {
    /** The beginning of the names of environment variables that set properties. */
    public static final String VARIABLES = "RATELIMIT_";

    static final int MINIMUM_SECRET = 16;

    /** The beginning of the names of the properties of REST clients. */
    public static final String CLIENTS = "ratelimit.clients.";

    /** The artifacts of plug-ins by the beginning of the names of their properties. */
    private static final Map<String, String> ARTIFACTS = Map.ofEntries(
            Map.entry(CLIENTS, "weir-client"),
            Map.entry("ratelimit.client-names", "weir-client"),
            Map.entry("ratelimit.console.", "weir-operations"),
            Map.entry("ratelimit.changes.", "weir-operations"),
            Map.entry("ratelimit.envoy.", "weir-envoy"));

    private static final List<ConfigKey<?>> TABLE = new ArrayList<>();

    public static final ConfigKey<Boolean> ENABLED =
            key("ratelimit.enabled", "true", FLAG).means("false allows every call and counts nothing");
    public static final ConfigKey<String> BACKEND = key(
                    "ratelimit.backend", "auto", text("auto, local, redisson or the name of another backend"))
            .means("the backend; auto uses Redis if it is configured, otherwise the local backend");
    public static final ConfigKey<String> NAMESPACE = key(
                    "ratelimit.namespace",
                    "default",
                    matching("1 to 64 of the characters A-Z a-z 0-9 . _ -", "[A-Za-z0-9._-]{1,64}"))
            .means("separates applications that share a Redis");

    public static final ConfigKey<String> REDIS_ADDRESS = key(
                    "ratelimit.redis.address",
                    texts("redis://host:6379 or rediss://user:password@host:6379/0; commas separate several"))
            .means("the address of Redis; several addresses are nodes of a cluster");
    public static final ConfigKey<String> REDIS_CONFIG = key(
                    "ratelimit.redis.config",
                    text("a file or a resource, such as /etc/redisson.yaml or classpath:redisson.yaml"))
            .means("a Redisson YAML file in place of the address");
    public static final ConfigKey<Duration> REDIS_DEADLINE = key("ratelimit.redis.deadline", "100ms", DEADLINE)
            .means("the longest time that a decision waits for Redis");

    public static final ConfigKey<String> KEY_SECRET = key(
                    "ratelimit.key-secret",
                    ValueForm.of(
                            "16 characters or more",
                            text -> Optional.of(text).filter(secret -> secret.length() >= MINIMUM_SECRET)))
            .means(
                    "the secret of the hashes (HMAC-SHA-256) that replace all values in stored keys, the same on all instances");
    public static final ConfigKey<Boolean> RECEIPTS = key("ratelimit.receipts", "false", FLAG)
            .means(
                    "whether the server for Envoy adds receipts to requests, and applications accept them; it needs ratelimit.key-secret");
    public static final ConfigKey<Integer> IPV4_PREFIX = key("ratelimit.ipv4-prefix", "32", number(1, 32))
            .means("the number of leading bits of an IPv4 address that share a key");
    public static final ConfigKey<Integer> IPV6_PREFIX = key("ratelimit.ipv6-prefix", "64", number(1, 128))
            .means("the number of leading bits of an IPv6 address that share a key");
    public static final ConfigKey<List<AddressRange>> TRUSTED_PROXIES = emptyList(
                    "ratelimit.trusted-proxies", ADDRESSES)
            .means("the proxies whose header determines the client address");
    public static final ConfigKey<ForwardedHeader> FORWARDED_HEADER = key(
                    "ratelimit.forwarded-header",
                    "x-forwarded-for",
                    oneOf(ForwardedHeader.values(), ForwardedHeader::fieldName))
            .means("the only header of the trusted proxies that is read");
    public static final ConfigKey<List<String>> HEADERS =
            key("ratelimit.headers", "ietf, legacy", HEADER_DIALECTS).means("the header dialects of responses");
    public static final ConfigKey<Integer> LOCAL_MAX_KEYS = key(
                    "ratelimit.local.max-keys", "100000", number(1, 100_000_000))
            .means("the number of keys that are kept in process");
    public static final ConfigKey<Settings.Metrics> METRICS = key(
                    "ratelimit.metrics",
                    "auto",
                    oneOf(Settings.Metrics.values(), metrics -> metrics.name().toLowerCase(Locale.ROOT)))
            .means("the destination of metrics");
    public static final ConfigKey<Duration> RELOAD_INTERVAL = key(
                    "ratelimit.reload-interval", "5s", durationOrZero("1s", "1h"))
            .means("the interval of reloads, and the lifetime of cached limits of single keys");
    public static final ConfigKey<OptionalInt> INSTANCES = key("ratelimit.instances", "auto", numberOrAuto(1, 10_000))
            .means(
                    "the number of instances, which on-failure=local, on-failure=sample and the budgets of retries use; auto learns it in Redis");
    public static final ConfigKey<Boolean> FAIL_WHEN_DEGRADED = key(
                    "ratelimit.health.fail-when-degraded", "false", FLAG)
            .means("whether an instance without its backend is not ready");

    public static final ConfigKey<Boolean> CONSOLE_ENABLED =
            key("ratelimit.console.enabled", "false", FLAG).means("enables the console");
    public static final ConfigKey<String> CONSOLE_ROLE = key("ratelimit.console.role", text("the name of a role"))
            .means("the role that the users of the console need");
    public static final ConfigKey<Boolean> CONSOLE_OPEN = key("ratelimit.console.open", "false", FLAG)
            .means("opens the console to everyone, including the reset and the block of keys; only for demonstrations");
    public static final ConfigKey<String> CONSOLE_GRAFANA = key("ratelimit.console.grafana", WEB_ADDRESS)
            .means("the address of dashboards, to which the console links");

    public static final ConfigKey<Boolean> CHANGES_ENABLED = key("ratelimit.changes.enabled", "false", FLAG)
            .means("enables runtime changes, which operators make and all instances apply");
    public static final ConfigKey<String> CHANGES_ROLE = key("ratelimit.changes.role", text("the name of a role"))
            .means("the role that makes runtime changes; required if they are enabled");

    public static final ConfigKey<String> QUOTA_PATH = key("ratelimit.quota.path", RESOURCE_PATH)
            .means("the path of the quota resource below the context root; it is disabled if the property is not set");

    public static final ConfigKey<List<String>> BYPASS_TOKENS = key(
                    "ratelimit.bypass.tokens", list("64 hexadecimal digits; commas separate several"))
            .means("SHA-256 digests of bypass tokens; a request with a bypass token is not limited");
    public static final ConfigKey<String> BYPASS_HEADER =
            key("ratelimit.bypass.header", "X-RateLimit-Bypass", FIELD_NAME).means("the header with the bypass token");
    public static final ConfigKey<List<AddressRange>> BYPASS_ADDRESSES = emptyList(
                    "ratelimit.bypass.addresses", ADDRESSES)
            .means("the clients that are not limited, by their address behind trusted proxies");
    public static final ConfigKey<List<String>> BYPASS_ROLES = key(
                    "ratelimit.bypass.roles", list("the names of roles; commas separate several"))
            .means("the roles whose users are not limited");

    public static final ConfigKey<List<String>> PATH_POLICIES = key(
                    "ratelimit.path-policies", namesOrNone("none, or the names of policies; commas separate several"))
            .means("the policies with paths that only environment variables or sources without names configure");
    public static final ConfigKey<List<String>> CLIENT_NAMES = key(
                    "ratelimit.client-names", namesOrNone("none, or the names of clients; commas separate several"))
            .means("the REST clients that only environment variables or sources without names configure");
    public static final ConfigKey<Long> METHOD_COST = key("ratelimit.costs.\"Class.method\"", permits(1))
            .means("the permits that a call of the method spends under each policy of its annotations");

    public static final ConfigKey<String> LIMIT = noted(
                    POLICY + "limit",
                    "required",
                    texts("<permits>/<duration>, such as 100/1m, or <permits>/<unit>, such as 10000/month; 0 to "
                            + Limit.MAX_PERMITS
                            + " permits (10000 for sliding-log) in 1ms to 366d; commas separate several"))
            .means("the limits of the policy");
    public static final ConfigKey<Algorithm> ALGORITHM = key(
                    POLICY + "algorithm", "sliding-window", oneOf(Algorithm.values(), Algorithm::configName))
            .means("the algorithm of the limits");
    public static final ConfigKey<ZoneId> ZONE =
            key(POLICY + "zone", "UTC", ValueForm.ZONE).means("the time zone of limits by the calendar");
    public static final ConfigKey<Integer> ANCHOR = key(POLICY + "anchor", "1", number(1, CalendarPeriod.MAX_ANCHOR))
            .means(
                    "the day of the month on which a month, quarter or year of a limit begins; in a shorter month its last day");
    public static final ConfigKey<Integer> CONCURRENCY = key(POLICY + "concurrency", number(0, Limit.MAX_CONCURRENCY))
            .means("the calls of one key that may run at once on all instances; with limit or alone");
    public static final ConfigKey<Duration> CONCURRENCY_TIMEOUT = key(
                    POLICY + "concurrency-timeout", "60s", duration("1s", "1d"))
            .means(
                    "the time after which the slots of an instance that has died are free; running calls renew their slots");
    public static final ConfigKey<Long> BURST = noted(
                    POLICY + "burst", "the permits of a token bucket, 1 for a leaky bucket", permits(1))
            .means("the capacity of the bucket");
    public static final ConfigKey<String> KEY = key(POLICY + "key", "principal | ip", text("a key expression"))
            .means("the key; all calls with one key share the limits");
    public static final ConfigKey<Long> COST = key(POLICY + "cost", "1", permits(1))
            .means("the permits that a call spends if neither ratelimit.costs nor the annotation has a cost");
    public static final ConfigKey<Duration> MAX_WAIT = key(POLICY + "max-wait", "0s", duration("0s", "1h"))
            .means("the longest time that a call waits for permits before it is rejected");
    public static final ConfigKey<Integer> MAX_WAITING = key(POLICY + "max-waiting", "2", number(1, 10_000))
            .means("the number of calls under the policy that hold a thread of this process while they wait");
    public static final ConfigKey<Integer> LEASE = key(POLICY + "lease", "0", number(0, (int) PolicyLimits.MAX_LEASE))
            .means("the permits that an instance may lease for a busy key and spend from memory");
    public static final ConfigKey<String> TIER = key(
                    POLICY + "tier", text("key terms joined with |, or the name of a TierResolver bean"))
            .means("the tier of a caller, for example claim:plan");
    public static final ConfigKey<String> TIER_LIMIT = key(
                    POLICY + "tiers.<t>.limit",
                    texts("as limit; a tier name has 1 to 64 of the characters A-Z a-z 0-9 _ -"))
            .means("the limits of the tier");
    public static final ConfigKey<Long> TIER_BURST =
            noted(POLICY + "tiers.<t>.burst", "as burst", permits(1)).means("the capacity of the bucket of the tier");
    public static final ConfigKey<Integer> TIER_CONCURRENCY = noted(
                    POLICY + "tiers.<t>.concurrency", "as concurrency", number(0, Limit.MAX_CONCURRENCY))
            .means("the calls of one key of the tier that may run at once");
    public static final ConfigKey<String> MODE = key(POLICY + "mode", "enforce", oneOf("enforce", "shadow", "off"))
            .means("shadow decides, counts and reports, but never rejects; off disables the policy");
    public static final ConfigKey<Integer> ENFORCE_PERCENT = key(POLICY + "enforce-percent", "0", number(0, 100))
            .means("the share of the keys, in percent, for which a policy in shadow mode rejects calls");
    public static final ConfigKey<String> COUNT = key(POLICY + "count", "always", oneOf("always", "success", "failure"))
            .means("the calls that stay charged, by their outcome");
    public static final ConfigKey<String> DISCLOSURE = key(POLICY + "disclosure", "full", oneOf("full", "minimal"))
            .means("minimal omits policies and quotas in all responses to requests under the policy");
    public static final ConfigKey<String> HELP =
            key(POLICY + "help", URI_REFERENCE).means("a page about the limit for clients");
    public static final ConfigKey<List<Integer>> NOTIFY_AT = emptyList(POLICY + "notify-at", PERCENTAGES)
            .means("the used shares of each limit at which an event is fired once per key and period");
    public static final ConfigKey<Limit> PENALTY_AFTER = key(POLICY + "penalty.after", REJECTIONS)
            .means("the rejections of a key within a time that lead to a penalty: the key is blocked");
    public static final ConfigKey<Duration> PENALTY_FOR =
            key(POLICY + "penalty.for", PENALTY).means("the length of the first block of a key");
    public static final ConfigKey<Integer> PENALTY_FACTOR = noted(POLICY + "penalty.factor", "2", FACTOR)
            .means("how many times longer each further block of the key is");
    public static final ConfigKey<Duration> PENALTY_MAX = noted(
                    POLICY + "penalty.max", "1d, or penalty.for if it is longer", PENALTY)
            .means("the longest block, and the time without a block after which the penalties of a key are forgotten");
    public static final ConfigKey<String> PATHS = key(
                    POLICY + "paths", texts("default, or paths such as /api/search, /api/orgs/{org}, /api/admin/*"))
            .means("the requests under the policy without an annotation");
    public static final ConfigKey<List<String>> METHODS = noted(POLICY + "methods", "all", HTTP_METHODS)
            .means("the HTTP methods of these requests; GET includes HEAD");
    public static final ConfigKey<Long> PATH_COST = key(POLICY + "costs.<path>", permits(0))
            .means("the permits that a request of the path spends under the policy; 0 is free");
    public static final ConfigKey<String> PHASE = key(POLICY + "phase", "normal", oneOf("normal", "early"))
            .means("early decides before the request is matched and authenticated");
    public static final ConfigKey<FailureMode> ON_FAILURE = key(
                    POLICY + "on-failure", "open", oneOf(FailureMode.values(), FailureMode::configName))
            .means("the decision while Redis is unavailable");

    public static final ConfigKey<List<String>> CLIENT_POLICY = noted(
                    CLIENT + "policy", "required", list("the names of policies; commas separate several"))
            .means("the policies whose permits each call of the REST client spends, in one decision");
    public static final ConfigKey<String> CLIENT_KEY = key(
                    CLIENT + "key",
                    "client",
                    text("client, host, path or the name of a KeyResolver bean; + joins several"))
            .means("the key of outgoing calls, in place of the key of the policy");
    public static final ConfigKey<List<String>> CLIENT_OBEY = key(
                    CLIENT + "obey", "retry-after, ratelimit", someOf("retry-after", "ratelimit"))
            .means(
                    "the answers that the client obeys: a 429 or an error with Retry-After, and the quotas that the upstream reports");
    public static final ConfigKey<Integer> CLIENT_RETRY_BUDGET = key(CLIENT + "retry-budget", "10%", PERCENTAGE)
            .means("the retries that are sent, as a share of the ordinary calls");
    public static final ConfigKey<Duration> CLIENT_MAX_PAUSE = key(CLIENT + "max-pause", "5m", duration("1s", "1d"))
            .means("the longest pause that the upstream can cause");

    public static final ConfigKey<Integer> ENVOY_PORT = key("ratelimit.envoy.port", "8081", number(0, 65_535))
            .means("the TCP port of the server; 0 selects a free one");
    public static final ConfigKey<String> ENVOY_ADDRESS = key(
                    "ratelimit.envoy.address", "127.0.0.1", text("a local address such as 0.0.0.0"))
            .means("the address of the port");
    public static final ConfigKey<String> ENVOY_SOCKET = key(
                    "ratelimit.envoy.socket", text("a path such as /run/weir/envoy.sock"))
            .means("the Unix domain socket of the server, in place of the address and the port");
    public static final ConfigKey<String> ENVOY_CERTIFICATE = key(
                    "ratelimit.envoy.tls.certificate", text("a file such as /etc/weir/tls.crt"))
            .means("the certificate chain of the server in PEM form, which enables TLS");
    public static final ConfigKey<String> ENVOY_KEY = key(
                    "ratelimit.envoy.tls.key", text("a file such as /etc/weir/tls.key"))
            .means("the private key of the certificate in PEM form (PKCS #8)");
    public static final ConfigKey<String> ENVOY_CLIENT_CA = key(
                    "ratelimit.envoy.tls.client-ca", text("a file such as /etc/weir/ca.crt"))
            .means("the authorities of client certificates in PEM form; every client then needs a certificate");
    public static final ConfigKey<List<String>> ENVOY_CONFIG = key(
                    "ratelimit.envoy.config", list("files such as /etc/weir/edge.yaml; commas separate several"))
            .means("configuration files of the rate limit service of Envoy, one per domain");
    public static final ConfigKey<Boolean> ENVOY_ALL_OR_NOTHING = key("ratelimit.envoy.all-or-nothing", "true", FLAG)
            .means("whether the descriptors of a request are one decision; false charges each of them on its own");
    public static final ConfigKey<String> ENVOY_LIMIT_OVERRIDES = key(
                    "ratelimit.envoy.limit-overrides", "ignore", oneOf("ignore", "allow"))
            .means("whether the limit of a descriptor replaces the limits of its policies");
    public static final ConfigKey<String> ENVOY_OVER_LIMIT = key(
                    "ratelimit.envoy.over-limit", "free", oneOf("free", "count"))
            .means("whether a rejected request with a cost above the remaining permits is free, or counts as debt");
    public static final ConfigKey<Boolean> ENVOY_REFLECTION = key("ratelimit.envoy.reflection", "true", FLAG)
            .means("whether the server describes its services, for tools such as grpcurl");
    public static final ConfigKey<Duration> ENVOY_DRAIN = key("ratelimit.envoy.drain", "5s", duration("0s", "1h"))
            .means("the time for which a server that stops still answers, while health checks find it");
    public static final ConfigKey<Duration> ENVOY_STOP_TIMEOUT = key(
                    "ratelimit.envoy.stop-timeout", "5s", duration("0s", "1h"))
            .means("the longest time that calls have to end when the server stops");

    private ConfigKeys() {}

    /** Returns all properties in the order of the reference. */
    public static List<ConfigKey<?>> all() {
        return Collections.unmodifiableList(TABLE);
    }

    /** Lists the properties of the application, whose names are fixed. */
    public static Set<String> ofApplication() {
        return TABLE.stream()
                .filter(key -> !key.isOfPolicy() && !key.isOfClient() && !key.equals(METHOD_COST))
                .map(ConfigKey::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the artifact of the plug-in that reads a property or a family; empty if the core reads it. */
    public static Optional<String> artifact(String name) {
        return ARTIFACTS.entrySet().stream()
                .filter(entry -> name.startsWith(entry.getKey()))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    /** Returns the names of the properties and families that the plug-in of an artifact reads. */
    public static Set<String> ofArtifact(String artifact) {
        return TABLE.stream()
                .map(ConfigKey::name)
                .filter(name -> artifact(name).filter(artifact::equals).isPresent())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Tests whether a policy can have an attribute, which is the part of a name after that of the policy. */
    public static boolean isPolicyAttribute(String attribute) {
        return TABLE.stream()
                .filter(ConfigKey::isOfPolicy)
                .anyMatch(key -> key.attribute().equals(attribute)
                        || key.variable(attribute).isPresent());
    }

    /**
     * Tests whether Kubernetes has set a value: a service {@code ratelimit-envoy} sets {@code RATELIMIT_ENVOY_PORT} in each container to a
     * text such as {@code tcp://10.0.0.1:8081}.
     */
    public static boolean isServiceLink(String value) {
        return value.startsWith("tcp://") || value.startsWith("udp://") || value.startsWith("sctp://");
    }

    /**
     * Returns the variable that sets a property: the name in upper case, with {@code _} in place of each character that is no letter and no
     * digit.
     */
    public static String variable(String property) {
        char[] variable = property.toCharArray();
        for (int i = 0; i < variable.length; i++) {
            char each = variable[i];
            boolean isLower = each >= 'a' && each <= 'z';
            boolean isKept = (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
            variable[i] = isLower ? (char) (each - 'a' + 'A') : isKept ? each : '_';
        }
        return new String(variable);
    }

    /**
     * Tests whether the value of a property is a list, in which commas separate elements. It is false if the table does not have the
     * property.
     */
    static boolean isList(String name) {
        return TABLE.stream().anyMatch(key -> key.form().isList() && key.isNameOf(name));
    }

    private static <T> Draft<T> key(String name, String defaultText, ValueForm<T> form) {
        return new Draft<>(name, Optional.of(form.parse(defaultText)), defaultText, form);
    }

    private static <T> Draft<T> key(String name, ValueForm<T> form) {
        return noted(name, "", form);
    }

    private static <T> Draft<List<T>> emptyList(String name, ValueForm<List<T>> form) {
        return new Draft<>(name, Optional.of(List.of()), "", form);
    }

    /** Starts a property whose default depends on others. */
    private static <T> Draft<T> noted(String name, String defaultText, ValueForm<T> form) {
        return new Draft<>(name, Optional.empty(), defaultText, form);
    }

    /** A property without its meaning, which is not in the table yet. */
    private record Draft<T>(String name, Optional<T> defaultValue, String defaultText, ValueForm<T> form) {
        ConfigKey<T> means(String meaning) {
            ConfigKey<T> key = new ConfigKey<>(name, defaultValue, defaultText, form, meaning);
            TABLE.add(key);
            return key;
        }
    }
}
