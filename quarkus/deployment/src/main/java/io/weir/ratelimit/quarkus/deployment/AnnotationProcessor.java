// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.arc.deployment.BeanDiscoveryFinishedBuildItem;
import io.quarkus.arc.deployment.GeneratedBeanBuildItem;
import io.quarkus.arc.deployment.ValidationPhaseBuildItem;
import io.quarkus.arc.deployment.ValidationPhaseBuildItem.ValidationErrorBuildItem;
import io.quarkus.arc.processor.BeanInfo;
import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jboss.jandex.AnnotationInstance;
import org.jboss.jandex.AnnotationTarget;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.DotName;
import org.jboss.jandex.IndexView;

/** The build steps that find the limited classes, and fail the build for wrong annotations. */
class AnnotationProcessor {
    private static final DotName RATE_LIMIT = DotName.createSimple(RateLimit.class);
    private static final DotName LIMITER = DotName.createSimple(RateLimiter.class);
    private static final DotName PATH = DotName.createSimple("jakarta.ws.rs.Path");
    private static final String LIBRARY = "io.weir.ratelimit.";

    /** Classes that the build generates, such as those of REST clients, cannot be loaded yet. */
    @BuildStep
    LimitedBeansBuildItem limited(
            BeanDiscoveryFinishedBuildItem beans,
            List<GeneratedBeanBuildItem> generated,
            CombinedIndexBuildItem index) {
        Set<DotName> markers = markers(index.getIndex());
        Set<String> ofBuild =
                generated.stream().map(item -> item.getName().replace('/', '.')).collect(Collectors.toSet());
        Set<String> classes = new TreeSet<>();
        for (BeanInfo bean : beans.beanStream().classBeans().stream().toList()) {
            ClassInfo type = bean.getImplClazz();
            if (!isOfLibrary(type.name())
                    && !ofBuild.contains(type.name().toString())
                    && hasAny(type, markers, index.getIndex())) {
                classes.add(type.name().toString());
            }
        }
        boolean usesLimiter = beans.getInjectionPoints().stream()
                .anyMatch(point -> !isOfLibrary(point.getTargetInfo())
                        && point.getType().toString().contains(LIMITER.toString()));
        return new LimitedBeansBuildItem(new ArrayList<>(classes), usesLimiter);
    }

    private static boolean isOfLibrary(String target) {
        return target.startsWith(LIBRARY + "quarkus.") || target.startsWith(LIBRARY + "interceptor.");
    }

    /** The tests of this module have classes of applications in its packages. */
    private static boolean isOfLibrary(DotName type) {
        return isOfLibrary(type.toString()) && !type.toString().startsWith(LIBRARY + "quarkus.test.");
    }

    /** Returns the annotation, that of resources, and those of the application that have the annotation, such as stereotypes. */
    private static Set<DotName> markers(IndexView index) {
        Set<DotName> markers = new HashSet<>(Set.of(RATE_LIMIT, PATH));
        Deque<DotName> todo = new ArrayDeque<>(List.of(RATE_LIMIT));
        while (!todo.isEmpty()) {
            for (AnnotationInstance use : index.getAnnotations(todo.pop())) {
                if (use.target().kind() == AnnotationTarget.Kind.CLASS
                        && use.target().asClass().isAnnotation()
                        && markers.add(use.target().asClass().name())) {
                    todo.push(use.target().asClass().name());
                }
            }
        }
        return markers;
    }

    /** Tests whether a class, a superclass or an interface has one of the annotations, on the type or on a member. */
    private static boolean hasAny(ClassInfo type, Set<DotName> markers, IndexView index) {
        Deque<ClassInfo> todo = new ArrayDeque<>(List.of(type));
        while (!todo.isEmpty()) {
            ClassInfo next = todo.pop();
            if (next.annotationsMap().keySet().stream().anyMatch(markers::contains)) {
                return true;
            }
            List<DotName> above = new ArrayList<>(next.interfaceNames());
            if (next.superName() != null) {
                above.add(next.superName());
            }
            above.stream()
                    .map(index::getClassByName)
                    .filter(known -> known != null)
                    .forEach(todo::push);
        }
        return false;
    }

    /** Fails the build with all problems of annotations, also of classes that are no beans. */
    @BuildStep
    void check(
            ValidationPhaseBuildItem beans,
            CombinedIndexBuildItem index,
            LimitedBeansBuildItem limited,
            BuildProducer<ValidationErrorBuildItem> errors) {
        Set<String> names = new TreeSet<>(limited.classes());
        for (AnnotationInstance use : index.getIndex().getAnnotations(RATE_LIMIT)) {
            ClassInfo type = switch (use.target().kind()) {
                case CLASS -> use.target().asClass();
                case METHOD -> use.target().asMethod().declaringClass();
                default -> null;
            };
            if (type != null && !isOfLibrary(type.name()) && !type.isAnnotation() && !type.isInterface()) {
                names.add(type.name().toString());
            }
        }
        Problems problems = new Problems();
        List<AnnotatedMethods.Limited> unused = DeployedApplication.methods(load(names), problems);
        if (!problems.lines().isEmpty()) {
            errors.produce(new ValidationErrorBuildItem(problems.lines().stream()
                    .<Throwable>map(ConfigurationException::new)
                    .toList()));
        }
    }

    static Set<Class<?>> load(Collection<String> names) {
        Set<Class<?>> classes = new LinkedHashSet<>();
        for (String name : names) {
            try {
                classes.add(Class.forName(name, false, Thread.currentThread().getContextClassLoader()));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException("the class " + name + " of the index is missing", e);
            }
        }
        return classes;
    }
}
