// SPDX-License-Identifier: Apache-2.0
/** An application for all that a client can see of a limit. Deployed by tests only. */
package io.weir.ratelimit.it.http;
