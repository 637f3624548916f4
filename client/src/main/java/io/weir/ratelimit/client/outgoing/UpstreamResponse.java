// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import java.util.List;
import java.util.function.Function;

/** The status of an upstream's response, and its fields by name in any case. */
public record UpstreamResponse(int status, Function<String, List<String>> fields) {}
