// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import jakarta.batch.api.chunk.AbstractItemReader;
import jakarta.batch.api.chunk.AbstractItemWriter;
import jakarta.batch.api.chunk.ItemProcessor;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.io.Serializable;
import java.util.List;

/** The parts of a job with four items. */
public final class Steps {
    private Steps() {}

    /** Reads numbers, and continues at the checkpoint of a job that is started again. */
    @Dependent
    @Named("numbers")
    public static class Numbers extends AbstractItemReader {
        private int next;

        @Override
        public void open(Serializable checkpoint) {
            next = checkpoint == null ? 0 : (Integer) checkpoint;
        }

        @Override
        public Object readItem() {
            return next < 4 ? next++ : null;
        }

        @Override
        public Serializable checkpointInfo() {
            return next;
        }
    }

    /** The limited work of an item. */
    @Dependent
    @Named("limitedProcessor")
    public static class LimitedProcessor implements ItemProcessor {
        @Override
        @RateLimit("batch")
        public Object processItem(Object item) {
            return item;
        }
    }

    /** Keeps the items. */
    @Dependent
    @Named("seenWriter")
    public static class SeenWriter extends AbstractItemWriter {
        @Inject
        Seen seen;

        @Override
        public void writeItems(List<Object> items) {
            items.forEach(item -> seen.add("batch", item.toString()));
        }
    }
}
