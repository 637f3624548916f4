// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * The properties of an application, for editors: tools for MicroProfile find the annotations in the jars of an application. Nothing reads
 * the values. A test writes the fields from {@link io.weir.ratelimit.core.config.ConfigKeys}.
 */
@SuppressWarnings("unused")
interface EditorProperties {
    /** False allows every call and counts nothing. Value: true or false. */
    @ConfigProperty(name = "ratelimit.enabled", defaultValue = "true")
    boolean ENABLED = true;

    /** The backend; auto uses Redis if it is configured, otherwise the local backend. Value: auto, local, redisson or the name of another backend. */
    @ConfigProperty(name = "ratelimit.backend", defaultValue = "auto")
    String BACKEND = "auto";

    /** Separates applications that share a Redis. Value: 1 to 64 of the characters A-Z a-z 0-9 . _ -. */
    @ConfigProperty(name = "ratelimit.namespace", defaultValue = "default")
    String NAMESPACE = "default";

    /** The address of Redis; several addresses are nodes of a cluster. Value: redis://host:6379 or rediss://user:password@host:6379/0; commas separate several. */
    @ConfigProperty(name = "ratelimit.redis.address")
    String REDIS_ADDRESS = "";

    /** A Redisson YAML file in place of the address. Value: a file or a resource, such as /etc/redisson.yaml or classpath:redisson.yaml. */
    @ConfigProperty(name = "ratelimit.redis.config")
    String REDIS_CONFIG = "";

    /** The longest time that a decision waits for Redis. Value: from 1ms to 60s. */
    @ConfigProperty(name = "ratelimit.redis.deadline", defaultValue = "100ms")
    String REDIS_DEADLINE = "100ms";

    /** The secret of the hashes (HMAC-SHA-256) that replace all values in stored keys, the same on all instances. Value: 16 characters or more. */
    @ConfigProperty(name = "ratelimit.key-secret")
    String KEY_SECRET = "";

    /** Whether the server for Envoy adds receipts to requests, and applications accept them; it needs ratelimit.key-secret. Value: true or false. */
    @ConfigProperty(name = "ratelimit.receipts", defaultValue = "false")
    boolean RECEIPTS = false;

    /** The number of leading bits of an IPv4 address that share a key. Value: a whole number from 1 to 32. */
    @ConfigProperty(name = "ratelimit.ipv4-prefix", defaultValue = "32")
    long IPV4_PREFIX = 32;

    /** The number of leading bits of an IPv6 address that share a key. Value: a whole number from 1 to 128. */
    @ConfigProperty(name = "ratelimit.ipv6-prefix", defaultValue = "64")
    long IPV6_PREFIX = 64;

    /** The proxies whose header determines the client address. Value: addresses and ranges such as 10.0.0.0/8, 2001:db8::/32, ::1. */
    @ConfigProperty(name = "ratelimit.trusted-proxies")
    String TRUSTED_PROXIES = "";

    /** The only header of the trusted proxies that is read. Value: one of x-forwarded-for, forwarded. */
    @ConfigProperty(name = "ratelimit.forwarded-header", defaultValue = "x-forwarded-for")
    String FORWARDED_HEADER = "x-forwarded-for";

    /** The header dialects of responses. Value: none, or some of ietf, draft-11, draft-06, legacy. */
    @ConfigProperty(name = "ratelimit.headers", defaultValue = "ietf, legacy")
    String HEADERS = "ietf, legacy";

    /** The number of keys that are kept in process. Value: a whole number from 1 to 100000000. */
    @ConfigProperty(name = "ratelimit.local.max-keys", defaultValue = "100000")
    long LOCAL_MAX_KEYS = 100000;

    /** The destination of metrics. Value: one of auto, mp, otel, none. */
    @ConfigProperty(name = "ratelimit.metrics", defaultValue = "auto")
    String METRICS = "auto";

    /** The interval of reloads, and the lifetime of cached limits of single keys. Value: from 1s to 1h, or 0s for never. */
    @ConfigProperty(name = "ratelimit.reload-interval", defaultValue = "5s")
    String RELOAD_INTERVAL = "5s";

    /** The number of instances, which on-failure=local, on-failure=sample and the budgets of retries use; auto learns it in Redis. Value: auto, or a whole number from 1 to 10000. */
    @ConfigProperty(name = "ratelimit.instances", defaultValue = "auto")
    String INSTANCES = "auto";

