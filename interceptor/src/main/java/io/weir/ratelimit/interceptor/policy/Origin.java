// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

/**
 * Where a value of a policy comes from.
 *
 * @param property the property that sets it or would
 * @param value the value in text
 * @param source the name of the source of configuration, the place of the annotation, such as {@code com.example.Search.find(String)}, or {@value #DEFAULT}
 */
public record Origin(String property, String value, String source) {
    static final String DEFAULT = "default";

    /** Hides what is secret in the name of a source, which can be a URL with a user's password or parameters. */
    public Origin {
        source = source.replaceAll("://\\S*@", "://***@")
                .replaceAll("([?;])\\S*", "$1***")
                .replaceAll("\\p{Cntrl}", " ");
    }
}
