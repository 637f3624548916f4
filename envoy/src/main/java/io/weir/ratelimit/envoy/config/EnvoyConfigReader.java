// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Node;

/** A reader of configuration files. All problems of all files are found, each with its line. */
final class EnvoyConfigReader {
    /** The form of a limit by the unit. Units from a minute on begin with the clock, as in the service of Envoy. */
    private static final Map<String, String> UNITS = Map.of(
            "second", "1s",
            "minute", "minute",
            "hour", "hour",
            "day", "day",
            "week", "week",
            "month", "month",
            "year", "year");

    /** The length of a name, without its hash and the sign before it, so that a policy can have the name. */
    private static final int LONGEST_NAME = 119;

    private final List<ConfigurationProblem> problems = new ArrayList<>();
    private final Map<String, RuleTree> domains = new HashMap<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private final Map<String, String> sources = new HashMap<>();
    private final Set<String> policies = new TreeSet<>();

    EnvoyConfig read(List<Path> files) {
        files.forEach(this::read);
        return new EnvoyConfig(domains, properties, sources);
    }

    List<ConfigurationProblem> problems() {
        return List.copyOf(problems);
    }

    private void read(Path file) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        // The size with all aliases is bounded in place of their number.
        strict.setMaxAliasesForCollections(Integer.MAX_VALUE);
        try (Reader reader = Files.newBufferedReader(file)) {
            Node root = new Yaml(new SafeConstructor(strict)).compose(reader);
            if (root == null) {
                problems.add(MESSAGES.problem("WEIR-710.empty", ConfigKeys.ENVOY_CONFIG.name(), file.toString()));
            } else {
                new NodeCount().add(root);
                readDomain(new YamlFields(file, root, problems), file);
            }
        } catch (IOException e) {
            problems.add(MESSAGES.problem("WEIR-701", ConfigKeys.ENVOY_CONFIG.name(), file.toString()));
        } catch (YAMLException e) {
            String reason = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
            problems.add(MESSAGES.problem("WEIR-710", ConfigKeys.ENVOY_CONFIG.name(), file.toString(), reason));
        }
    }

    private void readDomain(YamlFields root, Path file) {
        root.allow("domain", "descriptors");
        Optional<String> domain = root.required("domain");
        RuleTree tree = new RuleTree();
        if (domain.isPresent() && domains.putIfAbsent(domain.get(), tree) != null) {
            root.report("domain", "has the domain " + domain.get() + " of another file");
        }
        if (!root.has("descriptors")) {
            root.report("descriptors", "is required; without limits, write descriptors: []");
        }
        readDescriptors(root, tree, new Level(file, domain.orElse(""), List.of()));
    }

    /** An entry of a descriptor with its place in the file. The values of a shared wildcard are no part of the key. */
    private record Entry(RuleTree.Place place, boolean isShared) {
        private boolean isPartOfKey() {
            return place.value().isEmpty() || (place.isWildcard() && !isShared);
        }
    }

    /** The place of descriptors: the name of the one above them, and its entries from the root. */
    private record Level(Path file, String name, List<Entry> entries) {
        Level below(Entry entry) {
            RuleTree.Place place = entry.place();
            List<Entry> next = new ArrayList<>(entries);
            next.add(entry);
            String part = place.value().isEmpty() ? place.key() : place.key() + "_" + place.value();
            return new Level(file, name + "." + part, next);
        }
    }

    private void readDescriptors(YamlFields parent, RuleTree tree, Level level) {
        for (YamlFields descriptor : parent.list("descriptors")) {
            descriptor.allow(
                    "key",
                    "value",
                    "rate_limit",
                    "descriptors",
                    "shadow_mode",
                    "detailed_metric",
                    "value_to_metric",
                    "share_threshold");
            Optional<String> key = descriptor.required("key");
            RuleTree.Place place =
                    new RuleTree.Place(key.orElse(""), descriptor.text("value").orElse(""));
            RuleTree child = tree.add(place);
            if (child == null) {
                if (key.isPresent()) {
                    descriptor.report("key", "is a descriptor that this level has already");
                }
                child = new RuleTree();
            }
            boolean shared = descriptor.flag("share_threshold");
            if (shared && !place.isWildcard()) {
                descriptor.report("share_threshold", "needs a value with an asterisk");
            }
            Level below = level.below(new Entry(place, shared));
            Optional<YamlFields> limit = descriptor.fields("rate_limit");
            if (limit.isPresent()) {
                child.limit(rule(limit.get(), descriptor, below));
            }
            readDescriptors(descriptor, child, below);
        }
    }

    private Rule rule(YamlFields limit, YamlFields descriptor, Level level) {
        limit.allow("unit", "requests_per_unit", "unlimited", "name", "replaces");
        String name = limit.text("name").orElse("");
        Set<String> replaces = new TreeSet<>();
        for (YamlFields replaced : limit.list("replaces")) {
            replaced.allow("name");
            replaced.required("name").ifPresent(other -> {
                if (other.equals(name)) {
                    replaced.report("name", "is the name of the same descriptor");
                }
                replaces.add(other);
            });
        }
        boolean shadow = descriptor.flag("shadow_mode");
        KeyTermNames terms = terms(level);
        if (limit.flag("unlimited")) {
            if (limit.text("unit").isPresent()) {
                limit.report("unit", "has no effect with unlimited");
            }
            return new Rule(Optional.empty(), name, replaces, Map.of());
        }
        Optional<String> unit = limit.required("unit").map(text -> text.toLowerCase(Locale.ROOT));
        Optional<Long> requests = limit.number("requests_per_unit");
        if (unit.isPresent() && !UNITS.containsKey(unit.get())) {
            limit.report("unit", "must be one of " + new TreeSet<>(UNITS.keySet()));
        }
        String policy = policy(level.name());
        if (!policies.add(policy)) {
            descriptor.report(
                    "key", "leads to the policy " + policy + " of another descriptor; change a key or a value");
        }
        if (unit.isPresent() && requests.isPresent()) {
            put(level, policy, "limit", requests.get() + "/" + UNITS.get(unit.get()));
            put(level, policy, "key", terms.expression());
            if (unit.get().equals("second")) {
                put(level, policy, "algorithm", "fixed-window");
            }
            if (shadow) {
                put(level, policy, "mode", "shadow");
            }
        }
        return new Rule(Optional.of(policy), name, replaces, terms.byPosition());
    }

    private static KeyTermNames terms(Level level) {
        KeyTermNames terms = new KeyTermNames();
        for (int i = 0; i < level.entries().size(); i++) {
            Entry entry = level.entries().get(i);
            if (entry.isPartOfKey()) {
                terms.add(i, entry.place().key());
            }
        }
        return terms;
    }

    /** Returns the name of a policy, which depends on its path only: a new descriptor gives no counters of another one away. */
    private static String policy(String path) {
        String plain = path.replaceAll("[^A-Za-z0-9._-]", "_");
        if (plain.equals(path) && path.length() <= LONGEST_NAME) {
            return path;
        }
        CRC32 hash = new CRC32();
        hash.update(path.getBytes(StandardCharsets.UTF_8));
        return plain.substring(0, Math.min(LONGEST_NAME, plain.length())) + String.format("-%08x", hash.getValue());
    }

    /** Returns with what the names of the properties of a policy begin. */
    static String prefix(String policy) {
        return "ratelimit.policies.\"" + policy + "\".";
    }

    private void put(Level level, String policy, String attribute, String value) {
        String property = prefix(policy) + attribute;
        properties.put(property, value);
        sources.put(property, level.file().toString());
    }
}