    /** Whether an instance without its backend is not ready. Value: true or false. */
    @ConfigProperty(name = "ratelimit.health.fail-when-degraded", defaultValue = "false")
    boolean HEALTH_FAIL_WHEN_DEGRADED = false;

    /** Enables the console. Value: true or false. */
    @ConfigProperty(name = "ratelimit.console.enabled", defaultValue = "false")
    boolean CONSOLE_ENABLED = false;

    /** The role that the users of the console need. Value: the name of a role. */
    @ConfigProperty(name = "ratelimit.console.role")
    String CONSOLE_ROLE = "";

    /** Opens the console to everyone, including the reset and the block of keys; only for demonstrations. Value: true or false. */
    @ConfigProperty(name = "ratelimit.console.open", defaultValue = "false")
    boolean CONSOLE_OPEN = false;

    /** The address of dashboards, to which the console links. Value: an address such as https://grafana.example.org/d/weir. */
    @ConfigProperty(name = "ratelimit.console.grafana")
    String CONSOLE_GRAFANA = "";

    /** Enables runtime changes, which operators make and all instances apply. Value: true or false. */
    @ConfigProperty(name = "ratelimit.changes.enabled", defaultValue = "false")
    boolean CHANGES_ENABLED = false;

    /** The role that makes runtime changes; required if they are enabled. Value: the name of a role. */
    @ConfigProperty(name = "ratelimit.changes.role")
    String CHANGES_ROLE = "";

    /** The path of the quota resource below the context root; it is disabled if the property is not set. Value: a path such as /rate-limits, of segments with the characters A-Z a-z 0-9 . _ -. */
    @ConfigProperty(name = "ratelimit.quota.path")
    String QUOTA_PATH = "";

    /** SHA-256 digests of bypass tokens; a request with a bypass token is not limited. Value: 64 hexadecimal digits; commas separate several. */
    @ConfigProperty(name = "ratelimit.bypass.tokens")
    String BYPASS_TOKENS = "";

    /** The header with the bypass token. Value: the name of a header field. */
    @ConfigProperty(name = "ratelimit.bypass.header", defaultValue = "X-RateLimit-Bypass")
    String BYPASS_HEADER = "X-RateLimit-Bypass";

    /** The clients that are not limited, by their address behind trusted proxies. Value: addresses and ranges such as 10.0.0.0/8, 2001:db8::/32, ::1. */
    @ConfigProperty(name = "ratelimit.bypass.addresses")
    String BYPASS_ADDRESSES = "";

    /** The roles whose users are not limited. Value: the names of roles; commas separate several. */
    @ConfigProperty(name = "ratelimit.bypass.roles")
    String BYPASS_ROLES = "";

    /** The policies with paths that only environment variables or sources without names configure. Value: none, or the names of policies; commas separate several. */
    @ConfigProperty(name = "ratelimit.path-policies")
    String PATH_POLICIES = "";

    /** The REST clients that only environment variables or sources without names configure. Value: none, or the names of clients; commas separate several. */
    @ConfigProperty(name = "ratelimit.client-names")
    String CLIENT_NAMES = "";

    /** The permits that a call of the method spends under each policy of its annotations. Value: a whole number from 1 to 281474976710654. */
    @ConfigProperty(name = "ratelimit.costs.{*}")
    long COSTS_CLASS_METHOD = 0;

    /** The limits of the policy. Value: &lt;permits&gt;/&lt;duration&gt;, such as 100/1m, or &lt;permits&gt;/&lt;unit&gt;, such as 10000/month; 0 to 281474976710654 permits (10000 for sliding-log) in 1ms to 366d; commas separate several. */
    @ConfigProperty(name = "ratelimit.policies.{*}.limit")
    String POLICIES_P_LIMIT = "";

    /** The algorithm of the limits. Value: one of fixed-window, sliding-window, sliding-log, token-bucket, leaky-bucket. */
    @ConfigProperty(name = "ratelimit.policies.{*}.algorithm", defaultValue = "sliding-window")
    String POLICIES_P_ALGORITHM = "sliding-window";

    /** The time zone of limits by the calendar. Value: a time zone such as UTC or Europe/Berlin. */
    @ConfigProperty(name = "ratelimit.policies.{*}.zone", defaultValue = "UTC")
    String POLICIES_P_ZONE = "UTC";

