// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The dependencies of the core module and of its packages. */
@AnalyzeClasses(
        packages = {"io.weir.ratelimit.core", "io.weir.ratelimit.runtime"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String CORE = "io.weir.ratelimit.core.";
    private static final String[] PLATFORM = {"io.weir.ratelimit", "io.weir.ratelimit.spi", "java..", "org.jspecify.."};

    private static ArchRule onlyDependsOn(String dependent, String... dependencies) {
        String[] allowed = new String[dependencies.length + PLATFORM.length + 1];
        for (int i = 0; i < dependencies.length; i++) {
            allowed[i] = CORE + dependencies[i] + "..";
        }
        allowed[dependencies.length] = CORE + dependent + "..";
        System.arraycopy(PLATFORM, 0, allowed, dependencies.length + 1, PLATFORM.length);
        return classes()
                .that()
                .resideInAPackage(CORE + dependent + "..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed);
    }

    @ArchTest
    static final ArchRule the_core_is_plain_java = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.weir.ratelimit",
                    "io.weir.ratelimit.spi",
                    "io.weir.ratelimit.core..",
                    "io.weir.ratelimit.runtime..",
                    "java..",
                    "javax.crypto..",
                    "javax.naming..",
                    "com.github.benmanes.caffeine..",
                    "org.jspecify..");

    @ArchTest
    static final ArchRule limits_depend_on_the_api_only = onlyDependsOn("limit");

    @ArchTest
    static final ArchRule messages_depend_on_the_api_only = onlyDependsOn("message");

    @ArchTest
    static final ArchRule the_local_backend_depends_on_limits_only = onlyDependsOn("local", "limit");

    @ArchTest
    static final ArchRule top_keys_depend_on_keys_and_limits = onlyDependsOn("topkeys", "key", "limit");

    @ArchTest
    static final ArchRule slots_depend_on_limits_and_policies =
            onlyDependsOn("slots", "config", "key", "limit", "message", "policy");

    @ArchTest
    static final ArchRule requests_depend_on_policies_and_slots =
            onlyDependsOn("request", "config", "key", "limit", "policy", "slots");

    @ArchTest
    static final ArchRule no_room_of_a_decision_depends_on_the_engine = noClasses()
            .that()
            .resideInAnyPackage(CORE + "events..", CORE + "fallback..", CORE + "request..", CORE + "slots..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CORE + "engine..");

    @ArchTest
    static final ArchRule only_the_clock_of_the_local_backend_reads_the_wall_clock = noClasses()
            .that()
            .resideInAPackage(CORE + "local..")
            .and()
            .doNotHaveSimpleName("LocalClock")
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.time.Instant")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.time.Clock");

    @ArchTest
    static final ArchRule no_part_depends_on_the_door = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.core..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.weir.ratelimit.runtime..");

    @ArchTest
    static final ArchRule only_the_door_depends_on_the_parts_of_an_instance = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.core..")
            .and()
            .resideOutsideOfPackage(CORE + "instance..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CORE + "instance..");

    @ArchTest
    static final ArchRule a_decision_depends_on_no_snapshot_and_no_metrics = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.core..")
            .and()
            .resideOutsideOfPackages(CORE + "instance..", CORE + "snapshot..", CORE + "metrics..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CORE + "snapshot..", CORE + "metrics..");

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching(CORE + "(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule names_describe_the_class =
            noClasses().should().haveNameMatching(".*(Impl|Util|Utils|Manager|Helper)(\\$.*)?");
}
