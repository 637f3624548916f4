// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.security.identity.SecurityIdentity;
import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.PemKeyCertOptions;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.fixtures.TestAuthority;
import io.weir.ratelimit.fixtures.TestFolder;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Users with the cookie of a login form, and with a client certificate. Their requests have no {@code Authorization} field. */
abstract class LoginContract {
    private static final String NO_QUOTAS = "\"policies\":[]";
    private static final String FOLDER = "weir.test.quarkus.folder";
    private static final String IN_FOLDER = "${" + FOLDER + "}/";
    private static final String CHAIN = "authority-cara-chain.pem";
    private static final String KEY = "authority-cara-key.pem";

    @TestHTTPResource
    URI base;

    @TestHTTPResource(tls = true)
    URI secure;

    @Inject
    Vertx vertx;

    private static TestFolder folder;

    /** Returns an application whose users "ann" and "cara" are operators. The server has the certificate of "cara", too. */
    static QuarkusUnitTest application(boolean proactive) {
        return new QuarkusUnitTest()
                .withApplicationRoot(jar -> jar.addClasses(LoginContract.class, Client.class, Resources.class))
                .setBeforeAllCustomizer(LoginContract::createFiles)
                .setAfterAllCustomizer(LoginContract::deleteFiles)
                .overrideConfigKey("quarkus.http.auth.proactive", Boolean.toString(proactive))
                .overrideConfigKey("quarkus.http.auth.form.enabled", "true")
                .overrideConfigKey("quarkus.http.auth.session.encryption-key", "a-key-with-more-than-16-characters")
                .overrideConfigKey("quarkus.security.users.embedded.enabled", "true")
                .overrideConfigKey("quarkus.security.users.embedded.plain-text", "true")
                .overrideConfigKey("quarkus.security.users.embedded.users.ann", "secret")
                .overrideConfigKey("quarkus.security.users.embedded.users.ben", "secret")
                .overrideConfigKey("quarkus.security.users.embedded.roles.ann", "operator,user")
                .overrideConfigKey("quarkus.security.users.embedded.roles.ben", "user")
                .overrideConfigKey("quarkus.http.test-ssl-port", "0")
                .overrideConfigKey("quarkus.http.ssl.client-auth", "request")
                .overrideConfigKey("quarkus.http.ssl.certificate.files", IN_FOLDER + CHAIN)
                .overrideConfigKey("quarkus.http.ssl.certificate.key-files", IN_FOLDER + KEY)
                .overrideConfigKey("quarkus.http.ssl.certificate.trust-store-file", IN_FOLDER + "authority-trust.p12")
                .overrideConfigKey("quarkus.http.ssl.certificate.trust-store-password", TestAuthority.PASSWORD)
                .overrideConfigKey("quarkus.http.auth.certificate-role-properties", IN_FOLDER + "roles.properties")
                .overrideConfigKey("ratelimit.console.enabled", "true")
                .overrideConfigKey("ratelimit.console.role", "operator")
                .overrideConfigKey("ratelimit.quota.path", "/quotas")
                .overrideConfigKey("ratelimit.policies.user.limit", "2/1h")
                .overrideConfigKey("ratelimit.policies.user.key", "principal");
    }

    private static void createFiles() {
        folder = TestFolder.create();
        folder.file("roles.properties", "cara=operator,user");
        TestAuthority.create(folder.path(), "authority").pemFor("cara", "ip:127.0.0.1");
        System.setProperty(FOLDER, folder.path().toString());
    }

    private static void deleteFiles() {
        System.clearProperty(FOLDER);
        folder.close();
    }

    private String login(String user) {
        HttpClient client = vertx.createHttpClient();
        try {
            HttpClientResponse response =
                    await(client.request(HttpMethod.POST, base.getPort(), base.getHost(), "/j_security_check")
                            .compose(request -> request.putHeader("Content-Type", "application/x-www-form-urlencoded")
                                    .send("j_username=" + user + "&j_password=secret")));
            assertThat(response.cookies()).as("status " + response.statusCode()).hasSizeGreaterThanOrEqualTo(1);
            return response.cookies().stream()
                    .filter(cookie -> cookie.startsWith("quarkus-credential="))
                    .findFirst()
                    .orElseThrow()
                    .split(";")[0];
        } finally {
            await(client.close());
        }
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCookieNamesItsUser() {
        Client client = new Client(base);
        String ben = login("ben");
        assertThat(client.get("users/value", "Cookie", ben).statusCode()).isEqualTo(200);
        assertThat(client.get("quotas", "Cookie", ben).body()).contains("\"name\":\"user\"", "\"remaining\":1");
        assertThat(client.get("users/uni", "Cookie", ben).statusCode()).isEqualTo(200);
        assertThat(client.get("users/value", "Cookie", ben).statusCode()).isEqualTo(429);
        assertThat(client.get("quotas", "Cookie", ben).body()).contains("\"remaining\":0");
        assertThat(client.get("q/ratelimit/", "Cookie", ben).statusCode()).isEqualTo(403);

        String ann = login("ann");
        assertThat(client.get("quotas", "Cookie", ann).body()).contains("\"remaining\":2");
        assertThat(client.get("q/ratelimit/", "Cookie", ann).statusCode()).isEqualTo(200);
    }

    @Test
    void aForeignCookieNamesNobody() {
        Client client = new Client(base);
        assertThat(client.get("quotas").body()).contains(NO_QUOTAS);
        for (String cookie : new String[] {"quarkus-credential=forged", "other=1"}) {
            assertThat(client.get("quotas", "Cookie", cookie).body()).contains(NO_QUOTAS);
            assertThat(client.get("q/ratelimit/", "Cookie", cookie).statusCode())
                    .as("the challenge of certificates or of the form; their order varies")
                    .isIn(401, 302);
        }
    }

    @Test
    void aClientCertificateNamesItsUser() {
        assertThat(withCertificate("/users/value", 200)).isEqualTo("CN=cara");
        assertThat(withCertificate("/quotas", 200)).contains("\"name\":\"user\"", "\"remaining\":1");
        assertThat(withCertificate("/users/uni", 200)).isEqualTo("CN=cara");
        assertThat(withCertificate("/users/value", 429)).contains("user");
        assertThat(withCertificate("/quotas", 200)).contains("\"remaining\":0");
        assertThat(withCertificate("/q/ratelimit/", 200)).contains("console.js");
    }

    private String withCertificate(String path, int status) {
        java.nio.file.Path files = java.nio.file.Path.of(System.getProperty(FOLDER));
        HttpClient client = vertx.createHttpClient(new HttpClientOptions()
                .setSsl(true)
                .setVerifyHost(false)
                .setTrustAll(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .setCertPath(files.resolve(CHAIN).toString())
                        .setKeyPath(files.resolve(KEY).toString())));
        try {
            return await(client.request(HttpMethod.GET, secure.getPort(), secure.getHost(), path)
                    .compose(request -> request.send().compose(response -> {
                        assertThat(response.statusCode()).as(path).isEqualTo(status);
                        return response.body().map(Buffer::toString);
                    })));
        } finally {
            await(client.close());
        }
    }

    @Path("users")
    public static class Resources {
        @Inject
        SecurityIdentity user;

        @GET
        @Path("value")
        @RolesAllowed("user")
        @RateLimit("user")
        public String value() {
            return user.getPrincipal().getName();
        }

        @GET
        @Path("uni")
        @RolesAllowed("user")
        @RateLimit("user")
        public Uni<String> uni() {
            return Uni.createFrom().item(user.getPrincipal().getName());
        }
    }
}
