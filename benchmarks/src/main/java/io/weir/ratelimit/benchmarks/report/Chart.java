// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A chart of horizontal bars in SVG: one panel beside the other, with the same rows. It has its own background, so that it can be read on
 * a light and on a dark page.
 *
 * @param title the title
 * @param rows the labels of the rows
 * @param panels the panels, which have a bar per row
 * @param logarithmic whether bars begin at 1 and have the length of the logarithm
 */
record Chart(String title, List<String> rows, List<Panel> panels, boolean logarithmic) {
    private static final int ROW = 24;
    private static final int TOP = 74;
    private static final int GAP = 18;
    private static final int VALUE = 48;
    private static final int WIDTH = 980;
    private static final double LETTER = 6.9;
    private static final String OWN = "Weir";

    /**
     * A panel of a chart.
     *
     * @param title what the bars show
     * @param bars the figure of each row; NaN for none
     */
    record Panel(String title, List<Figure> bars) {}

    String svg() {
        int labels = (int) (rows.stream().mapToInt(String::length).max().orElse(0) * LETTER) + 24;
        double width = (WIDTH - labels - (double) GAP * panels.size()) / panels.size();
        int height = TOP + ROW * rows.size() + 14;
        List<String> out = new ArrayList<>();
        out.add(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"title\">",
                WIDTH,
                height,
                WIDTH,
                height));
        out.add("<title id=\"title\">" + escaped(title) + "</title>");
        out.add("""
                <style>
                text { font: 13px "Liberation Sans", Arial, sans-serif; fill: #1f2328; }
                .heading { font-size: 15px; font-weight: bold; }
                .page { fill: #ffffff; }
                .bar { fill: #8c959f; }
                .own { fill: #0969da; }
                .range { stroke: #1f2328; stroke-width: 1.5; }
                .axis { stroke: #8c959f; stroke-width: 1; }
                @media (prefers-color-scheme: dark) {
                text { fill: #e6edf3; }
                .page { fill: #0d1117; }
                .bar { fill: #6e7681; }
                .own { fill: #4493f8; }
                .range { stroke: #e6edf3; }
                }
                </style>""");
        out.add("<rect class=\"page\" width=\"100%\" height=\"100%\"/>");
        out.add(text(14, 26, "heading", "start", title));
        for (int row = 0; row < rows.size(); row++) {
            out.add(text(labels - 8, TOP + ROW * row + 16, "", "end", rows.get(row)));
        }
        for (int panel = 0; panel < panels.size(); panel++) {
            out.addAll(panel(panels.get(panel), labels + panel * (width + GAP), width));
        }
        out.add("</svg>");
        return String.join("\n", out) + "\n";
    }

    private List<String> panel(Panel panel, double left, double width) {
        double longest = panel.bars().stream()
                .mapToDouble(bar -> Math.max(length(bar.middle()), length(bar.high())))
                .filter(Double::isFinite)
                .max()
                .orElse(1);
        double scale = (width - VALUE) / Math.max(longest, 0.01);
        List<String> out = new ArrayList<>();
        out.add(text(left, TOP - 12, "", "start", panel.title()));
        out.add(String.format(
                Locale.ROOT,
                "<line class=\"axis\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>",
                left,
                TOP,
                left,
                TOP + ROW * rows.size()));
        for (int row = 0; row < rows.size(); row++) {
            Figure bar = panel.bars().get(row);
            double y = TOP + ROW * row;
            if (!Double.isFinite(bar.middle())) {
                out.add(text(left + 6, y + 16, "", "start", "-"));
                continue;
            }
            double end = left + length(bar.middle()) * scale;
            out.add(String.format(
                    Locale.ROOT,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>",
                    rows.get(row).startsWith(OWN) ? "own" : "bar",
                    left,
                    y + 4,
                    Math.max(1, end - left),
                    ROW - 8));
            double labelled = end;
            if (bar.high() > bar.low()) {
                labelled = left + length(bar.high()) * scale;
                out.add(String.format(
                        Locale.ROOT,
                        "<line class=\"range\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                        left + length(bar.low()) * scale,
                        y + ROW / 2.0,
                        labelled,
                        y + ROW / 2.0));
            }
            out.add(text(labelled + 5, y + 16, "", "start", Figure.number(bar.middle())));
        }
        return out;
    }

    private double length(double value) {
        return logarithmic ? Math.log10(Math.max(1, value)) : value;
    }

    private static String text(double x, double y, String style, String anchor, String text) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\"%s text-anchor=\"%s\">%s</text>",
                x,
                y,
                style.isEmpty() ? "" : " class=\"" + style + "\"",
                anchor,
                escaped(text));
    }

    private static String escaped(String text) {
        return text.replace("`", "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
