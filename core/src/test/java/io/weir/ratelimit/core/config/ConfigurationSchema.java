// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The JSON schema of YAML files with the properties of a table. A text may always contain an expression, whose value is not known. */
final class ConfigurationSchema {
    private static final String EXPRESSION = "\\$\\{";
    private static final String DURATION = "\\d+(?:ms|s|m|h|d)";
    private static final String LIMIT = "\\s*\\d+\\s*/\\s*\\w+\\s*";

    /** Any text, which YAML can read as a number or a truth value. */
    private static final Map<String, Object> SCALAR = Map.of("type", List.of("string", "number", "boolean"));

    private static final Pattern RANGE = Pattern.compile("(auto, or )?a whole number from (\\d+) to (\\d+)");

    /** The parts of a name, which dots separate outside of quotes. */
    private static final Pattern DOT = Pattern.compile("\\.(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)");

    /** The members of an object by name, and the form of members with any name. */
    private static final class Node {
        private final Map<String, Node> members = new LinkedHashMap<>();
        private final @Nullable ConfigKey<?> key;
        private String names = "";
        private @Nullable Node named;

        private Node(@Nullable ConfigKey<?> key) {
            this.key = key;
        }

        private void add(List<String> path, ConfigKey<?> property) {
            String name = path.get(0);
            Node next;
            if (name.startsWith("<") || name.startsWith("\"")) {
                names = name;
                named = named == null ? new Node(path.size() == 1 ? property : null) : named;
                next = named;
            } else {
                next = members.computeIfAbsent(name, added -> new Node(path.size() == 1 ? property : null));
            }
            if (path.size() > 1) {
                next.add(path.subList(1, path.size()), property);
            }
        }

        private Map<String, Object> schema() {
            if (key != null) {
                return value(key);
            }
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("type", "object");
            Map<String, Object> properties = new LinkedHashMap<>();
            members.forEach((name, member) -> properties.put(name, member.schema()));
            if (!properties.isEmpty()) {
                schema.put("properties", properties);
            }
            boolean isRestricted = names.equals("<t>") || names.equals("<c>");
            if (named != null && isRestricted) {
                schema.put("patternProperties", Map.of("^[A-Za-z0-9_-]{1,64}$", named.schema()));
            }
            schema.put("additionalProperties", named == null || isRestricted ? (Object) false : named.schema());
            return schema;
        }
    }

    private ConfigurationSchema() {}

    /** Returns the schema of a file. Its other members, such as those of other libraries, are not restricted. */
    static Map<String, Object> of(List<ConfigKey<?>> table) {
        Node root = new Node(null);
        table.forEach(key -> root.add(Arrays.asList(DOT.split(key.name())), key));
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("$schema", "http://json-schema.org/draft-07/schema#");
        schema.put("title", "The configuration of Weir in YAML");
        schema.put("type", "object");
        Map<String, Object> properties = new LinkedHashMap<>();
        root.members.forEach((name, member) -> properties.put(name, member.schema()));
        schema.put("properties", properties);
        // A profile of MicroProfile Config, such as "%test".
        schema.put("patternProperties", Map.of("^%", Map.of("$ref", "#")));
        return schema;
    }

    private static Map<String, Object> value(ConfigKey<?> key) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("description", description(key));
        if (key.defaultValue().isPresent() && !key.defaultText().isEmpty()) {
            schema.put("default", literal(key.defaultText()));
        }
        schema.put("anyOf", forms(key.form()));
        return schema;
    }

    private static Object literal(String text) {
        return text.equals("true") || text.equals("false")
                ? Boolean.valueOf(text)
                : text.matches("\\d+") ? (Object) Long.valueOf(text) : text;
    }

    /** Describes a property by its meaning and its form. */
    static String description(ConfigKey<?> key) {
        Optional<String> artifact = ConfigKeys.artifact(key.name());
        String meaning = key.meaning().substring(0, 1).toUpperCase(Locale.ROOT)
                + key.meaning().substring(1);
        return meaning + ". Value: " + key.form().description() + "."
                + artifact.map(name -> " Needs " + name + ".").orElse("");
    }

    private static List<Object> forms(ValueForm<?> form) {
        String description = form.description();
        if (description.equals(ValueForm.FLAG.description())) {
            return List.of(Map.of("type", "boolean"), text("true|false"));
        }
        Matcher range = RANGE.matcher(description);
        if (range.matches()) {
            Map<String, Object> number = new LinkedHashMap<>();
            number.put("type", "integer");
            number.put("minimum", Long.valueOf(range.group(2)));
            number.put("maximum", Long.valueOf(range.group(3)));
            return List.of(number, text(range.group(1) == null ? "\\d+" : "auto|\\d+"));
        }
        if (description.startsWith("one of ")) {
            List<Object> constants = new ArrayList<>(names(description, "one of "));
            if (constants.contains("off")) {
                constants.add(false);
            }
            return List.of(Map.of("enum", constants), Map.of("type", "string", "pattern", EXPRESSION));
        }
        if (description.startsWith("none, or some of ")) {
            return list("(?:none|" + String.join("|", names(description, "none, or some of ")) + ")");
        }
        if (description.startsWith("<permits>/") || description.startsWith("as limit")) {
            return list(LIMIT);
        }
        if (description.startsWith("different percentages")) {
            return list("\\d+%");
        }
        if (description.matches("from \\d+(ms|s).*")) {
            return List.of(text(DURATION));
        }
        return form.isList() ? list(".*") : List.of(SCALAR);
    }

    private static List<String> names(String description, String start) {
        return List.of(description.substring(start.length()).split(", "));
    }

    /** Returns the forms of a list: a text with commas, or elements. */
    private static List<Object> list(String element) {
        boolean isAny = element.equals(".*");
        Map<String, Object> elements = new LinkedHashMap<>();
        elements.put("type", "array");
        elements.put("items", isAny ? SCALAR : text(element));
        return List.of(isAny ? SCALAR : text(element + "(?:\\s*,\\s*" + element + ")*"), elements);
    }

    private static Map<String, Object> text(String pattern) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "string");
        schema.put("pattern", "^(?:" + pattern + ")$|" + EXPRESSION);
        return schema;
    }
}
