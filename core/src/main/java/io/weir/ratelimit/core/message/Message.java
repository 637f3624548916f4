// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.message;

import java.util.List;
import java.util.stream.Collectors;

/** A message with its arguments filled in. */
public record Message(System.Logger.Level level, String text) {
    /**
     * Adds lines below the text.
     *
     * @param lines the lines, which are indented
     */
    public Message withLines(List<String> lines) {
        return new Message(
                level,
                lines.stream()
                        .map(line -> "\n  " + MessageCatalog.inLine(line))
                        .collect(Collectors.joining("", text, "")));
    }

    /** Logs the message. */
    public void log(System.Logger logger) {
        logger.log(level, text);
    }
}
