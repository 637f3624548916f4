// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What an application gets when it names this artifact: annotations and plain Java, no server and no client of one. */
@AnalyzeClasses(packages = "io.weir.ratelimit", importOptions = DoNotIncludeTests.class)
class ApiArchitectureTest {

    /** The annotations that its own annotations and exceptions carry are all it takes from the platform. */
    @ArchTest
    static final ArchRule it_needs_nothing_but_java_and_some_annotations = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.weir.ratelimit",
                    "io.weir.ratelimit.spi",
                    "java..",
                    "org.jspecify..",
                    "jakarta.interceptor",
                    "jakarta.enterprise.util",
                    "jakarta.ejb");

    @ArchTest
    static final ArchRule it_knows_neither_rest_nor_configuration_nor_redis_nor_telemetry = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "jakarta.ws.rs..",
                    "jakarta.servlet..",
                    "org.eclipse.microprofile..",
                    "org.redisson..",
                    "io.opentelemetry..",
                    "io.weir.ratelimit.interceptor..",
                    "io.weir.ratelimit.redisson..");

    @ArchTest
    static final ArchRule what_applications_name_does_not_know_how_stores_decide = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.weir.ratelimit.spi..");

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching("io.weir.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule names_say_what_a_class_is =
            noClasses().should().haveNameMatching(".*(Impl|Util|Utils|Manager|Helper)(\\$.*)?");
}
