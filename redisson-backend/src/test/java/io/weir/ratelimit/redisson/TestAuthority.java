// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A certificate authority of a test, made by the keytool of this Java. Its certificates are good for a day.
 *
 * @param folder where its key stores are
 * @param name the name of its own
 */
record TestAuthority(Path folder, String name) {
    /** Of all its key stores. */
    static final String PASSWORD = "changeit";

    private static final long KEYTOOL_SECONDS = 60;

    static TestAuthority made(Path folder, String name) {
        TestAuthority authority = new TestAuthority(folder, name);
        authority.keytool(
                List.of("-genkeypair", "-alias", "ca", "-dname", "CN=" + name, "-ext", "bc:c"), name, KEY_OF_ITS_OWN);
        authority.store("trust", store -> store.setCertificateEntry("ca", authority.certificate()));
        return authority;
    }

    private static final List<String> KEY_OF_ITS_OWN =
            List.of("-keyalg", "EC", "-groupname", "secp256r1", "-validity", "1");

    private Certificate certificate() throws GeneralSecurityException, IOException {
        return read(name).getCertificate("ca");
    }

    /** A trust store that holds this authority and no other, in PKCS #12. */
    Path trustStore() {
        return file("trust");
    }

    /** The TLS of a server with a certificate of this authority, for one address only. */
    SSLContext serverFor(String address) {
        String request = "server.csr";
        String answer = "server.pem";
        keytool(List.of("-genkeypair", "-alias", "server", "-dname", "CN=server"), "server", KEY_OF_ITS_OWN);
        keytool(List.of("-certreq", "-alias", "server", "-file", request), "server", List.of());
        keytool(
                List.of("-gencert", "-alias", "ca", "-infile", request, "-outfile", answer, "-rfc"),
                name,
                List.of("-ext", "san=" + address, "-validity", "1"));
        try (InputStream in = Files.newInputStream(folder.resolve(answer))) {
            KeyStore server = read("server");
            Key key = server.getKey("server", PASSWORD.toCharArray());
            Certificate signed = CertificateFactory.getInstance("X.509").generateCertificate(in);
            server.setKeyEntry("server", key, PASSWORD.toCharArray(), new Certificate[] {signed, certificate()});
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(server, PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private interface Filling {
        void fill(KeyStore store) throws GeneralSecurityException, IOException;
    }

    private void store(String kind, Filling filling) {
        try (OutputStream out = Files.newOutputStream(file(kind))) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            filling.fill(store);
            store.store(out, PASSWORD.toCharArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private KeyStore read(String kind) throws GeneralSecurityException, IOException {
        try (InputStream in = Files.newInputStream(file(kind))) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, PASSWORD.toCharArray());
            return store;
        }
    }

    private Path file(String kind) {
        return folder.resolve(name + "-" + kind + ".p12");
    }

    private void keytool(List<String> what, String kind, List<String> how) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(what);
        command.addAll(how);
        command.addAll(List.of("-keystore", file(kind).toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        try {
            Process keytool = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!keytool.waitFor(KEYTOOL_SECONDS, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
                throw new IllegalStateException("keytool " + what.get(0) + ": " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
