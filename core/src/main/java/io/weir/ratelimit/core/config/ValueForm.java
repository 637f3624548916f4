// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.key.AddressRange;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The form of the values of a property.
 *
 * @param description the allowed values, as they read after "must be"
 * @param parser converts a text without blanks around it, or throws an {@link IllegalArgumentException} with the reason
 */
public record ValueForm<T>(String description, Function<String, T> parser, boolean isList) {
    private static final int LONGEST_URI = 2_000;
    private static final int LONGEST_PATH = 200;
    private static final String WEB_ADDRESS_PATTERN = "https?://[A-Za-z0-9.\\[\\]:-]+([/?][!-~&&[^<>\"\\\\^`{|}]]*)?";

    /** The values {@code true} and {@code false}. */
    static final ValueForm<Boolean> FLAG = of("true or false", text -> switch (text) {
        case "true" -> Optional.of(true);
        case "false" -> Optional.of(false);
        default -> Optional.empty();
    });

    /** Addresses and ranges of addresses. */
    static final ValueForm<List<AddressRange>> ADDRESSES =
            listOf("addresses and ranges such as 10.0.0.0/8, 2001:db8::/32, ::1", AddressRange::parseAll);

    /** Percentages, in ascending order. */
    static final ValueForm<List<Integer>> PERCENTAGES =
            listOf("different percentages from 1% to 100%, such as 80%, 100%", ValueForm::percentages);

    /** A number of rejections in a window. */
    static final ValueForm<Limit> REJECTIONS =
            new ValueForm<>("<rejections>/<duration>, such as 20/1m", ValueForm::rejections);

    /** The length of a penalty. */
    static final ValueForm<Duration> PENALTY = duration("1s", "30d");

    /** How many times longer each further penalty is. */
    static final ValueForm<Integer> FACTOR = number(1, PenaltyRule.MAX_FACTOR);

    /** The deadline, which the backend of Redis reads in the same form. */
    static final ValueForm<Duration> DEADLINE = new ValueForm<>("from 1ms to 60s", text -> {
        Duration deadline = ConfigReader.duration(text);
        if (deadline.isZero() || deadline.compareTo(Duration.ofSeconds(60)) > 0 || !text.matches("\\d{1,5}m?s")) {
            throw new IllegalArgumentException("must be from 1ms to 60s, in ms or s");
        }
        return deadline;
    });

    /** A percentage, as a whole number. */
    static final ValueForm<Integer> PERCENTAGE = of(
            "a percentage from 0% to 100%",
            text -> Optional.of(text)
                    .filter(percentage -> percentage.matches("(?:\\d{1,2}|100)%"))
                    .map(percentage -> Integer.valueOf(percentage.substring(0, percentage.length() - 1))));

    /** A time zone of the IANA database. */
    static final ValueForm<ZoneId> ZONE = of(
            "a time zone such as UTC or Europe/Berlin",
            text -> Optional.of(text)
                    .filter(ZoneId.getAvailableZoneIds()::contains)
                    .map(ZoneId::of));

    /** The name of an HTTP header field. */
    static final ValueForm<String> FIELD_NAME =
            matching("the name of a header field", "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");

    /** The path of one resource, without characters that a URI encodes. */
    static final ValueForm<String> RESOURCE_PATH = of(
            "a path such as /rate-limits, of segments with the characters A-Z a-z 0-9 . _ -",
            text -> Optional.of(text)
                    .filter(path ->
                            path.length() <= LONGEST_PATH && path.matches("(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")));

    /** Header dialects. An IETF draft has its number as a name, and {@code ietf} is the newest one that is supported. */
    static final ValueForm<List<String>> HEADER_DIALECTS =
            withAlias("ietf", "draft-11", someOf("ietf", "draft-11", "draft-06", "legacy"));