    /** The day of the month on which a month, quarter or year of a limit begins; in a shorter month its last day. Value: a whole number from 1 to 31. */
    @ConfigProperty(name = "ratelimit.policies.{*}.anchor", defaultValue = "1")
    long POLICIES_P_ANCHOR = 1;

    /** The calls of one key that may run at once on all instances; with limit or alone. Value: a whole number from 0 to 3000. */
    @ConfigProperty(name = "ratelimit.policies.{*}.concurrency")
    long POLICIES_P_CONCURRENCY = 0;

    /** The time after which the slots of an instance that has died are free; running calls renew their slots. Value: from 1s to 1d. */
    @ConfigProperty(name = "ratelimit.policies.{*}.concurrency-timeout", defaultValue = "60s")
    String POLICIES_P_CONCURRENCY_TIMEOUT = "60s";

    /** The capacity of the bucket. Value: a whole number from 1 to 281474976710654. */
    @ConfigProperty(name = "ratelimit.policies.{*}.burst")
    long POLICIES_P_BURST = 0;

    /** The key; all calls with one key share the limits. Value: a key expression. */
    @ConfigProperty(name = "ratelimit.policies.{*}.key", defaultValue = "principal | ip")
    String POLICIES_P_KEY = "principal | ip";

    /** The permits that a call spends if neither ratelimit.costs nor the annotation has a cost. Value: a whole number from 1 to 281474976710654. */
    @ConfigProperty(name = "ratelimit.policies.{*}.cost", defaultValue = "1")
    long POLICIES_P_COST = 1;

    /** The longest time that a call waits for permits before it is rejected. Value: from 0s to 1h. */
    @ConfigProperty(name = "ratelimit.policies.{*}.max-wait", defaultValue = "0s")
    String POLICIES_P_MAX_WAIT = "0s";

    /** The number of calls under the policy that hold a thread of this process while they wait. Value: a whole number from 1 to 10000. */
    @ConfigProperty(name = "ratelimit.policies.{*}.max-waiting", defaultValue = "2")
    long POLICIES_P_MAX_WAITING = 2;

    /** The permits that an instance may lease for a busy key and spend from memory. Value: a whole number from 0 to 1000000. */
    @ConfigProperty(name = "ratelimit.policies.{*}.lease", defaultValue = "0")
    long POLICIES_P_LEASE = 0;

    /** The tier of a caller, for example claim:plan. Value: key terms joined with |, or the name of a TierResolver bean. */
    @ConfigProperty(name = "ratelimit.policies.{*}.tier")
    String POLICIES_P_TIER = "";

    /** The limits of the tier. Value: as limit; a tier name has 1 to 64 of the characters A-Z a-z 0-9 _ -. */
    @ConfigProperty(name = "ratelimit.policies.{*}.tiers.{*}.limit")
    String POLICIES_P_TIERS_T_LIMIT = "";

    /** The capacity of the bucket of the tier. Value: a whole number from 1 to 281474976710654. */
    @ConfigProperty(name = "ratelimit.policies.{*}.tiers.{*}.burst")
    long POLICIES_P_TIERS_T_BURST = 0;

    /** The calls of one key of the tier that may run at once. Value: a whole number from 0 to 3000. */
    @ConfigProperty(name = "ratelimit.policies.{*}.tiers.{*}.concurrency")
    long POLICIES_P_TIERS_T_CONCURRENCY = 0;

    /** Shadow decides, counts and reports, but never rejects; off disables the policy. Value: one of enforce, shadow, off. */
    @ConfigProperty(name = "ratelimit.policies.{*}.mode", defaultValue = "enforce")
    String POLICIES_P_MODE = "enforce";

    /** The share of the keys, in percent, for which a policy in shadow mode rejects calls. Value: a whole number from 0 to 100. */
    @ConfigProperty(name = "ratelimit.policies.{*}.enforce-percent", defaultValue = "0")
    long POLICIES_P_ENFORCE_PERCENT = 0;

    /** The calls that stay charged, by their outcome. Value: one of always, success, failure. */
    @ConfigProperty(name = "ratelimit.policies.{*}.count", defaultValue = "always")
    String POLICIES_P_COUNT = "always";

