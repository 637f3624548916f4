// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.client.outgoing.ClientReader;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.ForwardedHeader;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.policy.TierSelector;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.inject.Named;
import jakarta.json.Json;
import java.io.IOException;
import java.io.StringReader;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.config.Config;
import org.xml.sax.InputSource;

/**
 * The snippets of each how-to page, of the README and of the first ten properties: Java code compiles and uses only public parts of Weir, properties are valid for the
 * configuration reader of Weir, and XML, JSON and YAML can be parsed. {@link HowToPage} describes the comments that exclude parts of a page.
 */
class HowToSnippetsTest {
    /** The name of a type of Weir, in an import or in code. */
    private static final Pattern WEIR_TYPE = Pattern.compile("io\\.weir\\.ratelimit\\.(?:[a-z]\\w*\\.)*[A-Z]\\w*");

    /** The packages of the application API, of the SPI and of the test kit, and the backend contract. */
    private static final Pattern PUBLIC_TYPE = Pattern.compile(
            "io\\.weir\\.ratelimit\\.(?:(?:(?:spi|test)\\.)?[A-Z]\\w*|tck\\.(?:RateLimitBackend|PartialRefund)Contract)");

    /** The types of other packages whose names are public. */
    private static final String PUBLIC_PARTS =
            DocumentedNamesTest.readPath(Path.of("../VERSIONING.md")).split("(?m)^## (?:Public|Internal) parts$")[1];

    private static final Pattern LIMIT = Pattern.compile("ratelimit\\.policies\\.([\\w-]+)\\.limit");

    /** The table of contents of the pages that apply limits. */
    private static final String LIMIT_PAGES =
            DocumentedNamesTest.readPath(Path.of("../docs/README.md")).split("(?m)^## (?:Limit|Operate)$")[1];

    private static final Pattern WITH_VERSION = weirDependency("<version>");
    private static final Pattern WITHOUT_VERSION = weirDependency("<(?!version>)");

    @TempDir
    private Path temp;

    @TestFactory
    Stream<DynamicTest> snippetsOfEachPageAreValid() throws IOException {
        Stream<HowToPage> others = Stream.of("../README.md", "../docs/reference/first-ten-properties.md")
                .map(page -> HowToPage.at(Path.of(page)));
        return Stream.concat(others, HowToPage.all().stream())
                .map(page -> DynamicTest.dynamicTest(page.name(), () -> verify(page)));
    }

    /** {@link HowToIT} has a test for each page, with the name of the page. */
    @TestFactory
    Stream<DynamicTest> eachPageIsDeployedOrMarked() throws IOException {
        Set<String> tests = Arrays.stream(HowToIT.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(Method::getName)
                .collect(Collectors.toSet());
        List<HowToPage> pages = HowToPage.all();
        assertThat(pages).hasSizeGreaterThan(20);
        assertThat(pages.stream().map(HowToSnippetsTest::testName)).containsAll(tests);
        return pages.stream()
                .map(page -> DynamicTest.dynamicTest(
                        page.name(),
                        () -> assertThat(page.isMarkedAsNotDeployed())
                                .as(
                                        "a test %s in HowToIT, or a comment \"not deployed: reason\" below the title, and not both",
                                        testName(page))
                                .isEqualTo(!tests.contains(testName(page)))));
    }

    /** The version of an artifact is in the dependency, with the command that installs it or a link to the tutorial, which has it, or in the BOM. */
    @TestFactory
    Stream<DynamicTest> mavenFindsTheArtifactsOfEachPage() throws IOException {
        return HowToPage.all().stream()
                .map(page -> DynamicTest.dynamicTest(page.name(), () -> {
                    String xml = String.join("", page.snippets("xml"));
                    if (WITHOUT_VERSION.matcher(xml).find()) {
                        assertThat(page.text()).contains("weir-bom");
                    }
                    if (WITH_VERSION.matcher(xml).find()) {
                        assertThat(page.text())
                                .containsPattern(" install -Dmaven\\.test\\.skip |\\(\\.\\./tutorial\\.md");
                    }
                }));
    }

    private static Pattern weirDependency(String next) {
        return Pattern.compile("<groupId>io\\.weir</groupId>\\s*<artifactId>[\\w-]+</artifactId>\\s*" + next);
    }

    private static String testName(HowToPage page) {
        return Pattern.compile("-(.)")
                .matcher(page.name())
                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    }

    private void verify(HowToPage page) throws Exception {
        assertThat(page.snippets("java")).allSatisfy(HowToSnippetsTest::verifyUsesPublicTypes);
        List<Class<?>> classes = compile(page);
        Map<String, String> properties = verifyProperties(page.snippets("properties"), classes);
        if (LIMIT_PAGES.contains(page.name() + ".md")) {
            verifyUses(properties, page.text());
        }
        for (String xml : page.snippets("xml")) {
            DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new InputSource(new StringReader("<snippet>" + xml + "</snippet>")));
        }
        page.snippets("json")
                .forEach(json -> Json.createReader(new StringReader(json)).read());
        for (String yaml : page.snippets("yaml")) {
            // YamlTest reads the properties of Weir.
            if (!yaml.startsWith("ratelimit:")) {
                Config.fromYAML(yaml);
            }
        }
    }

    /** Checks that a snippet imports single types, and only those that keep their names in minor versions. */
    private static void verifyUsesPublicTypes(String source) {
        assertThat(source).doesNotContainPattern("import (static )?io\\.weir\\.ratelimit[\\w.]*\\.\\*");
        assertThat(WEIR_TYPE.matcher(source).results().map(MatchResult::group))
                .allMatch(name -> PUBLIC_TYPE.matcher(name).matches() || PUBLIC_PARTS.contains('`' + name + '`'));
    }

