// SPDX-License-Identifier: Apache-2.0
/** The promises of the documents, each as a function of a history. */
@NullMarked
package io.weir.nemesis.check;

import org.jspecify.annotations.NullMarked;
