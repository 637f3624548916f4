// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.builder.BuildChainBuilder;
import io.quarkus.deployment.builditem.GeneratedResourceBuildItem;
import io.quarkus.deployment.builditem.nativeimage.NativeImageResourcePatternsBuildItem;
import io.quarkus.deployment.builditem.nativeimage.ReflectiveClassBuildItem;
import io.quarkus.deployment.builditem.nativeimage.RuntimeInitializedClassBuildItem;
import io.quarkus.deployment.builditem.nativeimage.ServiceProviderBuildItem;
import io.quarkus.test.QuarkusUnitTest;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The metadata for a native image: what the classes of the library load at run time is registered in the build. */
class NativeMetadataTest {
    private static final Path PROJECT = Path.of("..", "..");
    private static final List<String> MODULES =
            List.of("api", "core", "interceptor", "operations", "client", "redisson-backend", "quarkus/runtime");

    /** Only other containers use these classes, or no class name in them is a constant. */
    private static final Set<String> OF_OTHER_CONTAINERS = Set.of(
            "io/weir/ratelimit/interceptor/cdi/ServiceLoading",
            "io/weir/ratelimit/interceptor/servlet/ServletMappings");

    private static final String PREFIX = "weir.test.native.";

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Limited.class, Base.class, Bean.class, Argument.class))
            .overrideConfigKey("ratelimit.policies.bean.limit", "1/1h")
            .addBuildChainCustomizer(collect());

    /** Returns a build step that passes the build items to the test, which other class loaders have loaded. */
    private static Consumer<BuildChainBuilder> collect() {
        return chain -> chain.addBuildStep(context -> {
                    put(
                            "resources",
                            context.consumeMulti(NativeImageResourcePatternsBuildItem.class).stream()
                                    .flatMap(item -> item.getIncludePatterns().stream()));
                    put(
                            "reflective",
                            context.consumeMulti(ReflectiveClassBuildItem.class).stream()
                                    .flatMap(item ->
                                            item.getClassNames().stream().map(name -> name + " " + item.isMethods())));
                    put(
                            "atRunTime",
                            context.consumeMulti(RuntimeInitializedClassBuildItem.class).stream()
                                    .map(RuntimeInitializedClassBuildItem::getClassName));
                    put(
                            "services",
                            context.consumeMulti(ServiceProviderBuildItem.class).stream()
                                    .map(ServiceProviderBuildItem::serviceDescriptorFile));
                    context.produce(new GeneratedResourceBuildItem("weir-test", new byte[0]));
                })
                .consumes(NativeImageResourcePatternsBuildItem.class)
                .consumes(ReflectiveClassBuildItem.class)
                .consumes(RuntimeInitializedClassBuildItem.class)
                .consumes(ServiceProviderBuildItem.class)
                .produces(GeneratedResourceBuildItem.class)
                .build();
    }

    private static void put(String name, Stream<String> values) {
        System.setProperty(PREFIX + name, String.join("\n", values.toList()));
    }

    private static Set<String> registered(String name) {
        return Set.of(System.getProperty(PREFIX + name).lines().distinct().toArray(String[]::new));
    }

    private static boolean isResource(String path) {
        return registered("resources").stream().anyMatch(pattern -> Pattern.matches(pattern, path));
    }

    private static List<Path> files(String folder) {
        List<Path> files = new ArrayList<>();
        for (String module : MODULES) {
            Path root = PROJECT.resolve(module).resolve(folder);
            if (Files.isDirectory(root)) {
                try (Stream<Path> all = Files.walk(root)) {
                    all.filter(Files::isRegularFile).forEach(files::add);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return files;
    }

    /** Quarkus itself reads the other folders of {@code META-INF}, and the services of other containers have no effect. */
    @Test
    void eachResourceIsInTheImage() {
        Set<String> services = registered("services");
        int resources = 0;
        for (Path file : files("src/main/resources")) {
            String path = file.toString().replaceAll(".*/src/main/resources/", "");
            if (path.equals("META-INF/services/io.weir.ratelimit.runtime.Plugin")) {
                assertThat(services).contains(path);
            } else if (!path.matches("META-INF/[^/]*|META-INF/services/.*")) {
                assertThat(isResource(path)).as(path).isTrue();
                resources++;
            }
        }
        assertThat(resources).isGreaterThan(20);
    }

    @Test
    void eachNameOfAResourceOrClassIsRegistered() {
        Set<String> reflective = registered("reflective");
        Set<String> found = new TreeSet<>();
        for (Loads loads : loads()) {
            loads.constants.stream()
                    .map(constant -> constant.replaceFirst("^/", ""))
                    .filter(constant -> loads.resources && constant.startsWith("META-INF/") && constant.contains("."))
                    .forEach(path -> {
                        assertThat(isResource(path)).as(path).isTrue();
                        found.add(path);
                    });
            loads.constants.stream()
                    .filter(constant -> loads.classes && isClass(constant))
                    .forEach(name -> {
                        assertThat(reflective).as(loads.name).contains(name + " false");
                        found.add(name);
                    });
        }
        assertThat(found)
                .contains(
                        "META-INF/maven/io.weir/weir-operations/pom.properties",
                        "org.eclipse.microprofile.jwt.JsonWebToken");
    }

    private static boolean isClass(String name) {
        try {
            Class<?> unused = Class.forName(name, false, Thread.currentThread().getContextClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    @Test
    void randomNumbersAndChangingStateBelongToTheProcess() {
        Set<String> atRunTime = registered("atRunTime");
        for (Loads loads : loads()) {
            if (!loads.state.isEmpty() && !loads.name.startsWith("io/weir/ratelimit/quarkus/")) {
                assertThat(atRunTime).as(loads.state.toString()).contains(loads.name.replace('/', '.'));
            }
        }
    }

    @Test
    void theMethodsOfLimitedClassesAreRegistered() {
        assertThat(registered("reflective"))
                .contains(
                        Bean.class.getName() + " true",
                        Base.class.getName() + " true",
                        Limited.class.getName() + " true",
                        Argument.class.getName() + " true");
    }

    private static List<Loads> loads() {
        List<Loads> all = new ArrayList<>();
        for (Path file : files("target/classes")) {
            if (file.toString().endsWith(".class")) {
                try {
                    Loads loads = new Loads();
                    new ClassReader(Files.readAllBytes(file))
                            .accept(loads, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                    all.add(loads);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return all;
    }

    /** The names that a class loads, and its static fields that change or are random. */
    private static final class Loads extends ClassVisitor {
        private final Set<String> constants = new TreeSet<>();
        private final List<String> state = new ArrayList<>();
        private String name = "";
        private boolean classes;
        private boolean resources;

        Loads() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            this.name = name;
        }

        @Override
        public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
            boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
            if (isStatic && ((access & Opcodes.ACC_FINAL) == 0 || descriptor.matches(".*/(Atomic\\w+|\\w*Random);"))) {
                state.add(this.name + "." + name);
            }
            return null;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] thrown) {
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitLdcInsn(Object value) {
                    if (value instanceof String text) {
                        constants.add(text);
                    }
                }

                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String type, boolean isInterface) {
                    classes |= Set.of("forName", "finds").contains(called)
                            && !OF_OTHER_CONTAINERS.contains(Loads.this.name);
                    resources |= called.startsWith("getResource");
                }
            };
        }
    }

    /** A supertype. */
    public interface Limited {
        String call(Argument argument);
    }

    /** A superclass with the limited method. */
    public abstract static class Base implements Limited {
        @Override
        @RateLimit(value = "bean", key = "arg:argument")
        public String call(@RateLimitKey("argument") Argument argument) {
            return "called";
        }
    }

    /** A limited bean without an annotation of its own. */
    @ApplicationScoped
    public static class Bean extends Base {}

    /** An argument that is a key. */
    public record Argument(String name) {}
}
