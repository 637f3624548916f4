// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

import io.weir.ratelimit.it.prose.Passage.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Checks passages against the rules of plain technical English that a program can check. */
final class Prose {
    static final int MAX_WORDS = 30;

    /** A full stop after an abbreviation ends no sentence. */
    private static final Pattern SENTENCE_END = Pattern.compile(
            "(?<!\\b(?:e\\.g|i\\.e|vs|approx|incl|cf))[.!?][\"')\\]”’]*\\s+(?=[\"'(\\[“‘]*[\\p{Lu}\\d])");

    private static final Pattern END_OF_LINE = Pattern.compile("[.!?:][\"')\\]”’]*$");
    private static final Pattern CLAUSE_AS_SUBJECT =
            Pattern.compile("^[\"'(“]*(?:who|what)(?:ever)?\\b(?!.*\\?[\"')”]*$)", Pattern.CASE_INSENSITIVE);
    private static final Pattern WORD = Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*");

    private Prose() {}

    static List<Finding> findings(List<Passage> passages) {
        List<Finding> findings = new ArrayList<>();
        passages.forEach(passage -> check(passage, findings));
        return findings;
    }

    private static void check(Passage passage, List<Finding> findings) {
        findings.addAll(Vocabulary.findings(passage));
        List<String> sentences = List.of(SENTENCE_END.split(passage.text()));
        for (String sentence : sentences) {
            long words = WORD.matcher(sentence).results().count();
            if (words > MAX_WORDS) {
                findings.add(new Finding(
                        passage.line(),
                        "a sentence of " + words + " words",
                        "split it, at most 25 words are easy to read"));
            }
            if (passage.kind() != Kind.HEADING
                    && CLAUSE_AS_SUBJECT.matcher(sentence).find()) {
                findings.add(new Finding(
                        passage.line(),
                        "a sentence begins with '" + sentence.split("\\W+", 2)[0].toLowerCase(Locale.ROOT) + "'",
                        "begin with the subject, a technical noun"));
            }
        }
        if (passage.kind().isLine() && sentences.size() > 1) {
            findings.add(
                    new Finding(passage.line(), sentences.size() + " sentences on one line", "write one per line"));
        }
        if (passage.kind() == Kind.FOLLOWED_LINE
                && !END_OF_LINE.matcher(passage.text()).find()) {
            findings.add(
                    new Finding(passage.line(), "the sentence continues on the next line", "write it on one line"));
        }
    }
}
