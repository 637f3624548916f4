// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jboss.shrinkwrap.api.Filters;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.FileAsset;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/**
 * An application from the Java code and the properties of how-to pages. The folder {@code how-to/<name>} of the test resources adds what a
 * page expects of its reader: callers of its beans, and values for the test. Variables of the section "Test it" replace properties.
 */
final class HowToApplication {
    private static final Path FOLDER = Path.of("src/test/resources/how-to");
    private static final Pattern TYPE =
            Pattern.compile("(?m)^(?:public |final |abstract )*(?:class|interface|record|enum) (\\w+)");
    private static final Pattern VARIABLE = Pattern.compile("\\b(RATELIMIT_[A-Z0-9_]+)=([^\\s`]+)");
    private static final Pattern REDIS = Pattern.compile("(redis\\.internal|localhost):6379");

    private final String name;
    private final List<String> pages = new ArrayList<>();
    private final List<String> excluded = new ArrayList<>();
    private RedisProcess redis;

    private HowToApplication(String name, String page) {
        this.name = name;
        this.pages.add(page);
    }

    /** Creates the application of a page, which has the name of the page. */
    static HowToApplication of(String page) {
        return new HowToApplication(page, page);
    }

    /** Creates another application of a page. */
    static HowToApplication named(String name, String page) {
        return new HowToApplication(name, page);
    }

    /** Adds the code and the properties of a page that comes first. */
    HowToApplication after(String page) {
        pages.add(0, page);
        return this;
    }

    /** Leaves out types of the page, because it contains alternatives or a test. */
    HowToApplication without(String... types) {
        excluded.addAll(List.of(types));
        return this;
    }

    /** Adds the Redis backend, and replaces the addresses of Redis by that of a running process. */
    HowToApplication with(RedisProcess process) {
        redis = process;
        return this;
    }

    String name() {
        return name;
    }

    /** Compiles the classes and writes the WAR, with {@code ready.txt} for the wait until it is deployed. */
    Path war(Path folder) throws IOException {
        Path work = Files.createDirectories(folder.resolve(name));
        String libraries =
                redis == null ? "(weir-(api|core|interceptor" + plugins() + ")|caffeine|jspecify)-[^/]*" : ".*";
        WebArchive war = ShrinkWrap.create(WebArchive.class, name + ".war")
                .merge(TestWar.example(), "/", Filters.include("/WEB-INF/lib/" + libraries))
                .add(new StringAsset("ready"), "ready.txt")
                .addAsResource(new StringAsset(properties()), "META-INF/microprofile-config.properties");
        Path classes = Files.createDirectories(work.resolve("classes"));
        DocumentCompiler.compile(sources(work), classes);
        try (Stream<Path> files = Files.walk(classes)) {
            files.filter(Files::isRegularFile)
                    .forEach(file ->
                            war.add(new FileAsset(file.toFile()), "/WEB-INF/classes/" + classes.relativize(file)));
        }
        return TestWar.written(war, work);
    }

    /** Returns the plug-ins that the pages add, each after a separator. */
    private String plugins() throws IOException {
        StringBuilder plugins = new StringBuilder();
        for (String page : pages) {
            for (String plugin : List.of("client", "operations")) {
                if (HowToPage.of(page).snippets("xml").stream()
                        .anyMatch(snippet -> snippet.contains("<artifactId>weir-" + plugin + "</artifactId>"))) {
                    plugins.append('|').append(plugin);
                }
            }
        }
        return plugins.toString();
    }

    private List<Path> sources(Path work) throws IOException {
        Map<String, String> types = new HashMap<>();
        for (String page : pages) {
            HowToPage.of(page).snippets("java").forEach(source -> types.put(type(source), source));
        }
        excluded.forEach(type -> assertThat(types.remove(type)).as(type).isNotNull());
        for (Path file : files(name, ".java")) {
            types.put(type(Files.readString(file)), Files.readString(file));
        }
        if (types.values().stream().noneMatch(source -> source.contains(" extends Application "))) {
            types.put(
                    "TestedApplication",
                    "@jakarta.ws.rs.ApplicationPath(\"api\")\n"
                            + "public class TestedApplication extends jakarta.ws.rs.core.Application {}\n");
        }
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, String> type : types.entrySet()) {
            files.add(Files.writeString(work.resolve(type.getKey() + ".java"), type.getValue()));
        }
        return files;
    }

    static String type(String source) {
        Matcher type = TYPE.matcher(source);
        assertThat(type.find()).as("a type in\n%s", source).isTrue();
        return type.group(1);
    }

    private String properties() throws IOException {
        Properties properties = new Properties();
        for (String page : pages) {
            for (String snippet : HowToPage.of(page).snippets("properties")) {
                properties.load(new StringReader(snippet));
            }
            load(properties, page);
        }
        load(properties, name);
        variables().forEach((variable, value) -> set(properties, variable, value));
        if (redis != null) {
            properties.replaceAll(
                    (key, value) -> REDIS.matcher(value.toString()).replaceAll("127.0.0.1:" + redis.port()));
        }
        StringWriter text = new StringWriter();
        properties.store(text, null);
        return text.toString();
    }

    private static void load(Properties properties, String folder) throws IOException {
        for (Path file : files(folder, ".properties")) {
            properties.load(new StringReader(Files.readString(file)));
        }
    }

    /** Returns the variables of the section "Test it" of the page, each with its first value. */
    private Map<String, String> variables() {
        Map<String, String> variables = new HashMap<>();
        VARIABLE.matcher(HowToPage.of(pages.get(pages.size() - 1)).section("Test it"))
                .results()
                .forEach(variable -> variables.putIfAbsent(variable.group(1), variable.group(2)));
        return variables;
    }

    private static void set(Properties properties, String variable, String value) {
        List<String> names = properties.stringPropertyNames().stream()
                .filter(name -> name.replaceAll("[^A-Za-z0-9]", "_")
                        .toUpperCase(Locale.ROOT)
                        .equals(variable))
                .toList();
        assertThat(names).as("the property of %s", variable).hasSize(1);
        properties.setProperty(names.get(0), value);
    }

    private static List<Path> files(String name, String end) throws IOException {
        Path folder = FOLDER.resolve(name);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(end)).sorted().toList();
        }
    }
}
