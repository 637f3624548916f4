// SPDX-License-Identifier: Apache-2.0
/** A test application whose message-driven beans are limited. */
package io.weir.ratelimit.it.messages;
