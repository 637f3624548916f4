// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The output of the load script for {@code wrk}.
 *
 * @param text the whole output
 */
record LoadScript(String text) {
    private static final Pattern STATUS = Pattern.compile("(?m)^(\\d{3}) +(\\d+)$");
    private static final Pattern CLIENT = Pattern.compile("(?m)^(\\d+|all)( +(?:yes|no))?((?: +(?:\\| +)?\\d+){8})$");

    /**
     * The calls of one client.
     *
     * @param early the calls before a Retry-After had passed
     * @param due the first calls after each Retry-After
     */
    record Client(
            String name,
            int calls,
            int allowed,
            int rejected,
            int other,
            int early,
            int earlyAllowed,
            int due,
            int dueAllowed) {}

    /** Runs the script with one client per thread. */
    static LoadScript run(Tool wrk, int clients, int seconds, URI uri, String... options) {
        return new LoadScript(wrk.run(
                Path.of("").toAbsolutePath(),
                Stream.concat(
                                Stream.of(
                                        "-t" + clients,
                                        "-c" + clients,
                                        "-d" + seconds + "s",
                                        "-s",
                                        OperationsFiles.LOAD_SCRIPT.toString(),
                                        uri.toString(),
                                        "--"),
                                Stream.of(options))
                        .toArray(String[]::new)));
    }

    /** Returns the number of calls by status. */
    Map<Integer, Integer> statuses() {
        Map<Integer, Integer> statuses = new TreeMap<>();
        STATUS.matcher(text)
                .results()
                .forEach(row -> statuses.put(Integer.valueOf(row.group(1)), Integer.valueOf(row.group(2))));
        return statuses;
    }

    /** Returns the clients by number. */
    List<Client> clients() {
        return rows().filter(client -> !client.name().equals("all")).toList();
    }

    /** Returns the sums of all clients. */
    Client all() {
        List<Client> all = rows().filter(client -> client.name().equals("all")).toList();
        assertThat(all).as(text).hasSize(1);
        return all.get(0);
    }

    private Stream<Client> rows() {
        return CLIENT.matcher(text).results().map(row -> {
            int[] number = Pattern.compile("\\d+")
                    .matcher(row.group(3))
                    .results()
                    .mapToInt(result -> Integer.parseInt(result.group()))
                    .toArray();
            return new Client(
                    row.group(1),
                    number[0],
                    number[1],
                    number[2],
                    number[3],
                    number[4],
                    number[5],
                    number[6],
                    number[7]);
        });
    }
}
