// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The dependencies of outgoing calls. */
@AnalyzeClasses(packages = "io.weir.ratelimit.client", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String PLAIN = "io.weir.ratelimit.client.outgoing..";
    private static final String[] CORE = {
        "io.weir.ratelimit", "io.weir.ratelimit.spi", "io.weir.ratelimit.core..", "io.weir.ratelimit.runtime.."
    };

    @ArchTest
    static final ArchRule the_plug_in_is_plain_java = classes()
            .that()
            .resideInAPackage(PLAIN)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(allowed(PLAIN, "java..", "org.jspecify.annotations.."));

    @ArchTest
    static final ArchRule the_module_depends_on_no_host_and_no_backend = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(allowed(
                    "io.weir.ratelimit.client..",
                    "java..",
                    "jakarta..",
                    "org.jspecify.annotations..",
                    "org.eclipse.microprofile.rest.client.."));

    @ArchTest
    static final ArchRule one_class_depends_on_rest_client_interfaces = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.weir.ratelimit.client.OutgoingRateLimitListener")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.eclipse.microprofile.rest..");

    private static String[] allowed(String... packages) {
        String[] all = new String[CORE.length + packages.length];
        System.arraycopy(CORE, 0, all, 0, CORE.length);
        System.arraycopy(packages, 0, all, CORE.length, packages.length);
        return all;
    }
}
