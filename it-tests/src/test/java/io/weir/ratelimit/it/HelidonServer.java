// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The example on Helidon MP, which has no Servlet API. It is a program and not a WAR. */
final class HelidonServer extends ServerBuilder<HelidonServer> {
    private static final Pattern FAILED = Pattern.compile("Exception in thread \"main\"|Address already in use");
    private static final Pattern STARTED = Pattern.compile("Started all channels");

    private HelidonServer(String name) {
        super("helidon", name, FAILED, STARTED);
    }

    static HelidonServer named(String name) {
        return new HelidonServer(name);
    }

    @Override
    HelidonServer self() {
        return this;
    }

    @Override
    ProcessBuilder command(Path directory, int httpPort) {
        systemProperty("server.port", Integer.toString(httpPort)).systemProperty("server.host", "127.0.0.1");
        List<String> command = new ArrayList<>(java());
        command.addAll(List.of("-jar", Server.required("weir.helidon.jar")));
        return new ProcessBuilder(command);
    }
}
