// SPDX-License-Identifier: Apache-2.0
/** A limited application on Quarkus. */
package io.weir.example.quarkus;
