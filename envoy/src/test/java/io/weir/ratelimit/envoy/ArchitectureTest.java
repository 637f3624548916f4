// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The dependencies of the module. */
@AnalyzeClasses(packages = "io.weir.ratelimit.envoy", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule depends_on_no_other_host_and_no_container = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.weir.ratelimit.interceptor..",
                    "io.weir.ratelimit.client..",
                    "io.weir.ratelimit.redisson..",
                    "jakarta..",
                    "org.eclipse.microprofile..");

    @ArchTest
    static final ArchRule files_of_envoy_depend_on_no_server = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.envoy.config")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.weir.ratelimit.envoy", "io.grpc..", "io.netty..");

    @ArchTest
    static final ArchRule one_class_depends_on_telemetry = noClasses()
            .that()
            .haveNameNotMatching(".*\\.(ServerMeters|EnvoyPlatform)")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.opentelemetry..");
}
