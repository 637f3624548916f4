// SPDX-License-Identifier: Apache-2.0
package kotlin.coroutines;

/** The type of a parameter that the compiler of Kotlin adds to a suspending function. */
public interface Continuation<T> {}
