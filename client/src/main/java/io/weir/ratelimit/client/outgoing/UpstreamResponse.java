// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.util.List;
import java.util.function.Function;

/**
 * The response of an upstream.
 *
 * @param status the HTTP status
 * @param fields returns the lines of a header field by its name, in any case
 */
public record UpstreamResponse(int status, Function<String, List<String>> fields) {}
