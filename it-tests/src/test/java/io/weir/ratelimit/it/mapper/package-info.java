// SPDX-License-Identifier: Apache-2.0
/** An application that answers refusals by mappers of its own. Deployed by tests only. */
package io.weir.ratelimit.it.mapper;
