// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.response.RejectionProblems;

/** The formats for the body of a rejection, in order of preference. */
enum BodyFormat {
    PROBLEM_JSON("application", "problem+json", ""),
    JSON("application", "json", ""),
    TEXT("text", "plain", ";charset=UTF-8") {
        @Override
        String render(RejectionProblems.Problem problem) {
            return problem.message() + problem.help().map(" See "::concat).orElse("") + "\n";
        }
    },
    HTML("text", "html", ";charset=UTF-8") {
        @Override
        String render(RejectionProblems.Problem problem) {
            String title = escaped(problem.title());
            return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title
                    + "</title></head>\n<body><h1>" + title + "</h1>\n<p>" + escaped(problem.message()) + "</p>\n"
                    + problem.help()
                            .map(help -> "<p><a rel=\"help\" href=\"" + escaped(help) + "\">Help</a></p>\n")
                            .orElse("")
                    + "</body></html>\n";
        }
    };

    private final String type;
    private final String subtype;
    private final String mediaType;

    BodyFormat(String type, String subtype, String parameters) {
        this.type = type;
        this.subtype = subtype;
        this.mediaType = type + "/" + subtype + parameters;
    }

    /** Returns the format with the greatest weight; text if the client accepts no format. */
    static BodyFormat acceptedBy(AcceptHeader accept) {
        BodyFormat accepted = TEXT;
        int greatest = 0;
        for (BodyFormat format : values()) {
            int quality = accept.quality(format.type, format.subtype);
            if (quality > greatest) {
                greatest = quality;
                accepted = format;
            }
        }
        return accepted;
    }

    String mediaType() {
        return mediaType;
    }

    String render(RejectionProblems.Problem problem) {
        return problem.json();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
