// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The Redis backend and the other modules meet in the application only. */
@AnalyzeClasses(packages = "io.weir.ratelimit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule dependsNeitherOnThePipelineNorOnHttp = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.redisson..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.weir.ratelimit.interceptor..", "jakarta.ws.rs..", "jakarta.servlet..", "io.opentelemetry..");

    @ArchTest
    static final ArchRule dependsOnTheLimitsTheStoresAndTheMessagesOfTheCoreOnly = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.redisson..")
            .should()
            .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("io.weir.ratelimit.core..")
                    .and(JavaClass.Predicates.resideOutsideOfPackages(
                            "io.weir.ratelimit.core.limit..",
                            "io.weir.ratelimit.core.operations..",
                            "io.weir.ratelimit.core.message..")));

    @ArchTest
    static final ArchRule implementsTheProviderAndUsesNoOtherPartOfTheDoor = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit.redisson..")
            .should()
            .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("io.weir.ratelimit.runtime..")
                    .and(DescribedPredicate.not(JavaClass.Predicates.simpleName("BackendProvider"))));

    @ArchTest
    static final ArchRule onlyTheBackendItsProviderAndTheNameOfItsBreakerArePublic = classes()
            .that()
            .resideInAPackage("io.weir.ratelimit.redisson")
            .and()
            .arePublic()
            .should()
            .haveSimpleName("RedissonBackend")
            .orShould()
            .haveSimpleName("RedissonBackendProvider")
            .orShould()
            .haveSimpleName("RedisGuard");

    @ArchTest
    static final ArchRule eachPackageDependsOnThoseBelowItOnly = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("backend")
            .definedBy("io.weir.ratelimit.redisson")
            .layer("lease")
            .definedBy("io.weir.ratelimit.redisson.lease")
            .layer("rejection")
            .definedBy("io.weir.ratelimit.redisson.rejection")
            .layer("client")
            .definedBy("io.weir.ratelimit.redisson.client")
            .layer("script")
            .definedBy("io.weir.ratelimit.redisson.script")
            .whereLayer("backend")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("lease")
            .mayOnlyBeAccessedByLayers("backend")
            .whereLayer("rejection")
            .mayOnlyBeAccessedByLayers("backend", "lease")
            .whereLayer("client")
            .mayOnlyBeAccessedByLayers("backend", "lease", "rejection");

    @ArchTest
    static final ArchRule noOtherModuleDependsOnRedis = noClasses()
            .that()
            .resideOutsideOfPackage("io.weir.ratelimit.redisson..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.redisson..", "io.weir.ratelimit.redisson..", "org.eclipse.microprofile.config..");
}
