// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The dependencies of the module. */
@AnalyzeClasses(
        packages = {"io.weir.ratelimit.console", "io.weir.ratelimit.operations"},
        importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule depends_on_no_host_and_no_backend = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.weir.ratelimit.interceptor..", "io.weir.ratelimit.redisson..", "io.weir.ratelimit.client..");

    @ArchTest
    static final ArchRule the_plug_in_is_plain_java = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.operations..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("jakarta..", "io.weir.ratelimit.console..");

    @ArchTest
    static final ArchRule reports_depend_on_neither_the_page_nor_a_container = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.console.report")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.weir.ratelimit.console", "jakarta..");

    @ArchTest
    static final ArchRule needs_no_library = noClasses()
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages(
                    "io.weir.ratelimit..", "java..", "javax.crypto..", "jakarta..", "org.jspecify.annotations..");

    @ArchTest
    static final ArchRule does_not_depend_on_jakarta_json =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("jakarta.json..");
}
