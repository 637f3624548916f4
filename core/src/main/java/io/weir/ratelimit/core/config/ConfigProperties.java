// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The configuration properties of the application. */
public interface ConfigProperties {
    /** The beginning of the source of a value that a runtime change determines. */
    String CHANGE = "runtime change ";

    /** Returns a property, {@link Property#ABSENT} if no source sets it. */
    Property get(String name);

    String source(String name);

    /** Returns the ordinal of the source of a property, which takes precedence over lower ones; 0 if sources have none. */
    default int ordinal(String name) {
        return 0;
    }

    /**
     * Lists the properties that begin with {@code ratelimit.}, without those that only environment variables set:
     * {@code RATELIMIT_POLICIES_A_B_LIMIT} does not determine the name of a property.
     */
    Set<String> names();

    /** Lists the problems of the sources, for example of one whose last properties are in force because it is empty now. */
    default List<ConfigurationProblem> problems() {
        return List.of();
    }

    /** Returns the properties of a source whose format has lists: each list is one property, whose elements commas separate. */
    default ConfigProperties withJoinedLists() {
        return new ListElements(this);
    }

    /** Creates properties from values by name. A value with an expression cannot be read, because nothing resolves it. */
    static ConfigProperties of(Map<String, String> values) {
        Map<String, String> copy = Map.copyOf(values);
        return new ConfigProperties() {
            @Override
            public Property get(String name) {
                String value = copy.get(name);
                return value == null ? Property.ABSENT : Property.literal(value);
            }

            @Override
            public String source(String name) {
                return "map";
            }

            @Override
            public Set<String> names() {
                Set<String> names = new TreeSet<>(copy.keySet());
                names.removeIf(name -> !name.startsWith("ratelimit."));
                return names;
            }
        };
    }

    /**
     * A configuration property. An unreadable value is one that, for example, refers to a property that does not exist.
     *
     * @param value the value with its expressions resolved; empty if the property is not set or not readable
     * @param unset the names in the expressions of an unreadable value that have no value; empty if they are not known
     * @param sources the sources of an unreadable list whose elements several sources set; empty otherwise
     */
    record Property(Optional<String> value, boolean readable, List<String> unset, List<String> sources) {
        private static final Pattern EXPRESSION = Pattern.compile("\\$\\{[^}]*}");

        public static final Property ABSENT = new Property(Optional.empty(), true, List.of(), List.of());

        /** A property whose value cannot be read for an unknown reason. */
        public static final Property UNREADABLE = new Property(Optional.empty(), false, List.of(), List.of());

        public Property {
            unset = List.copyOf(unset);
            sources = List.copyOf(sources);
        }

        public static Property of(String value) {
            return new Property(Optional.of(value), true, List.of(), List.of());
        }

        /**
         * Creates a property of a source without expressions. A value that has one is not readable: its text would be a secret that
         * everybody knows, or an address of nothing.
         */
        public static Property literal(String value) {
            return EXPRESSION.matcher(value).find() ? UNREADABLE : of(value);
        }

        /** Creates an unreadable property, whose expressions name properties without a value; empty if these are not known. */
        public static Property unresolved(List<String> unset) {
            return new Property(Optional.empty(), false, unset, List.of());
        }

        /** Creates a list that cannot be read because its elements come from several sources. */
        public static Property ofSeveralSources(List<String> sources) {
            return new Property(Optional.empty(), false, List.of(), sources);
        }

        /** Returns a text without the value, which can be a secret. */
        @Override
        public String toString() {
            return "ConfigProperty[" + (value.isPresent() ? "***" : readable ? "absent" : "unreadable") + "]";
        }
    }

    /** The sources of the configuration, which are read once at the start and again at each reload. */
    interface Sources extends Supplier<ConfigProperties> {
        /** Masks secrets in the name of a source, which can be a URL with a password or with parameters. */
        static String masked(String source) {
            return source.replaceAll("://\\S*@", "://***@")
                    .replaceAll("([?;])\\S*", "$1***")
                    .replaceAll("\\p{Cntrl}", " ");
        }

        /** Returns the problem of a source that lists no names any more, whose last properties stay in force. */
        static ConfigurationProblem emptied(String source) {
            return MESSAGES.problem("WEIR-324", source, "");
        }

        /** Returns the configuration of the first reading. */
        default ConfigProperties first() {
            return get();
        }

        @Override
        ConfigProperties get();

        /** Returns why the sources themselves cannot be read, empty if they are read. */
        default Optional<String> difference() {
            return Optional.empty();
        }

        /** Returns the sources that list no names of properties. */
        default Set<String> withoutNames() {
            return Set.of();
        }

        /** Returns sources with the same properties at each reading. */
        static Sources of(ConfigProperties properties) {
            return () -> properties;
        }
    }
}
