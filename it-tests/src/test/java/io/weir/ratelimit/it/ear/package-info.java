// SPDX-License-Identifier: Apache-2.0
/** The application of both WARs of an EAR. */
package io.weir.ratelimit.it.ear;
