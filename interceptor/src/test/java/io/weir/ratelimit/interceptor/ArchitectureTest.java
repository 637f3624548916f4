// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The permitted dependencies between packages. */
@AnalyzeClasses(packages = "io.weir.ratelimit.interceptor", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String SELF = "io.weir.ratelimit.interceptor.";
    private static final String[] TELEMETRY = {"org.eclipse.microprofile.metrics..", "io.opentelemetry.."};
    private static final String[] CONTAINER = {
        "jakarta.ws.rs..",
        "jakarta.servlet..",
        "jakarta.enterprise..",
        "jakarta.inject..",
        "jakarta.interceptor..",
        "jakarta.ejb.."
    };

    @ArchTest
    static final ArchRule only_the_entry_points_depend_on_a_container = noClasses()
            .that()
            .resideOutsideOfPackages(
                    SELF + "rest..",
                    SELF + "cdi..",
                    SELF + "health..",
                    SELF + "servlet..",
                    SELF + "user..",
                    SELF + "web..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CONTAINER);

    @ArchTest
    static final ArchRule only_the_telemetry_package_depends_on_telemetry = noClasses()
            .that()
            .resideOutsideOfPackage(SELF + "telemetry..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(TELEMETRY);

    @ArchTest
    static final ArchRule one_class_depends_on_json_web_tokens = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(SELF + "user.Claims$Token")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.microprofile.jwt..");

    @ArchTest
    static final ArchRule one_class_depends_on_jersey = noClasses()
            .that()
            .haveNameNotMatching(".*\\.rest\\.JerseyWrappedMapper(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.glassfish.jersey..");

    @ArchTest
    static final ArchRule only_two_packages_depend_on_servlets = noClasses()
            .that()
            .resideOutsideOfPackages(SELF + "servlet..", SELF + "web..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jakarta.servlet..");

    @ArchTest
    static final ArchRule requests_of_servlets_do_not_depend_on_the_entry_points = noClasses()
            .that()
            .resideInAnyPackage(SELF + "servlet..", SELF + "user..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SELF + "cdi..", SELF + "rest..", SELF + "web..");

    @ArchTest
    static final ArchRule only_the_openapi_package_depends_on_openapi = noClasses()
            .that()
            .resideOutsideOfPackage(SELF + "openapi..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.eclipse.microprofile.openapi..", SELF + "openapi..");

    @ArchTest
    static final ArchRule only_the_health_package_depends_on_health = noClasses()
            .that()
            .resideOutsideOfPackage(SELF + "health..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.microprofile.health..");

    @ArchTest
    static final ArchRule the_host_depends_on_no_plug_in = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.weir.ratelimit.client..", "io.weir.ratelimit.operations..");

    @ArchTest
    static final ArchRule the_entry_point_for_beans_does_not_depend_on_that_for_rest = noClasses()
            .that()
            .resideInAPackage(SELF + "cdi..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SELF + "rest..", SELF + "web..");

    @ArchTest
    static final ArchRule only_the_cdi_package_reads_configuration = noClasses()
            .that()
            .resideOutsideOfPackage(SELF + "cdi..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.microprofile.config..");

    @ArchTest
    static final ArchRule only_javax_packages_of_the_platform_are_used = noClasses()
            .should()
            .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("javax..")
                    .and(JavaClass.Predicates.resideOutsideOfPackages("javax.naming..", "javax.crypto..")));

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching(SELF + "(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule class_names_have_no_generic_suffix =
            noClasses().should().haveNameMatching(".*(Impl|Util|Utils|Manager|Helper)(\\$.*)?");
}
