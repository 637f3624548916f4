// SPDX-License-Identifier: Apache-2.0
/** The contents of responses that tell callers their quotas: header fields and problems, without an API for responses. */
@NullMarked
package io.weir.ratelimit.core.response;

import org.jspecify.annotations.NullMarked;
