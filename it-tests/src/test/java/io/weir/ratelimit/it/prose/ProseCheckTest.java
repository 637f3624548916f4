// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProseCheckTest {
    private static final String THIRTY_WORDS = "word ".repeat(29) + "end";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "The call spends two tokens.",
                "A bucket has a weight.",
                "The rule applies to all callers.",
                "The identity is hashed.",
                "Each check-in counts.",
                "The limiter admits the call.",
                "The call is refused.",
                "A refusal writes nothing.",
                "The filter denies the request.",
                "The receipt gives back permits.",
                "A give-back is asynchronous.",
                "An instance takes the permits.",
                "The store is down.",
                "The in-process store is bounded.",
                "A request joins a flight.",
                "Permits are leased ahead.",
                "The log tells the reason.",
                "The listener hears of it.",
                "The header says 17 seconds.",
                "A caller who waits is counted.",
                "The heavy keys are listed.",
                "The application's own client is used.",
                "The licence is Apache-2.0.",
                "Utilisation is a percentage.",
                "The behaviour is the same."
            })
    void reportsAWordThatTheGlossaryReplaces(String sentence) {
        assertThat(markdown(sentence)).singleElement().satisfies(finding -> {
            assertThat(finding.line()).isEqualTo(1);
            assertThat(finding.in("page.md")).startsWith("page.md:1: '").contains("write ");
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "A token bucket refills continuously.",
                "The request carries a JWT token and a bypass token.",
                "The answer of the language model has 200 model tokens.",
                "The alert rules and the path rule are separate.",
                "A batch is in flight.",
                "A denial of service costs Redis nothing.",
                "Redis stores the state, and both instances store nothing.",
                "A script that stores the time is exact.",
                "The value `refused` and the [page](store.md) are code.",
                "The backend rejects the request and refunds the permits.",
                "The sentence has e.g. Redis in it.",
                "Is the backend down?",
                "What is a permit?"
            })
    void acceptsTermsOfTheFieldAndCode(String sentence) {
        assertThat(markdown(sentence)).isEmpty();
    }

    @Test
    void reportsWordsInHeadingsListsTablesAndLinkTexts() {
        assertThat(markdown("# The store\n\n* A flight.\n\n| head |\n|---|\n| refused |\n\n[admitted](page.md)\n"))
                .extracting(Finding::line)
                .containsExactly(1, 3, 7, 9);
    }

    @Test
    void ignoresCodeBlocksAndComments() {
        assertThat(markdown("```\nthe store. Two sentences. Refused\n```\n<!-- the store\nrefused -->\nText.\n"))
                .isEmpty();
    }

    @Test
    void countsLinesBehindACodeBlockAndAComment() {
        assertThat(markdown("```\ncode\n```\n<!-- a\nb -->\nThe store.\n"))
                .extracting(Finding::line)
                .containsExactly(6);
    }

    @Test
    void reportsASentenceOfMoreThanThirtyWords() {
        assertThat(markdown(THIRTY_WORDS + ".")).isEmpty();
        assertThat(markdown("one " + THIRTY_WORDS + "."))
                .extracting(Finding::problem)
                .containsExactly("a sentence of 31 words");
    }

    @Test
    void countsACodeSpanAndALinkTextAsProse() {
        assertThat(markdown("`a b c d` [word](a/b/c.md) " + "word ".repeat(27) + "end."))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "The first ends. The second begins.",
                "The first ends. `code` begins the second.",
                "* An item. Another sentence.",
                "1. A step. Another sentence.",
                "**A claim.** A reason.",
                "(The first ends.) The second begins.",
                "The limit is 5 ms. 64 callers wait."
            })
    void reportsTwoSentencesOnOneLine(String line) {
        assertThat(markdown(line)).extracting(Finding::problem).containsExactly("2 sentences on one line");
    }

    @Test
    void acceptsTwoSentencesInATableCell() {
        assertThat(markdown("| a | b |\n|---|---|\n| One. Two. | Three |\n")).isEmpty();
        assertThat(markdown("1. A step:\n\n   | a |\n   |---|\n   | One. Two. |\n"))
                .isEmpty();
    }

    @Test
    void reportsASentenceThatContinuesOnTheNextLine() {
        assertThat(markdown("The sentence begins\nand ends here.\n* An item begins\n  and ends.\n"))
                .extracting(Finding::line)
                .containsExactly(1, 3);
        assertThat(markdown("One sentence.\nAnother one:\n* An item without a full stop\n* Another item\n"))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "Who finds a lease empty waits., who",
        "What fails is counted., what",
        "Whoever calls is limited., whoever",
        "Whatever the caller sends is hashed., whatever",
        "| what it costs |, what"
    })
    void reportsAClauseAsTheSubject(String line, String word) {
        assertThat(markdown(line))
                .extracting(Finding::problem)
                .containsExactly("a sentence begins with '" + word + "'");
    }

    @Test
    void checksTheMessagesOfABundle() {
        assertThat(Prose.findings(
                        Texts.MESSAGE_BUNDLE.passages("WEIR-301.text=Backend {0} is unavailable. Set \"$token\".\n")))
                .isEmpty();
        assertThat(Prose.findings(
                        Texts.MESSAGE_BUNDLE.passages("# the store\nWEIR-301.text=The store {0} isn''t there\n")))
                .extracting(Finding::line)
                .containsExactly(2);
    }

    @Test
    void checksTheTextsOfAlertRulesAndOfTheDashboard() {
        assertThat(Prose.findings(
                        Texts.ALERT_RULES.passages("  # the store\n  summary: \"{{ $labels.store }} is refused\"\n")))
                .extracting(Finding::problem)
                .containsExactly("'refused' is not in the glossary");
        assertThat(Prose.findings(Texts.DASHBOARD.passages("  \"title\": \"The store\",\n  \"expr\": \"refused\",\n")))
                .extracting(Finding::line)
                .containsExactly(1);
    }

    private static List<Finding> markdown(String text) {
        return Prose.findings(Markdown.passages(text));
    }
}
