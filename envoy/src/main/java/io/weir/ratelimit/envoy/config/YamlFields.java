// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/** The fields of an object in a YAML file. A field of another form is a problem, and is not set. */
final class YamlFields {
    private final Path file;
    private final Node node;
    private final List<ConfigurationProblem> problems;
    private final Map<String, Node> fields = new LinkedHashMap<>();

    YamlFields(Path file, Node node, List<ConfigurationProblem> problems) {
        this.file = file;
        this.node = node;
        this.problems = problems;
        if (node instanceof MappingNode mapping) {
            List<Node> merged = new ArrayList<>();
            for (NodeTuple field : mapping.getValue()) {
                if (isMerge(field)) {
                    merged.add(field.getValueNode());
                } else if (field.getKeyNode() instanceof ScalarNode key) {
                    add(key, field.getValueNode());
                }
            }
            merged.forEach(this::merge);
        } else {
            report(node, "", "must have fields");
        }
    }

    private static boolean isMerge(NodeTuple field) {
        return field.getKeyNode().getTag().equals(Tag.MERGE);
    }

    /** Adds the fields of an object, or of several, that are not set yet: own fields precede, and then those of an earlier object. */
    private void merge(Node other) {
        if (other instanceof SequenceNode several) {
            several.getValue().forEach(this::merge);
        } else if (other instanceof MappingNode mapping) {
            for (NodeTuple field : mapping.getValue()) {
                if (!isMerge(field) && field.getKeyNode() instanceof ScalarNode key) {
                    fields.putIfAbsent(key.getValue(), field.getValueNode());
                }
            }
            mapping.getValue().stream().filter(YamlFields::isMerge).forEach(field -> merge(field.getValueNode()));
        } else {
            report(other, "<<", "must be an object or a list of objects");
        }
    }

    private void add(ScalarNode key, Node value) {
        if (fields.containsKey(key.getValue())) {
            report(key, key.getValue(), "is set twice");
        }
        fields.put(key.getValue(), value);
    }

    /** Reports all fields with other names. */
    void allow(String... names) {
        fields.forEach((name, value) -> {
            if (!Arrays.asList(names).contains(name)) {
                problems.add(MESSAGES.problem(
                        "WEIR-711", ConfigKeys.ENVOY_CONFIG.name(), place(value), name, new TreeSet<>(List.of(names))));
            }
        });
    }

    void report(String field, String problem) {
        report(fields.getOrDefault(field, node), field, problem);
    }

    private void report(Node at, String field, String problem) {
        problems.add(MESSAGES.problem("WEIR-712", ConfigKeys.ENVOY_CONFIG.name(), place(at), field, problem));
    }

    private String place(Node at) {
        return file + ":" + (at.getStartMark().getLine() + 1);
    }

    /** Returns the text of a field; empty if it is not set. */
    Optional<String> text(String field) {
        Node value = fields.get(field);
        if (value == null || value.getTag().equals(Tag.NULL)) {
            return Optional.empty();
        }
        if (value instanceof ScalarNode scalar) {
            return Optional.of(scalar.getValue());
        }
        report(field, "must be a text");
        return Optional.empty();
    }

    Optional<String> required(String field) {
        Optional<String> text = text(field).filter(value -> !value.isEmpty());
        if (text.isEmpty() && !(fields.get(field) instanceof SequenceNode)) {
            report(field, "is required");
        }
        return text;
    }

    boolean flag(String field) {
        Optional<String> text = text(field);
        boolean set = text.filter("true"::equals).isPresent();
        if (!set && text.filter(value -> !value.equals("false")).isPresent()) {
            report(field, "must be true or false");
        }
        return set;
    }

    /** Returns an unsigned number of 32 bits, which is required. */
    Optional<Long> number(String field) {
        Optional<Long> number = text(field)
                .filter(text -> text.matches("\\d{1,10}"))
                .map(Long::valueOf)
                .filter(value -> value <= 0xFFFF_FFFFL);
        if (number.isEmpty()) {
            report(field, "is required, as a whole number from 0 to 4294967295");
        }
        return number;
    }

    Optional<YamlFields> fields(String field) {
        Node value = fields.get(field);
        return value == null || value.getTag().equals(Tag.NULL)
                ? Optional.empty()
                : Optional.of(new YamlFields(file, value, problems));
    }

    boolean has(String field) {
        Node value = fields.get(field);
        return value != null && !value.getTag().equals(Tag.NULL);
    }

    List<YamlFields> list(String field) {
        if (!has(field)) {
            return List.of();
        }
        Node value = fields.get(field);
        if (value instanceof SequenceNode sequence) {
            List<YamlFields> elements = new ArrayList<>();
            sequence.getValue().forEach(element -> elements.add(new YamlFields(file, element, problems)));
            return elements;
        }
        report(field, "must be a list");
        return List.of();
    }
}
