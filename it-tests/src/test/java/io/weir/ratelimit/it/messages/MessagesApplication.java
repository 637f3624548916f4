// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.messages;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The application of {@link QueueResource}. */
@ApplicationPath("api")
public class MessagesApplication extends Application {}
