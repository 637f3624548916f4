// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import jakarta.jws.WebMethod;
import jakarta.jws.WebService;

/** A SOAP service under a policy. */
@WebService
public class Greeting {
    @WebMethod
    @RateLimit("soap")
    public String greet(String name) {
        return "Hello " + name;
    }
}
