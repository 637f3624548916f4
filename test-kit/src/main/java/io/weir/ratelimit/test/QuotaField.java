// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A member of the field {@code RateLimit} or {@code RateLimit-Policy}, which are lists of strings with parameters.
 *
 * @param name the name of the limit
 * @param parameters the parameters with their texts
 */
record QuotaField(String name, Map<String, String> parameters) {
    private static final String TEXT = "\"((?:[^\"\\\\]|\\\\.)*)\"";
    private static final Pattern PARAMETER =
            Pattern.compile(";\\s*([a-z*][a-z0-9_.*-]*)(?:=(" + TEXT + "|[^;,\\s]+))?");
    private static final Pattern WINDOW =
            Pattern.compile("[0-9]+(?:ms|s|m|h|d)|minute|hour|day|week|month|quarter|year|concurrent");
    private static final Pattern MEMBER = Pattern.compile(TEXT + "((?:" + PARAMETER.pattern() + ")*)");

    QuotaField {
        parameters = Map.copyOf(parameters);
    }

    /** Parses the members of a field. Text that is not a member is left out. */
    static List<QuotaField> parse(String field) {
        List<QuotaField> members = new ArrayList<>();
        Matcher member = MEMBER.matcher(field);
        while (member.find()) {
            Map<String, String> parameters = new HashMap<>();
            Matcher parameter = PARAMETER.matcher(member.group(2));
            while (parameter.find()) {
                String value = parameter.group(2);
                parameters.put(parameter.group(1), value == null ? "?1" : value);
            }
            members.add(new QuotaField(unescape(member.group(1)), parameters));
        }
        return members;
    }

    private static String unescape(String text) {
        return text.replaceAll("\\\\(.)", "$1");
    }

    /** Tests whether the limit is the one of a policy, or one of several, whose names end with their windows. */
    boolean isOf(String policy) {
        return name.equals(policy)
                || (name.startsWith(policy + "-")
                        && WINDOW.matcher(name.substring(policy.length() + 1)).matches());
    }

    Optional<Long> number(String parameter) {
        return Optional.ofNullable(parameters.get(parameter))
                .filter(text -> text.matches("-?[0-9]{1,15}"))
                .map(Long::valueOf);
    }
}
