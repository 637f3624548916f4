// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Server;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestAuthority;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The files of TLS are read again: what a connection gets after each state of the files. */
@Tag("ci")
@Tag("field")
@Timeout(180)
class TlsFilesTest {
    @TempDir
    private static Path made;

    private static TestAuthority authority;
    private static TestAuthority.PemFiles first;
    private static TestAuthority.PemFiles second;

    @TempDir
    private Path folder;

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private long writes;
    private Path certificate;
    private Path key;
    private Transport transport;
    private Server server;

    @BeforeAll
    static void certificates() {
        authority = TestAuthority.create(made, "authority");
        first = authority.pemFor("first", "ip:127.0.0.1");
        second = authority.pemFor("second", "ip:127.0.0.1");
    }

    @BeforeEach
    void start() throws Exception {
        certificate = folder.resolve("tls.crt");
        key = folder.resolve("tls.key");
        write(certificate, Files.readString(first.certificate()));
        write(key, Files.readString(first.key()));
        transport = transport();
        server = transport.server().build().start();
    }

    private Transport transport() throws Exception {
        return new Transport(
                TestServer.settings(Map.of(
                        "ratelimit.metrics", "none",
                        "ratelimit.envoy.tls.certificate", certificate.toString(),
                        "ratelimit.envoy.tls.key", key.toString())),
                timer);
    }

    @AfterEach
    void stop() {
        server.shutdownNow();
        transport.close();
        timer.shutdownNow();
    }

    /** Writes a file whose time differs from that of each earlier one. */
    private void write(Path file, String content) throws Exception {
        Files.writeString(file, content);
        Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH.plusSeconds(++writes)));
    }

    /** Runs the periodic task as the timer does. */
    private void minutePasses() {
        for (Runnable task : List.copyOf(timer.getQueue())) {
            task.run();
        }
    }

    /** Returns the certificates of a new connection. */
    private List<Certificate> served() throws Exception {
        KeyStore trusted = KeyStore.getInstance(authority.trustStore().toFile(), TestAuthority.PASSWORD.toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", server.getPort())) {
            socket.startHandshake();
            return List.of(socket.getSession().getPeerCertificates());
        }
    }

    /** Returns the beginning of a key: a number of characters that Base64 never has. */
    private static String cut(String key) {
        return key.substring(0, key.indexOf('\n') + 42);
    }

    private static String owner(List<Certificate> chain) {
        return ((X509Certificate) chain.get(0)).getSubjectX500Principal().getName();
    }

    @Test
    void aNewPairIsServed() throws Exception {
        write(certificate, Files.readString(second.certificate()));
        write(key, Files.readString(second.key()));
        minutePasses();
        assertThat(owner(served())).isEqualTo("CN=second");
    }

    @Test
    void aCertificateForTheSameKeyIsServed() throws Exception {
        String chain = Files.readString(first.certificate());
        int before = served().size();
        write(certificate, chain.substring(0, chain.indexOf("-----BEGIN", 1)));
        minutePasses();
        assertThat(served()).hasSizeLessThan(before);
    }

    @Test
    void anIncompleteKeyKeepsTheCertificateAndTheReload() throws Exception {
        String complete = Files.readString(second.key());
        try (LogCapture log = new LogCapture()) {
            write(certificate, Files.readString(second.certificate()));
            write(key, cut(complete));
            minutePasses();
            minutePasses();
            assertThat(owner(served())).isEqualTo("CN=first");
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-735"))
                    .hasSize(1);
        }
        write(key, complete);
        minutePasses();
        assertThat(owner(served())).isEqualTo("CN=second");
    }

    @Test
    void aCertificateWaitsForItsKey() throws Exception {
        write(certificate, Files.readString(second.certificate()));
        minutePasses();
        assertThat(owner(served())).isEqualTo("CN=first");
        write(key, Files.readString(second.key()));
        minutePasses();
        assertThat(owner(served())).isEqualTo("CN=second");
    }

    @Test
    void aMissingFileIsReportedOnce() throws Exception {
        String content = Files.readString(key);
        try (LogCapture log = new LogCapture()) {
            Files.delete(key);
            minutePasses();
            minutePasses();
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-735"))
                    .hasSize(1);
        }
        write(key, content);
        minutePasses();
        assertThat(owner(served())).isEqualTo("CN=first");
    }

    @Test
    void aServerDoesNotStartWithAnIncompleteKeyOrThatOfAnotherCertificate() throws Exception {
        String complete = Files.readString(second.key());
        for (String content : List.of(cut(complete), complete, "")) {
            write(key, content);
            Transport other = transport();
            assertThatThrownBy(other::server).isInstanceOf(GeneralSecurityException.class);
            other.close();
        }
    }
}