    /** HTTP methods. */
    static final ValueForm<List<String>> HTTP_METHODS = of(
                    "HTTP methods in upper case, separated by commas",
                    text -> Optional.of(ConfigReader.list(text))
                            .filter(methods -> !methods.isEmpty()
                                    && methods.stream().allMatch(method -> method.matches("[A-Z][A-Z-]{0,31}"))))
            .asList();

    /** A URI that is safe in a header field. */
    static final ValueForm<String> URI_REFERENCE = of(
            "a URI of printable ASCII",
            text -> Optional.of(text)
                    .filter(uri ->
                            uri.length() <= LONGEST_URI && uri.matches("[!-~]+") && !uri.matches(".*[<>\"\\\\^`{|}].*"))
                    .map(uri -> URI.create(uri).toString()));

    /** An absolute address of the web, which a page can link to. */
    static final ValueForm<String> WEB_ADDRESS = of(
            "an address such as https://grafana.example.org/d/weir",
            text -> Optional.of(text)
                    .filter(address -> address.length() <= LONGEST_URI && address.matches(WEB_ADDRESS_PATTERN)));

    /** Creates a form of single values. */
    ValueForm(String description, Function<String, T> parser) {
        this(description, parser, false);
    }

    /** Creates a form whose description is the reason for every invalid value, for which the parser returns empty. */
    static <T> ValueForm<T> of(String description, Function<String, Optional<T>> parser) {
        return new ValueForm<>(
                description,
                text -> parser.apply(text).orElseThrow(() -> new IllegalArgumentException("must be " + description)));
    }

    /** Creates a form of texts that match a regular expression. */
    static ValueForm<String> matching(String description, String pattern) {
        return of(description, text -> Optional.of(text).filter(given -> given.matches(pattern)));
    }

    /** Creates a form of any text. */
    static ValueForm<String> text(String description) {
        return new ValueForm<>(description, text -> text);
    }

    /** Creates a form of texts that commas separate, which a reader of its own splits. */
    static ValueForm<String> texts(String description) {
        return listOf(description, text -> text);
    }

    /** Creates a form of names that commas separate. */
    static ValueForm<List<String>> list(String description) {
        return listOf(description, ConfigReader::list);
    }

    private static <T> ValueForm<T> listOf(String description, Function<String, T> parser) {
        return new ValueForm<>(description, parser).asList();
    }

    /** Returns this form for lists. Some sources write a list of their format as one text in brackets, which is no list here. */
    private ValueForm<T> asList() {
        return new ValueForm<>(
                description,
                text -> {
                    if (text.startsWith("[") && text.endsWith("]")) {
                        throw new IllegalArgumentException(
                                "is a list in brackets; write its elements without brackets and quotes, separated by commas");
                    }
                    return parser.apply(text);
                },
                true);
    }

    /** Creates a form of names that commas separate, or {@code none}. */
    static ValueForm<List<String>> namesOrNone(String description) {
        return listOf(description, text -> text.strip().equals("none") ? List.of() : ConfigReader.list(text));
    }

    static ValueForm<Integer> number(int minimum, int maximum) {
        return of(
                "a whole number from " + minimum + " to " + maximum,
                text -> wholeNumber(text, 9, minimum, maximum).map(Math::toIntExact));
    }

    /** Creates a form of whole numbers, or {@code auto}, which is empty. */
    static ValueForm<OptionalInt> numberOrAuto(int minimum, int maximum) {
        return of(
                "auto, or a whole number from " + minimum + " to " + maximum,
                text -> text.equals("auto")
                        ? Optional.of(OptionalInt.empty())
                        : wholeNumber(text, 9, minimum, maximum)
                                .map(number -> OptionalInt.of(Math.toIntExact(number))));
    }

    private static Optional<Long> wholeNumber(String text, int digits, long minimum, long maximum) {
        return Optional.of(text)
                .filter(given -> given.matches("\\d{1," + digits + "}"))
                .map(Long::valueOf)
                .filter(number -> number >= minimum && number <= maximum);
    }

