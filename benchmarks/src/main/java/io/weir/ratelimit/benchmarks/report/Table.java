// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A table in Markdown. The first cell of its header is its name. */
public final class Table {
    private final String header;
    private final List<String> rows = new ArrayList<>();

    private Table(String header) {
        this.header = header;
    }

    /** Creates a table without rows. */
    public static Table of(String... columns) {
        return new Table(line(Arrays.asList(columns)));
    }

    /** Adds a row. */
    public Table row(Object... cells) {
        rows.add(line(Arrays.stream(cells).map(String::valueOf).toList()));
        return this;
    }

    /** Prints the table to standard output, where the report reads it. */
    public void print() {
        System.out.println(text());
    }

    private static String line(List<String> cells) {
        return "| " + String.join(" | ", cells) + " |";
    }

    /** Reads the tables of an output. Tables with the same header are one. */
    static List<Table> in(List<String> lines) {
        List<Table> tables = new ArrayList<>();
        boolean inside = false;
        for (String line : lines) {
            if (!line.startsWith("|")) {
                inside = false;
            } else if (!inside) {
                inside = true;
                Table table = tables.stream()
                        .filter(earlier -> earlier.header.equals(line.strip()))
                        .findFirst()
                        .orElseGet(() -> new Table(line.strip()));
                tables.remove(table);
                tables.add(table);
            } else if (!line.startsWith("|---")) {
                tables.get(tables.size() - 1).rows.add(line.strip());
            }
        }
        return tables;
    }

    String name() {
        return header.substring(1, header.indexOf('|', 1)).strip();
    }

    /** Returns the table as lines of Markdown. */
    public String text() {
        int columns = header.split("(?<!\\\\)\\|", -1).length - 2;
        List<String> lines = new ArrayList<>(List.of(header, "|" + "---|".repeat(columns)));
        lines.addAll(rows);
        return String.join("\n", lines) + "\n";
    }
}
