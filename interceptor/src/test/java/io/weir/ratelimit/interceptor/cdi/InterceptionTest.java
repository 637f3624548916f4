// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import io.weir.ratelimit.fixtures.LogCapture;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.Priority;
import jakarta.decorator.Decorator;
import jakarta.decorator.Delegate;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.Vetoed;
import jakarta.enterprise.inject.spi.InterceptionFactory;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Annotated methods that CDI does not intercept, and methods that it intercepts although no user calls them. */
@Tag("field")
@SuppressWarnings({"EmptyMethod", "unused"})
class InterceptionTest {
    private static final String[] LINES = {"ratelimit.policies.a.limit=1/1h", "ratelimit.policies.a.key=global"};

    interface Mail {
        @RateLimit("a")
        void send();
    }

    @ApplicationScoped
    static class Sender implements Mail {
        @Override
        @RateLimit("a")
        public void send() {}
    }

    @Dependent
    @Decorator
    @Priority(100)
    static class LimitedDecorator implements Mail {
        @Inject
        @Delegate
        Mail mail;

        @Override
        @RateLimit("a")
        public void send() {
            mail.send();
        }
    }

    @Dependent
    @Decorator
    @Priority(100)
    static class PlainDecorator implements Mail {
        @Inject
        @Delegate
        Mail mail;

        @Override
        public void send() {
            mail.send();
        }
    }

    @ApplicationScoped
    static class Callbacks {
        @PostConstruct
        @RateLimit("a")
        public void start() {}

        @Inject
        @RateLimit("a")
        public void use(Sender sender) {}
    }

    /** A class without a scope. */
    @Vetoed
    static class Report {
        @RateLimit("a")
        public void write() {}
    }

    @ApplicationScoped
    static class Reports {
        @Produces
        private final Mail field = new Sender();

        @Produces
        Report report() {
            return new Report();
        }
    }

    @ApplicationScoped
    static class InterceptedReports {
        @Produces
        Report report(InterceptionFactory<Report> factory) {
            return factory.createInterceptedInstance(new Report());
        }
    }

    @Dependent
    @RateLimit("a")
    static class Document implements Serializable {
        public void print() {}

        @Override
        public boolean equals(Object other) {
            return other instanceof Document;
        }

        @Override
        public int hashCode() {
            return 1;
        }

        @Override
        public String toString() {
            return "Document";
        }
    }

    @RateLimit("a")
    static class TextResource {
        @Override
        @GET
        public String toString() {
            return "text";
        }

        @Override
        @RateLimit("a")
        public int hashCode() {
            return 1;
        }

        public boolean equals(String other) {
            return false;
        }
    }

    @Test
    void aLimitedDecoratorFailsTheDeployment() {
        assertThatThrownBy(() -> Container.start(LINES, Sender.class, LimitedDecorator.class))
                .hasMessageContaining("WEIR-207 " + LimitedDecorator.class.getName() + ": the decorator is limited");
    }

    @Test
    void aDecoratedBeanIsChargedOnce() {
        try (Container container = Container.start(LINES, Sender.class, PlainDecorator.class)) {
            container.bean(Mail.class).send();
            assertThatThrownBy(() -> container.bean(Mail.class).send()).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void aLimitedCallbackFailsTheDeployment() {
        assertThatThrownBy(() -> Container.start(LINES, Sender.class, Callbacks.class))
                .hasMessageContaining(
                        "WEIR-207 " + Callbacks.class.getName() + ".start: the method is limited, but CDI")
                .hasMessageContaining("WEIR-207 " + Callbacks.class.getName() + ".use: the method is limited, but CDI");
    }

    @Test
    void anObjectOfAProducerIsReported() {
        assertThat(warnings(Reports.class))
                .containsExactly(
                        "WARNING WEIR-040 The producer Reports.field returns Mail",
                        "WARNING WEIR-040 The producer Reports.report returns Report");
        assertThat(warnings(Reports.class, Sender.class))
                .as("the producer can return the bean")
                .containsExactly("WARNING WEIR-040 The producer Reports.report returns Report");
    }

    @Test
    void anInterceptedObjectOfAProducerIsLimited() {
        assertThat(warnings(InterceptedReports.class)).isEmpty();
        try (Container container = Container.start(LINES, InterceptedReports.class)) {
            Report report = container.bean(Report.class);
            assertThatCode(report::write).doesNotThrowAnyException();
            assertThatThrownBy(report::write).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void logsAndCollectionsSpendNoPermitOfAClass() {
        try (Container container = Container.start(LINES, Document.class)) {
            Document document = container.bean(Document.class);
            assertThat(document).hasToString("Document").hasToString("Document");
            assertThat(Set.of(document)).contains(document);
            document.print();
            assertThatThrownBy(document::print).isInstanceOf(RateLimitExceededException.class);
            assertThat(document).hasToString("Document");
        }
    }

    @Test
    void aResourceMethodAndAnAnnotatedOneCanHaveSuchAName() {
        assertThat(TypeHierarchy.methods(TextResource.class))
                .hasSize(3)
                .allSatisfy(method -> assertThat(AnnotationScanner.isLimited(TextResource.class, method))
                        .as("%s", method)
                        .isTrue());
    }

    @Test
    void aBeanIsLimitedAfterItsPassivation() throws Exception {
        try (Container container = Container.start(LINES, Document.class)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new ObjectOutputStream(bytes).writeObject(container.bean(Document.class));
            Document document =
                    (Document) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
            document.print();
            assertThatThrownBy(document::print).isInstanceOf(RateLimitExceededException.class);
        }
    }

    /** Returns the beginnings of the warnings about producers, with simple names. */
    private static List<String> warnings(Class<?>... beans) {
        try (LogCapture log = new LogCapture();
                Container container = Container.start(LINES, beans)) {
            return log.lines().stream()
                    .filter(line -> line.contains("WEIR-040"))
                    .map(line -> line.replaceFirst(", whose.*", "").replace(InterceptionTest.class.getName() + "$", ""))
                    .toList();
        }
    }
}
