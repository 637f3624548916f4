// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi.hidden;

/** Inherits a public method from a class that is not public: the compiler adds a bridge here. */
public class Visible extends Hidden {}
