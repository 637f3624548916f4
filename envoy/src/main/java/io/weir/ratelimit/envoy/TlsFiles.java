// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.CertificateUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;

/** The files of TLS. A run reads them again, and uses them if they have changed and fit together; otherwise the former ones stay in use. */
final class TlsFiles implements Runnable {
    private final EnvoySettings.Tls tls;
    private final AdvancedTlsX509KeyManager keys = new AdvancedTlsX509KeyManager();
    private final AdvancedTlsX509TrustManager clients;

    /** The last content, or why it could not be read, so that each state of the files is used or reported once. */
    private Object last;

    /**
     * Reads the files.
     *
     * @throws IOException if a file cannot be read
     * @throws GeneralSecurityException if a certificate or the key is invalid, or the key is that of another certificate
     */
    TlsFiles(EnvoySettings.Tls tls) throws IOException, GeneralSecurityException {
        this.tls = tls;
        this.clients = AdvancedTlsX509TrustManager.newBuilder()
                .setVerification(AdvancedTlsX509TrustManager.Verification.CERTIFICATE_ONLY_VERIFICATION)
                .build();
        Content content = read();
        use(content);
        last = content;
    }

    private record Content(String certificate, String key, String clientCa) {
        /** Returns no content, because the key is a secret. */
        @Override
        public String toString() {
            return "Content";
        }
    }

    ServerCredentials credentials() {
        TlsServerCredentials.Builder credentials =
                TlsServerCredentials.newBuilder().keyManager(keys);
        if (tls.clientCa().isPresent()) {
            credentials.trustManager(clients).clientAuth(TlsServerCredentials.ClientAuth.REQUIRE);
        }
        return credentials.build();
    }

    /** Never throws an exception, because it would end the periodic task. */
    @Override
    public void run() {
        Object state = "";
        try {
            Content content = read();
            state = content;
            if (!state.equals(last)) {
                use(content);
            }
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            state = state instanceof Content ? state : e.toString();
            if (!state.equals(last)) {
                MESSAGES.log("WEIR-735", e);
            }
        }
        last = state;
    }

    private Content read() throws IOException {
        return new Content(
                text(tls.certificate()),
                text(tls.key()),
                tls.clientCa().isPresent() ? text(tls.clientCa().get()) : "");
    }

    /** Returns the bytes as characters: a file that is not PEM is no reason to fail before it is parsed. */
    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    private static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private void use(Content content) throws IOException, GeneralSecurityException {
        X509Certificate[] chain = certificates(content.certificate);
        PrivateKey key = key(content.key);
        requirePair(chain[0], key);
        if (tls.clientCa().isPresent()) {
            clients.updateTrustCredentials(certificates(content.clientCa));
        }
        keys.updateIdentityCredentials(chain, key);
    }

    private static X509Certificate[] certificates(String text) throws CertificateException {
        X509Certificate[] found = CertificateUtils.getX509Certificates(stream(text));
        if (found.length == 0) {
            throw new CertificateException("a file has no certificate");
        }
        return found;
    }

    /** Returns the key. Half of a file can be invalid Base64, for which the parser has no exception of its own. */
    private static PrivateKey key(String text) throws IOException, GeneralSecurityException {
        try {
            return CertificateUtils.getPrivateKey(stream(text));
        } catch (RuntimeException e) {
            throw new InvalidKeyException("the key is not in the form PKCS #8 of PEM", e);
        }
    }

    private static void requirePair(X509Certificate certificate, PrivateKey key) throws GeneralSecurityException {
        Signature signature =
                Signature.getInstance(key.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA");
        try {
            signature.initSign(key);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            if (signature.verify(signed)) {
                return;
            }
        } catch (InvalidKeyException e) {
            // A key of another algorithm fits no better than another key.
        }
        throw new InvalidKeyException("the key is not that of the certificate");
    }
}
