// SPDX-License-Identifier: Apache-2.0
/** An application in which everything that can be configured wrongly is. Deployed by a test only, and never successfully. */
package io.weir.ratelimit.it.wrong;
