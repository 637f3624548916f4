// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.shop;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

@ApplicationPath("api")
public class ShopApplication extends Application {}
