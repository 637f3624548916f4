// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;

/** The dependencies and the shape of the API: annotations and plain Java, without a container. */
@AnalyzeClasses(packages = "io.weir.ratelimit", importOptions = DoNotIncludeTests.class)
class ApiArchitectureTest {

    /** From the platform it uses only the annotations on Weir annotations and exceptions. */
    @ArchTest
    static final ArchRule depends_only_on_java_and_annotations = classes()
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
    static final ArchRule does_not_depend_on_rest_configuration_redis_or_telemetry = noClasses()
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
    static final ArchRule application_api_does_not_depend_on_spi = noClasses()
            .that()
            .resideInAPackage("io.weir.ratelimit")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.weir.ratelimit.spi..");

    /** State arithmetic computes numbers from numbers, such as a wait from an instant. It belongs to {@code core.limit}. */
    @ArchTest
    static final ArchRule spi_has_no_arithmetic = methods()
            .that()
            .areDeclaredInClassesThat()
            .resideInAPackage("io.weir.ratelimit.spi")
            .and()
            .arePublic()
            .and(haveANumberAsParameter())
            .should(notReturnANumber());

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching("io.weir.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule class_names_are_specific =
            noClasses().should().haveNameMatching(".*(Impl|Util|Utils|Manager|Helper)(\\$.*)?");

    private static DescribedPredicate<JavaMethod> haveANumberAsParameter() {
        return DescribedPredicate.describe(
                "have a number as parameter",
                method -> method.getRawParameterTypes().stream().anyMatch(ApiArchitectureTest::isNumber));
    }

    private static ArchCondition<JavaMethod> notReturnANumber() {
        return ArchCondition.from(
                DescribedPredicate.describe("not return a number", method -> !isNumber(method.getRawReturnType())));
    }

    private static boolean isNumber(JavaClass type) {
        return List.of(int.class, long.class, double.class).stream().anyMatch(type::isEquivalentTo);
    }
}
