// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.it.http.AnswerResource;
import io.weir.ratelimit.it.http.AsyncResource;
import io.weir.ratelimit.it.http.CorsFilter;
import io.weir.ratelimit.it.http.CsvResponder;
import io.weir.ratelimit.it.http.HttpApplication;
import io.weir.ratelimit.it.http.SecretWork;
import io.weir.ratelimit.it.http.Teapot;
import io.weir.ratelimit.it.http.TeapotMapper;
import java.io.File;
import java.net.URI;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The HTTP contract of the servers on Quarkus, with their resources. */
class QuarkusHttpTest extends HttpContract {
    private static final File CONFIGURATION =
            new File("../../it-tests/src/test/resources/http/microprofile-config.properties");

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(
                            Http.class, HttpContract.class, LimitResponse.class, ContainerThreads.class)
                    .addClasses(HttpApplication.class, AnswerResource.class, AsyncResource.class, SecretWork.class)
                    .addClasses(CorsFilter.class, CsvResponder.class, Teapot.class, TeapotMapper.class)
                    .addAsResource(CONFIGURATION, "META-INF/microprofile-config.properties"));

    @TestHTTPResource
    URI base;

    @Override
    URI base() {
        return URI.create("http://127.0.0.1:" + base.getPort() + "/");
    }

    @Override
    @Disabled("Quarkus has no servlet response, which code of the application could commit")
    @Test
    void noFieldIsSetOnACommittedResponse() {}

    @Override
    @Disabled("Quarkus has no servlet response, which code of the application could commit")
    @Test
    void committedResponseIsChargedOnce() {}
}
