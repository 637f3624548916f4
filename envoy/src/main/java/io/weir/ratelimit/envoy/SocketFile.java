// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The file of a Unix domain socket. The server binds another name, and the file is renamed when clients can connect. A start that fails
 * therefore changes nothing, and Netty, which deletes the name that it has bound, does not delete the socket of a successor.
 */
final class SocketFile implements AutoCloseable {
    /** To connect is to write. The group can connect, because a proxy seldom has the user of the server. */
    private static final String MODE = "rw-rw----";

    /** The bits of a mode that state the type of a file, and those of a socket (POSIX, {@code sys/stat.h}). */
    private static final int FILE_TYPE = 0170000;

    private static final int SOCKET = 0140000;

    private final Path name;
    private final Path bound;

    /** Identifies the file behind its name; null before it has the name. */
    private @Nullable Object key;

    SocketFile(Path name) {
        this.name = name;
        this.bound = name.resolveSibling(
                ".weir" + Integer.toHexString(ThreadLocalRandom.current().nextInt()));
    }

    /** Returns the name that the server binds. */
    Path bound() {
        return bound;
    }

    /**
     * Gives the socket its mode and its name. Replaces the socket of a process that has ended.
     *
     * @throws IOException if a process serves a socket of this name, or another file has it
     */
    void publish() throws IOException {
        PosixFileAttributeView attributes = Files.getFileAttributeView(bound, PosixFileAttributeView.class);
        if (attributes != null) {
            attributes.setPermissions(PosixFilePermissions.fromString(MODE));
        }
        requireUnused();
        Object own = attributes(bound).fileKey();
        Files.move(bound, name, StandardCopyOption.ATOMIC_MOVE);
        key = own;
    }

    private static BasicFileAttributes attributes(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean isSocket(Path file) throws IOException {
        int mode = (int) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return (mode & FILE_TYPE) == SOCKET;
    }

    private void requireUnused() throws IOException {
        if (!Files.exists(name, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!isSocket(name)) {
            throw new FileAlreadyExistsException(name.toString(), null, "the file is not a socket");
        }
        try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            client.configureBlocking(false); // a process that accepts no connection is still running
            client.connect(UnixDomainSocketAddress.of(name));
        } catch (ConnectException e) {
            return; // nobody listens
        }
        throw new BindException(name + " is the socket of another process, which is running");
    }

    /** Deletes the file, unless another process has replaced it. */
    @Override
    public void close() {
        try {
            Files.deleteIfExists(bound);
            if (key != null && key.equals(attributes(name).fileKey())) {
                Files.delete(name);
            }
        } catch (IOException e) {
            // The next start replaces it.
        }
    }
}