    /** Minimal omits policies and quotas in all responses to requests under the policy. Value: one of full, minimal. */
    @ConfigProperty(name = "ratelimit.policies.{*}.disclosure", defaultValue = "full")
    String POLICIES_P_DISCLOSURE = "full";

    /** A page about the limit for clients. Value: a URI of printable ASCII. */
    @ConfigProperty(name = "ratelimit.policies.{*}.help")
    String POLICIES_P_HELP = "";

    /** The used shares of each limit at which an event is fired once per key and period. Value: different percentages from 1% to 100%, such as 80%, 100%. */
    @ConfigProperty(name = "ratelimit.policies.{*}.notify-at")
    String POLICIES_P_NOTIFY_AT = "";

    /** The rejections of a key within a time that lead to a penalty: the key is blocked. Value: &lt;rejections&gt;/&lt;duration&gt;, such as 20/1m. */
    @ConfigProperty(name = "ratelimit.policies.{*}.penalty.after")
    String POLICIES_P_PENALTY_AFTER = "";

    /** The length of the first block of a key. Value: from 1s to 30d. */
    @ConfigProperty(name = "ratelimit.policies.{*}.penalty.for")
    String POLICIES_P_PENALTY_FOR = "";

    /** How many times longer each further block of the key is. Value: a whole number from 1 to 100. */
    @ConfigProperty(name = "ratelimit.policies.{*}.penalty.factor")
    long POLICIES_P_PENALTY_FACTOR = 0;

    /** The longest block, and the time without a block after which the penalties of a key are forgotten. Value: from 1s to 30d. */
    @ConfigProperty(name = "ratelimit.policies.{*}.penalty.max")
    String POLICIES_P_PENALTY_MAX = "";

    /** The requests under the policy without an annotation. Value: default, or paths such as /api/search, /api/orgs/{org}, /api/admin/*. */
    @ConfigProperty(name = "ratelimit.policies.{*}.paths")
    String POLICIES_P_PATHS = "";

    /** The HTTP methods of these requests; GET includes HEAD. Value: HTTP methods in upper case, separated by commas. */
    @ConfigProperty(name = "ratelimit.policies.{*}.methods")
    String POLICIES_P_METHODS = "";

    /** The permits that a request of the path spends under the policy; 0 is free. Value: a whole number from 0 to 281474976710654. */
    @ConfigProperty(name = "ratelimit.policies.{*}.costs.{*}")
    long POLICIES_P_COSTS_PATH = 0;

    /** Early decides before the request is matched and authenticated. Value: one of normal, early. */
    @ConfigProperty(name = "ratelimit.policies.{*}.phase", defaultValue = "normal")
    String POLICIES_P_PHASE = "normal";

    /** The decision while Redis is unavailable. Value: one of open, closed, local, sample. */
    @ConfigProperty(name = "ratelimit.policies.{*}.on-failure", defaultValue = "open")
    String POLICIES_P_ON_FAILURE = "open";

    /** The policies whose permits each call of the REST client spends, in one decision. Value: the names of policies; commas separate several. */
    @ConfigProperty(name = "ratelimit.clients.{*}.policy")
    String CLIENTS_C_POLICY = "";

    /** The key of outgoing calls, in place of the key of the policy. Value: client, host, path or the name of a KeyResolver bean; + joins several. */
    @ConfigProperty(name = "ratelimit.clients.{*}.key", defaultValue = "client")
    String CLIENTS_C_KEY = "client";

    /** The answers that the client obeys: a 429 or an error with Retry-After, and the quotas that the upstream reports. Value: none, or some of retry-after, ratelimit. */
    @ConfigProperty(name = "ratelimit.clients.{*}.obey", defaultValue = "retry-after, ratelimit")
    String CLIENTS_C_OBEY = "retry-after, ratelimit";

    /** The retries that are sent, as a share of the ordinary calls. Value: a percentage from 0% to 100%. */
    @ConfigProperty(name = "ratelimit.clients.{*}.retry-budget", defaultValue = "10%")
    String CLIENTS_C_RETRY_BUDGET = "10%";

    /** The longest pause that the upstream can cause. Value: from 1s to 1d. */
    @ConfigProperty(name = "ratelimit.clients.{*}.max-pause", defaultValue = "5m")
    String CLIENTS_C_MAX_PAUSE = "5m";
}
