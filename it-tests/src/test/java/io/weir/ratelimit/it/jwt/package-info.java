// SPDX-License-Identifier: Apache-2.0
/** An application whose callers have a JSON Web Token. Deployed by tests only. */
package io.weir.ratelimit.it.jwt;
