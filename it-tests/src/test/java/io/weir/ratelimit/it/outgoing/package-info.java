// SPDX-License-Identifier: Apache-2.0
/** An application that calls an upstream by REST clients. */
package io.weir.ratelimit.it.outgoing;
