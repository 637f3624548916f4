// SPDX-License-Identifier: Apache-2.0
/** An application with one resource or bean for each way in which a limit can be put on something. Deployed by tests only. */
package io.weir.ratelimit.it.app;
