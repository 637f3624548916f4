// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.prose;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The words that documents and messages avoid because the glossary has another word for the same thing. */
final class Vocabulary {
    /** Phrases of other fields in which an avoided word is the usual term. */
    private static final Pattern ALLOWED = words(
            "token buckets?",
            "(?:JWT|bypass|bearer|access|CSRF|model) tokens?",
            "path rules?",
            "(?:alert|alerting|recording|Prometheus|firewall) rules?",
            "rule (?:files?|groups?)",
            "identity providers?",
            "bills? of materials",
            "billing (?:months?|periods?)",
            "in flight",
            "denial of service",
            "(?:trust|key) stores?");

    private static final List<Avoided> AVOIDED = List.of(
            avoid("'permit' or 'cost'", "tokens?", "weights?", "weighted"),
            avoid("'policy' or 'limit' (a path rule is a 'path rule')", "rules?", "rulebooks?"),
            avoid("'key' or 'stored key'", "identity", "identities", "stored forms?"),
            avoid("'charge'", "check-ins?", "bills?", "billed"),
            avoid("'allow'", "admits?", "admitted", "admitting", "admissions?"),
            avoid("'reject' or 'rejection'", "refus(?:e|es|ed|ing|als?)", "den(?:y|ies|ied|ying|ials?)"),
            avoid(
                    "'refund'",
                    "g(?:ive|ives|iving|iven|ave)[ -]backs?",
                    "(?:hand|hands|handed|handing|put|puts|putting)[ -]back",
                    "t(?:ake|akes|aking|aken|ook) back"),
            avoid("'acquire' or 'spend'", "t(?:ake|akes|aking|aken|ook) (?:\\w+ ){0,2}permits?"),
            avoid(
                    "'backend'",
                    "(?:the|a|an|this|its|each|every|no|another|any|one|both|two|of|without|by|for|from|with|shared|full"
                            + "|in-process|external|rate limit) stores?",
                    "stores?['’]s?",
                    "vaults?"),
            avoid("'batch', 'in flight' or 'request'", "flights?", "passengers?", "aboard", "boarded", "landed"),
            avoid("'lease' or 'in advance'", "ahead"),
            avoid(
                    "'notify', 'report', 'state' or 'document'",
                    "tells?",
                    "told",
                    "telling",
                    "hears?",
                    "heard",
                    "hearing"),
            avoid("'state', 'report' or 'document'", "says?", "said", "saying"),
            avoid("'listener'", "audiences?"),
            avoid("'max-wait'", "patience"),
            avoid(
                    "'that' (callers, clients and requests are not persons)",
                    "(?:callers?|clients?|calls?|requests?|instances?|keys?),? who(?:m|ever)?"),
            avoid("'top keys'", "heavy keys?"),
            avoid("'the application's client'", "own clients?"));

    private static final List<Avoided> BRITISH = List.of(
            avoid("'license'", "licen[c]e(?:s|d)?"),
            avoid(
                    "the American spelling with 'z'",
                    "\\w*(?:util|organ|normal|serial|optim|initial|minim|maxim|synchron|author|summar|custom|recogn|real|general"
                            + "|visual|special|standard|central|prior)is(?:e|es|ed|ing|ation|ations)"),
            avoid("the American spelling with '-or'", "(?:behavi|col|fav|hon|neighb|lab)our(?:s|ed|ing|able|ite)?"),
            avoid(
                    "'center', 'defense', 'analyze', 'gray', 'catalog', 'artifact', 'while', 'labeled' or 'modeled'",
                    "centres?",
                    "defences?",
                    "analys(?:e|es|ed|ing)",
                    "grey",
                    "catalogues?",
                    "artefacts?",
                    "whilst",
                    "(?:label|model|travel)l(?:ed|ing)"));

    private Vocabulary() {}

    /** Returns a finding for each avoided word of the passage. */
    static List<Finding> findings(Passage passage) {
        List<Finding> findings = new ArrayList<>();
        String text = ALLOWED.matcher(passage.text()).replaceAll(Passage.CODE);
        for (Avoided avoided : AVOIDED) {
            avoided.in(text)
                    .forEach(word -> findings.add(new Finding(
                            passage.line(), "'" + word + "' is not in the glossary", "write " + avoided.remedy())));
        }
        for (Avoided british : BRITISH) {
            british.in(text)
                    .forEach(word -> findings.add(new Finding(
                            passage.line(), "'" + word + "' is not American spelling", "write " + british.remedy())));
        }
        return findings;
    }

    private static Avoided avoid(String remedy, String... words) {
        return new Avoided(words(words), remedy);
    }

    private static Pattern words(String... words) {
        return Pattern.compile("(?<![\\w-])(?:" + String.join("|", words) + ")(?![\\w-])", Pattern.CASE_INSENSITIVE);
    }

    private record Avoided(Pattern words, String remedy) {
        List<String> in(String text) {
            return words.matcher(text).results().map(MatchResult::group).toList();
        }
    }
}
