// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The dependencies of the console. */
@AnalyzeClasses(packages = "io.weir.ratelimit.console", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String INTERCEPTOR = "io.weir.ratelimit.interceptor.";

    @ArchTest
    static final ArchRule depends_only_on_operations_and_telemetry = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    INTERCEPTOR + "cdi..",
                    INTERCEPTOR + "rest..",
                    INTERCEPTOR + "key..",
                    INTERCEPTOR + "local..",
                    INTERCEPTOR + "openapi..",
                    INTERCEPTOR + "health..",
                    "io.weir.ratelimit.redisson..");

    @ArchTest
    static final ArchRule needs_no_library = noClasses()
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages("io.weir.ratelimit..", "java..", "jakarta..", "org.jspecify.annotations..");

    @ArchTest
    static final ArchRule does_not_depend_on_jakarta_json =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("jakarta.json..");
}
