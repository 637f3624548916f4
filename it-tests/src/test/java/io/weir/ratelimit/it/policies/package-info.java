// SPDX-License-Identifier: Apache-2.0
/** An application whose limits are almost all said by configuration: by path, by outcome, by tier, by caller. Deployed by tests only. */
package io.weir.ratelimit.it.policies;
