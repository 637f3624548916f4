// SPDX-License-Identifier: Apache-2.0
/**
 * The backend contract: JUnit tests that every implementation of {@link io.weir.ratelimit.spi.RateLimitBackend} passes.
 *
 * <p>To test a backend, extend {@link io.weir.ratelimit.tck.RateLimitBackendContract} and {@link
 * io.weir.ratelimit.tck.PartialRefundContract}, and implement {@link
 * io.weir.ratelimit.tck.BackendFixture#backend(io.weir.ratelimit.spi.TimeSource)}. The inherited tests compare the backend with
 * reference models, which are simple, slow, and share no code with a backend.
 *
 * <p>Some parts are optional. A test with a limit that the backend does not {@linkplain
 * io.weir.ratelimit.spi.RateLimitBackend#supports support}, or with a settlement or a block that it does not implement, is aborted.
 *
 * <p>Two system properties control the random tests. {@code weir.test.full=true} runs many more scenarios for a longer time
 * with a new seed. {@code weir.test.seed=<number>} repeats a run; each random test prints its seed.
 */
package io.weir.ratelimit.tck;
