// SPDX-License-Identifier: Apache-2.0
/** A test application with exception mappers for rejections. */
package io.weir.ratelimit.it.mapper;
