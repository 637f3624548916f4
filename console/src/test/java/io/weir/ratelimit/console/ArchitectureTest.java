// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Whom the page may know. */
@AnalyzeClasses(packages = "io.weir.ratelimit.console", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String INTERCEPTOR = "io.weir.ratelimit.interceptor.";

    @ArchTest
    static final ArchRule it_knows_what_operators_see_and_nothing_behind_it = noClasses()
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
    static final ArchRule it_needs_no_library = noClasses()
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages("io.weir.ratelimit..", "java..", "jakarta..", "org.jspecify.annotations..");

    @ArchTest
    static final ArchRule a_server_may_have_no_json =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("jakarta.json..");
}
