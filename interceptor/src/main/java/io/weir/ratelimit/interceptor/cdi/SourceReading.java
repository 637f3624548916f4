// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.ConfigKeys;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * One reading of a configuration source. A source that lists names is asked for these only, and for each of them once, because a source
 * can be a remote store. A source without names is asked once for each name.
 *
 * <p>The first reading asks for each property of the application as well, because it is read once: a source that returns one which it does
 * not list is one without names from then on.
 */
final class SourceReading implements ConfigSource {
    private final ConfigSource source;
    private final Set<String> names;
    private final Set<String> variables = new HashSet<>();
    private final Map<String, Optional<String>> values = new ConcurrentHashMap<>();
    private final int ordinal;

    /** The last reading that was not empty, if the source is empty now. */
    private final @Nullable SourceReading kept;

    /** Whether the source can have properties that it does not list. */
    private boolean asksForAll;

    /** Whether this is the last reading of a source that is empty now. */
    private final boolean isKept;

    private SourceReading(ConfigSource source, @Nullable SourceReading previous, boolean asksForAll) {
        this.source = source;
        this.names = names(source);
        this.ordinal = source.getOrdinal();
        this.kept = previous == null || !names.isEmpty() ? null : previous.toKeep();
        this.asksForAll = kept == null && (asksForAll || names.isEmpty());
        this.isKept = false;
        names.forEach(name -> variables.add(ConfigKeys.variable(name)));
        // Another source can hide a value until this source is empty.
        ownNames().forEach(this::getValue);
        if (previous == null && !this.asksForAll) {
            this.asksForAll = true;
            ConfigKeys.ofApplication().forEach(this::getValue);
            this.asksForAll = isPartial();
        }
    }

    /** A kept reading precedes no other source. */
    private SourceReading(SourceReading kept) {
        this.source = kept.source;
        this.names = kept.names;
        this.variables.addAll(kept.variables);
        this.values.putAll(kept.values);
        this.ordinal = Integer.MIN_VALUE;
        this.kept = null;
        this.asksForAll = false;
        this.isKept = true;
    }

    private static Set<String> names(ConfigSource source) {
        Set<String> names = source.getPropertyNames();
        return names == null ? Set.of() : Set.copyOf(names);
    }

    /** Reads a source for the first time. */
    static SourceReading of(ConfigSource source) {
        return new SourceReading(source, null, false);
    }

    /** Reads the source again; {@code all} asks for names that the source does not list as well. */
    SourceReading next(boolean all) {
        return new SourceReading(source, this, all || isPartial());
    }

    private @Nullable SourceReading toKeep() {
        return kept != null ? kept : ownNames().isEmpty() ? null : new SourceReading(this);
    }

    /** Returns the properties that the empty source had. */
    Optional<SourceReading> kept() {
        return Optional.ofNullable(kept);
    }

    /** Tests whether the source lists no names and never did. */
    boolean isWithoutNames() {
        return names.isEmpty() && kept == null;
    }

    /** Tests whether the source has returned values of this library under names that it does not list. */
    boolean isPartial() {
        return !names.isEmpty()
                && values.entrySet().stream()
                        .anyMatch(value -> value.getValue().isPresent()
                                && value.getKey().contains(MicroProfileProperties.PREFIX)
                                && !isListed(value.getKey()));
    }

    ConfigSource source() {
        return source;
    }

    /** A source can list variables in place of properties, as that of the environment does. */
    private boolean isListed(String name) {
        return names.contains(name) || variables.contains(ConfigKeys.variable(name));
    }

    private Set<String> ownNames() {
        Set<String> own = new HashSet<>(names);
        own.removeIf(name -> !name.startsWith(MicroProfileProperties.PREFIX)
                && !(name.startsWith("%") && name.contains("." + MicroProfileProperties.PREFIX)));
        return own;
    }

    @Override
    public Set<String> getPropertyNames() {
        return names;
    }

    @Override
    public @Nullable String getValue(String name) {
        if (!asksForAll && !isListed(name)) {
            return null;
        }
        Optional<String> value = values.get(name);
        return (value != null ? value : values.computeIfAbsent(name, this::ask)).orElse(null);
    }

    private Optional<String> ask(String name) {
        return isKept ? Optional.empty() : Optional.ofNullable(source.getValue(name));
    }

    @Override
    public String getName() {
        return source.getName();
    }

    @Override
    public int getOrdinal() {
        return ordinal;
    }
}
