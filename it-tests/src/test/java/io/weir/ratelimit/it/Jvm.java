// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The virtual machine of a server, inspected by {@code jcmd} and by the {@code /proc} files of its process. */
record Jvm(long pid) {
    private static final Pattern USED = Pattern.compile("(?:def new|tenured) generation +total \\d+K, used (\\d+)K");
    private static final Pattern THREADS = Pattern.compile("(?m)^Threads:\\s+(\\d+)$");
    private static final Pattern INODE = Pattern.compile("socket:\\[(\\d+)]");

    static Jvm of(Server server) {
        return new Jvm(server.handle().pid());
    }

    /** Returns the number of threads. */
    int threads() {
        return THREADS.matcher(read(Path.of("/proc/" + pid + "/status")))
                .results()
                .mapToInt(result -> Integer.parseInt(result.group(1)))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the names of the threads whose name contains a text. */
    List<String> threads(String text) {
        return Pattern.compile("(?m)^\"([^\"]*" + Pattern.quote(text) + "[^\"]*)\"")
                .matcher(jcmd("Thread.print"))
                .results()
                .map(result -> result.group(1))
                .sorted()
                .toList();
    }

    /** Returns the number of open files and sockets. */
    int openFiles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return (int) files.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the number of sockets with a remote port, including those that the other end has closed. */
    int socketsTo(int port) {
        Set<String> sockets = inodes();
        String remote = ":" + HexFormat.of().withUpperCase().toHexDigits((short) port);
        return (int) Stream.of("tcp", "tcp6")
                .flatMap(
                        table -> read(Path.of("/proc/" + pid + "/net/" + table)).lines())
                .map(line -> line.strip().split("\\s+"))
                .filter(columns -> columns[2].endsWith(remote) && sockets.contains(columns[9]))
                .count();
    }

    private Set<String> inodes() {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return files.map(Jvm::target)
                    .flatMap(target -> INODE.matcher(target).results())
                    .map(result -> result.group(1))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return ""; // closed in the meantime
        }
    }

    /** Runs a full garbage collection and returns the used heap in KiB. */
    long usedHeap() {
        jcmd("GC.run");
        List<Long> used = USED.matcher(jcmd("GC.heap_info"))
                .results()
                .map(result -> Long.valueOf(result.group(1)))
                .toList();
        if (used.size() != 2) {
            throw new IllegalStateException("not the heap of the serial collector: " + used);
        }
        return used.get(0) + used.get(1);
    }

    /** Runs a full garbage collection and returns the number of class loaders with a class. */
    int loadersOf(String className) {
        jcmd("GC.run");
        return (int) Pattern.compile("(?m)\\b" + Pattern.quote(className) + "/0x\\p{XDigit}+")
                .matcher(jcmd("VM.class_hierarchy", className))
                .results()
                .map(MatchResult::group)
                .distinct()
                .count();
    }

    private String jcmd(String... command) {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        List<String> words = Stream.concat(Stream.of(jcmd.toString(), Long.toString(pid)), Stream.of(command))
                .toList();
        try {
            Process process =
                    new ProcessBuilder(words).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(words + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted during " + words, e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