    private List<Class<?>> compile(HowToPage page) throws Exception {
        Map<String, Path> files = new HashMap<>();
        Path folder = Files.createDirectories(temp.resolve(page.name()).resolve("src"));
        for (String source : page.snippets("java")) {
            String type = HowToApplication.type(source);
            String declared = source.replaceFirst("(?s)^(?:package ([\\w.]+);)?.*", "$1");
            Path before = files.put(
                    declared.isEmpty() ? type : declared + "." + type,
                    Files.writeString(folder.resolve(type + ".java"), source));
            assertThat(before).as("two types %s", type).isNull();
        }
        Path output = Files.createDirectories(temp.resolve(page.name()).resolve("classes"));
        if (!files.isEmpty()) {
            DocumentCompiler.compile(files.values(), output);
        }
        URL[] path = {
            output.toUri().toURL(), DocumentCompiler.INTERCEPTOR.toUri().toURL()
        };
        List<Class<?>> classes = new ArrayList<>();
        try (URLClassLoader loader = new URLClassLoader(path, HowToSnippetsTest.class.getClassLoader())) {
            for (String name : files.keySet()) {
                Class<?> type = loader.loadClass(name);
                // Resolves the types of the methods while the loader is open.
                assertThat(type.getDeclaredMethods()).as(name).isNotNull();
                classes.add(type);
            }
        }
        return classes;
    }

    /** Reads the properties after each snippet, because a later snippet can replace a value, and all of them with the annotations. */
    private static Map<String, String> verifyProperties(List<String> snippets, List<Class<?>> classes)
            throws IOException {
        Map<String, String> values = new HashMap<>();
        for (String snippet : snippets) {
            Properties properties = new Properties();
            properties.load(new StringReader(snippet));
            properties.stringPropertyNames().stream()
                    .filter(name -> name.startsWith("ratelimit."))
                    .forEach(name -> values.put(name, properties.getProperty(name)));
            assertThat(problems(values, List.of(), classes)).isEmpty();
        }
        if (!values.isEmpty()) {
            assertThat(problems(values, limits(classes), classes)).isEmpty();
        }
        return values;
    }

    @Test
    void theFirstTenPropertiesAreTen() {
        String sheet = HowToPage.at(Path.of("../docs/reference/first-ten-properties.md"))
                .snippet("", "properties");
        assertThat(sheet.lines().filter(line -> line.startsWith("ratelimit."))).hasSize(10);
    }

    /** Checks that the page applies each policy, because a policy without a method, a path or a call limits nothing. */
    private static void verifyUses(Map<String, String> properties, String page) {
        for (String name : properties.keySet()) {
            Matcher limit = LIMIT.matcher(name);
            if (limit.matches()
                    && !properties.containsKey("ratelimit.policies." + limit.group(1) + ".paths")
                    && !isOfClient(limit.group(1), properties)) {
                assertThat(page).as("a use of the policy").contains('"' + limit.group(1) + '"');
            }
        }
    }

    private static boolean isOfClient(String policy, Map<String, String> properties) {
        return properties.entrySet().stream()
                .filter(property -> property.getKey().matches("ratelimit\\.clients\\.[\\w-]+\\.policy"))
                .anyMatch(property -> ConfigReader.list(property.getValue()).contains(policy));
    }

    private static List<String> problems(
            Map<String, String> values, List<MethodLimits> methods, List<Class<?>> classes) {
        Problems problems = new Problems();
        values.replaceAll((name, value) -> value.replaceAll("\\$\\{[^}]*}", "the value of an expression"));
        ConfigProperties config = ConfigProperties.of(values);
        Settings.read(config, problems);
        ClientAddress clients = new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR);
        Resolvers resolvers = new Resolvers(new KeyTerms(32, 64, clients, keys(classes), true), tiers(classes));
        PolicyLoader.load(config, methods, resolvers, problems);
        ClientReader.read(config, Map.of(), keys(classes), problems);
        return problems.lines();
    }

    /** Returns the resolvers of a page. A snippet can name one that a later snippet defines. */
    private static Map<String, KeyResolver> keys(List<Class<?>> classes) {
        Map<String, KeyResolver> keys = new HashMap<>();
        classes.stream()
                .filter(KeyResolver.class::isAssignableFrom)
                .forEach(type -> keys.put(type.getAnnotation(Named.class).value(), call -> Optional.empty()));
        return keys;
    }

    private static Map<String, TierSelector> tiers(List<Class<?>> classes) {
        Map<String, TierSelector> tiers = new HashMap<>();
        classes.stream()
                .filter(TierResolver.class::isAssignableFrom)
                .forEach(type -> tiers.put(type.getAnnotation(Named.class).value(), call -> Optional.empty()));
        return tiers;
    }

    private static List<MethodLimits> limits(List<Class<?>> classes) {
        return classes.stream()
                .flatMap(type -> Stream.<AnnotatedElement>concat(
                                Stream.of(type), Arrays.stream(type.getDeclaredMethods()))
                        .map(element -> element.getAnnotation(RateLimit.class))
                        .filter(limit -> limit != null && limit.limit().isEmpty())
                        .map(limit -> new MethodLimits(
                                MethodLimits.Name.of(type.getSimpleName()),
                                List.of(limit.value()),
                                limit.cost(),
                                Optional.empty())))
                .toList();
    }
}