    static ValueForm<Long> permits(long minimum) {
        return of(
                "a whole number from " + minimum + " to " + Limit.MAX_PERMITS,
                text -> wholeNumber(text, 15, minimum, Limit.MAX_PERMITS));
    }

    static ValueForm<Duration> duration(String minimum, String maximum) {
        return durations("from " + minimum + " to " + maximum, isWithin(minimum, maximum));
    }

    static ValueForm<Duration> durationOrZero(String minimum, String maximum) {
        return durations(
                "from " + minimum + " to " + maximum + ", or 0s for never",
                isWithin(minimum, maximum).or(Duration::isZero));
    }

    private static ValueForm<Duration> durations(String description, Predicate<Duration> isAllowed) {
        return of(description, text -> Optional.of(ConfigReader.duration(text)).filter(isAllowed));
    }

    private static Predicate<Duration> isWithin(String minimum, String maximum) {
        Duration least = ConfigReader.duration(minimum);
        Duration most = ConfigReader.duration(maximum);
        return duration -> duration.compareTo(least) >= 0 && duration.compareTo(most) <= 0;
    }

    static ValueForm<String> oneOf(String... names) {
        return oneOf(names, name -> name);
    }

    static <T> ValueForm<T> oneOf(T[] values, Function<T, String> name) {
        return of(
                "one of " + Arrays.stream(values).map(name).collect(Collectors.joining(", ")),
                text -> Arrays.stream(values)
                        .filter(value -> name.apply(value).equals(text) || isReadAs(text, name.apply(value)))
                        .findFirst());
    }

    /** Tests whether YAML 1.1 reads a literal without quotes as a truth value, which is what its source then has. */
    private static boolean isReadAs(String text, String literal) {
        return switch (literal) {
            case "off", "no" -> text.equals("false");
            case "on", "yes" -> text.equals("true");
            default -> false;
        };
    }

    /** Creates a form of lists of some names, or {@code none}. */
    static ValueForm<List<String>> someOf(String... names) {
        return of("none, or some of " + String.join(", ", names), text -> {
                    List<String> given = Arrays.stream(text.split(","))
                            .map(String::strip)
                            .distinct()
                            .toList();
                    return given.equals(List.of("none"))
                            ? Optional.of(List.of())
                            : Optional.of(given)
                                    .filter(each ->
                                            !each.isEmpty() && List.of(names).containsAll(each));
                })
                .asList();
    }

    private static ValueForm<List<String>> withAlias(String alias, String name, ValueForm<List<String>> names) {
        return new ValueForm<>(
                names.description,
                text -> names.parse(text).stream()
                        .map(given -> given.equals(alias) ? name : given)
                        .distinct()
                        .toList(),
                names.isList);
    }

    /**
     * Converts a text without blanks around it.
     *
     * @throws IllegalArgumentException with the reason if the text has another form
     */
    public T parse(String text) {
        return parser.apply(text);
    }

    private static Limit rejections(String text) {
        String[] sides = text.split("/", -1);
        long rejections = Optional.of(sides[0].strip())
                .filter(any -> sides.length == 2)
                .flatMap(number -> wholeNumber(number, 10, 1, PenaltyRule.MAX_REJECTIONS))
                .orElseThrow(() -> new IllegalArgumentException(
                        "must be <rejections>/<duration> with 1 to " + PenaltyRule.MAX_REJECTIONS + " rejections"));
        return Limit.of(Algorithm.FIXED_WINDOW, rejections, ConfigReader.duration(sides[1].strip()));
    }

    private static List<Integer> percentages(String text) {
        SortedSet<Integer> percentages = new TreeSet<>();
        for (String element : ConfigReader.list(text)) {
            if (!element.matches("(?:[1-9]\\d?|100)%")) {
                throw new IllegalArgumentException("\"" + element + "\" is not a percentage from 1% to 100%");
            }
            if (!percentages.add(Integer.valueOf(element.substring(0, element.length() - 1)))) {
                throw new IllegalArgumentException("has " + element + " twice");
            }
        }
        return List.copyOf(percentages);
    }
}
