// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

/** The forms in which a refusal can be told, the preferred first. */
enum BodyForm {
    PROBLEM_JSON("application", "problem+json", "") {
        @Override
        String render(Problem problem) {
            return json(problem);
        }
    },
    JSON("application", "json", "") {
        @Override
        String render(Problem problem) {
            return json(problem);
        }
    },
    TEXT("text", "plain", ";charset=UTF-8") {
        @Override
        String render(Problem problem) {
            return problem.message() + problem.help().map(" See "::concat).orElse("") + "\n";
        }
    },
    HTML("text", "html", ";charset=UTF-8") {
        @Override
        String render(Problem problem) {
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

    BodyForm(String type, String subtype, String parameters) {
        this.type = type;
        this.subtype = subtype;
        this.mediaType = type + "/" + subtype + parameters;
    }

    /** The form that a client wants most, of equals the preferred; text if it wants none. */
    static BodyForm wanted(AcceptHeader accept) {
        BodyForm wanted = TEXT;
        int most = 0;
        for (BodyForm form : values()) {
            int quality = accept.quality(form.type, form.subtype);
            if (quality > most) {
                most = quality;
                wanted = form;
            }
        }
        return wanted;
    }

    String mediaType() {
        return mediaType;
    }

    abstract String render(Problem problem);

    private static String json(Problem problem) {
        JsonObject json = new JsonObject()
                .with("type", problem.type())
                .with("title", problem.title())
                .with("status", problem.status())
                .with("detail", problem.detail());
        if (!problem.violated().isEmpty()) {
            json.with("violated-policies", problem.violated());
        }
        json.with("error", problem.error());
        problem.retryAfter().ifPresent(seconds -> json.with("retry_after", seconds));
        json.with("message", problem.message());
        problem.help().ifPresent(help -> json.with("help", help));
        return json.toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
