// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The check of changes before they are made. It adds nothing to the rules of the configuration but the form of a change. */
final class ChangeCheck {
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private final ChangeTarget target;

    ChangeCheck(ChangeTarget target) {
        this.target = target;
    }

    /** Returns the problems of the form of a change. */
    List<ConfigurationProblem> ofForm(ChangeRequest request) {
        List<ConfigurationProblem> found = new ArrayList<>(ofReason(request.reason()));
        request.length()
                .filter(ChangeCheck::isOutOfRange)
                .ifPresent(length -> found.add(MESSAGES.problem(
                        "WEIR-449.length", "length", length.toString(), ChangeRequest.LONGEST.toDays())));
        found.addAll(ofSubject(request.subject()));
        found.addAll(ofAttributes(request));
        return List.copyOf(found);
    }

    /** Returns the problems of a change whose form is valid, at once and at the later ends of other changes. */
    List<ConfigurationProblem> ofChange(ChangeState current, RuntimeChange change) {
        return FollowingStates.problems(target, current, current.with(change), change);
    }

    /** Returns the problems of the other changes without an undone one. */
    List<ConfigurationProblem> ofUndo(ChangeState current, RuntimeChange undo) {
        return FollowingStates.problems(target, current, current.after(undo), undo);
    }

    /** Returns the problems of a reason. */
    static List<ConfigurationProblem> ofReason(String reason) {
        boolean valid = !reason.isBlank()
                && reason.length() <= ChangeBody.MAX_TEXT
                && !UNPRINTABLE.matcher(reason).find();
        return valid ? List.of() : List.of(MESSAGES.problem("WEIR-449.reason", "reason", "", ChangeBody.MAX_TEXT));
    }

    /** Returns a value of the configuration in the form of a value of a change: shortened, with a blank for each unprintable character. */
    static String storable(String value) {
        String printable = UNPRINTABLE.matcher(value).replaceAll(" ");
        return printable.length() > ChangeBody.MAX_VALUE ? printable.substring(0, ChangeBody.MAX_VALUE) : printable;
    }

    private static boolean isOutOfRange(Duration length) {
        return length.toMillis() <= 0 || length.compareTo(ChangeRequest.LONGEST) > 0;
    }

    /** Returns the problem that this instance has no such policy. */
    List<ConfigurationProblem> ofPolicy(String name) {
        return target.names().contains(name) && target.policy(name).isPresent()
                ? List.of()
                : List.of(MESSAGES.problem("WEIR-449.policy", "policy", name, new TreeSet<>(target.names())));
    }

    private List<ConfigurationProblem> ofSubject(RuntimeChange.Subject subject) {
        List<ConfigurationProblem> found = new ArrayList<>(ofPolicy(subject.policy()));
        boolean valid = subject.kind() == Kind.POLICY
                ? subject.storedKey().isEmpty()
                : subject.storedKey()
                        .filter(key -> ChangeBody.STORED_KEY.matcher(key).matches())
                        .isPresent();
        if (!valid) {
            found.add(MESSAGES.problem(subject.kind() == Kind.POLICY ? "WEIR-449.no-key" : "WEIR-449.key", "key", ""));
        }
        return found;
    }

    private static List<ConfigurationProblem> ofAttributes(ChangeRequest request) {
        Kind kind = request.subject().kind();
        Set<String> allowed = kind.attributes();
        List<ConfigurationProblem> found = new ArrayList<>();
        if (request.values().isEmpty() && kind != Kind.BLOCK) {
            found.add(MESSAGES.problem("WEIR-449.empty", "values", "", new TreeSet<>(allowed)));
        }
        for (String attribute : new TreeSet<>(request.values().keySet())) {
            String value = request.values().getOrDefault(attribute, "");
            if (!allowed.contains(attribute)) {
                found.add(MESSAGES.problem("WEIR-449.attribute", "values", attribute, new TreeSet<>(allowed)));
            } else if (value.isBlank()
                    || value.length() > ChangeBody.MAX_VALUE
                    || UNPRINTABLE.matcher(value).find()) {
                found.add(MESSAGES.problem("WEIR-449.value", attribute, "", ChangeBody.MAX_VALUE));
            }
        }
        return found;
    }
}
