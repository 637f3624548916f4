// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.EnvironmentCheck;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.PathPattern;
import io.weir.ratelimit.core.policy.PathRule;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The warnings about policies that do not fit the application: they never apply, or all callers share their key. Only what the
 * {@link ApplicationView} knows for certain is a reason for a warning.
 */
public final class ApplicationWarnings {
    /** The methods of RFC 9110 and RFC 5789. */
    private static final Set<String> METHODS =
            Set.of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE");

    private static final Pattern PARAMETER = Pattern.compile("\\{([^{}]+)}");
    private static final String PATH_TERM = "path:";

    private final Map<String, Policy> policies;
    private final List<MethodLimits> endpoints;
    private final ConfigReader reader;
    private final ApplicationView application;
    private final List<MessageCatalog.Message> warnings = new ArrayList<>();

    /** Creates a check; the endpoints are those that are no methods, such as REST clients. */
    public ApplicationWarnings(
            Map<String, Policy> policies,
            List<MethodLimits> endpoints,
            ConfigProperties config,
            ApplicationView application) {
        this.policies = new TreeMap<>(policies);
        this.endpoints = List.copyOf(endpoints);
        this.reader = new ConfigReader(config, new Problems());
        this.application = application;
    }

    public List<MessageCatalog.Message> all(Set<String> environment) {
        for (Policy policy : policies.values()) {
            if (policy.rollout().mode() != Policy.Mode.OFF) {
                PolicyProperties properties = reader.policy(policy.name());
                checkUse(policy, properties);
                policy.pathRule().ifPresent(rule -> {
                    checkPaths(rule, properties);
                    checkMethods(rule, properties);
                });
            }
        }
        checkKeys();
        checkEnvironment(environment);
        return List.copyOf(warnings);
    }

    private void checkUse(Policy policy, PolicyProperties properties) {
        if (policy.pathRule().isPresent()
                || endpoints.stream().anyMatch(endpoint -> endpoint.isUnder(policy.name()))
                || application.policiesOfAnnotations().contains(policy.name())) {
            return;
        }
        String place = properties.place();
        String paths = properties.name(ConfigKeys.PATHS);
        if (application.isUnused(policy.name())) {
            warnings.add(MESSAGES.message("WEIR-226", place, paths));
            return;
        }
        Set<String> forRequests = new TreeSet<>();
        Stream.of(ConfigKeys.NOTIFY_AT, ConfigKeys.PENALTY_AFTER, ConfigKeys.ENFORCE_PERCENT)
                .filter(key -> properties.text(key).isPresent())
                .forEach(key -> forRequests.add(key.attribute()));
        if (!forRequests.isEmpty()) {
            warnings.add(MESSAGES.message("WEIR-226.code", place, forRequests, paths));
        }
    }

    private void checkPaths(PathRule rule, PolicyProperties properties) {
        rule.paths().forEach(path -> checkPath(path, properties.name(ConfigKeys.PATHS)));
        rule.costs().keySet().stream()
                .sorted(Comparator.comparing(PathPattern::toString))
                .forEach(path -> checkPath(path, properties.name(ConfigKeys.PATH_COST.attribute(path.toString()))));
    }

    private void checkPath(PathPattern path, String property) {
        if (!application.canServe(path)) {
            warnings.add(MESSAGES.message("WEIR-225", property, path, application.mappings()));
        }
    }

    private void checkMethods(PathRule rule, PolicyProperties properties) {
        Set<String> known = new TreeSet<>(METHODS);
        application.operations().forEach(operation -> known.add(operation.method()));
        for (String method : new TreeSet<>(rule.methods())) {
            if (!known.contains(method)) {
                warnings.add(MESSAGES.message("WEIR-228", properties.name(ConfigKeys.METHODS), method, known));
            }
        }
    }

    /** Checks the keys of annotated operations. A method that is served on several paths needs the parameter on one of them. */
    private void checkKeys() {
        Map<String, List<ApplicationView.Operation>> byMethod = application.operations().stream()
                .collect(Collectors.groupingBy(
                        operation -> operation.binding().endpoint(), TreeMap::new, Collectors.toList()));
        byMethod.forEach((method, operations) -> operations.get(0).binding().policies().stream()
                .map(Binding.PolicyCost::policy)
                .filter(policy -> operations.stream().noneMatch(operation -> canResolve(policy, operation)))
                .forEach(policy -> warnOfKey(method, policy, operations.get(0))));
    }

    private void warnOfKey(String method, Policy policy, ApplicationView.Operation operation) {
        String missing = missing(policy, parameters(operation)).findFirst().orElseThrow();
        String path = operation.path().isEmpty() ? "/" : operation.path();
        warnings.add(MESSAGES.message("WEIR-229", method, path, missing, policy.key(), policy.name()));
    }

    /** Tests whether an alternative of the key needs no path parameter that the operation does not have. */
    private static boolean canResolve(Policy policy, ApplicationView.Operation operation) {
        List<String> parameters = parameters(operation);
        return policy.key().terms().stream()
                .anyMatch(alternative ->
                        missing(alternative, parameters).findAny().isEmpty());
    }

    private static Stream<String> missing(Policy policy, List<String> parameters) {
        return policy.key().terms().stream().flatMap(alternative -> missing(alternative, parameters));
    }

    private static Stream<String> missing(List<String> terms, List<String> parameters) {
        return terms.stream()
                .filter(term -> term.startsWith(PATH_TERM))
                .map(term -> term.substring(PATH_TERM.length()))
                .filter(name -> !parameters.contains(name));
    }

    private static List<String> parameters(ApplicationView.Operation operation) {
        return PARAMETER
                .matcher(operation.path())
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    private void checkEnvironment(Set<String> environment) {
        Set<String> names = new TreeSet<>(policies.keySet());
        names.addAll(application.policiesOfAnnotations());
        List<String> clients = endpoints.stream()
                .filter(MethodLimits::isClient)
                .map(endpoint -> endpoint.endpoint().substring(MethodLimits.CLIENT.length()))
                .toList();
        EnvironmentCheck check = new EnvironmentCheck(names, application.endpoints(), clients, reader.names());
        // A class that was not found can name a policy that only variables define.
        check.unknown(environment).forEach(variable -> {
            boolean late = application.hidesClasses() && EnvironmentCheck.isOfPolicy(variable);
            warnings.add(check.nearest(variable)
                    .map(meant -> MESSAGES.message(late ? "WEIR-227.policy-meant" : "WEIR-227.meant", variable, meant))
                    .orElseGet(() -> MESSAGES.message(late ? "WEIR-227.policy" : "WEIR-227", variable)));
        });
        new TreeSet<>(environment)
                .stream()
                        .filter(variable -> check.properties(variable).size() > 1)
                        .forEach(variable ->
                                warnings.add(MESSAGES.message("WEIR-017", variable, check.properties(variable))));
    }
}
