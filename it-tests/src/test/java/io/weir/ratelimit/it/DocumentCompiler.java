// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** A compiler for the Java code of documents, with the class path of the tests and the classes of {@code weir-interceptor}. */
final class DocumentCompiler {
    static final Path INTERCEPTOR = Path.of("../interceptor/target/classes");

    private DocumentCompiler() {}

    /** Compiles source files into a folder. */
    static void compile(Collection<Path> sources, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                + File.pathSeparator
                + INTERCEPTOR;
        List<String> options =
                List.of("-d", classes.toString(), "-cp", classPath, "--release", "17", "-proc:none", "-Xlint:all");
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(
                            errors, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            assertThat(compiled).as("%s", errors).isTrue();
        }
    }
}
