// SPDX-License-Identifier: Apache-2.0
// SPDX-License-Identifier: Apache-2.0
/** Checks of the language of documents and messages. */
package io.weir.ratelimit.it.prose;
