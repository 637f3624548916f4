// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.runtime.HostedWeir;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.util.Properties;

/** The instance of the application that runs in this process; its host is a name or an address. */
public record RunningInstance(String host, String version, Instant started) {
    private static final String VERSION = "/META-INF/maven/io.weir/weir-operations/pom.properties";

    /** Returns this instance. The host name can be resolved over the network. */
    public static RunningInstance startedAt(Instant started) {
        return new RunningInstance(localHost(), ownVersion(), started);
    }

    /** Returns the origin of reports of this instance. */
    public InstanceReport.Origin origin(String server) {
        return new InstanceReport.Origin(
                host,
                HostedWeir.instanceName(),
                version,
                server,
                Runtime.version().toString(),
                started);
    }

    private static String localHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    /** Returns the version that Maven writes into the jar. */
    private static String ownVersion() {
        Properties properties = new Properties();
        try (InputStream in = RunningInstance.class.getResourceAsStream(VERSION)) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            return "unknown";
        }
        return properties.getProperty("version", "unknown");
    }
}
