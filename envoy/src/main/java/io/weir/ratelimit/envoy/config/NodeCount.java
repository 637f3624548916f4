// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import java.util.HashSet;
import java.util.Set;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.SequenceNode;

/** The size of a YAML file in which each alias is replaced by its node. A few aliases can be millions of nodes, or have no end. */
final class NodeCount {
    private static final int MAX_NODES = 1_000_000;
    private static final int MAX_LEVELS = 1_000;

    private final Set<Node> above = new HashSet<>();
    private int nodes;

    /** Adds a node and those below it. Throws a {@link YAMLException} if the file is too large, or if a node contains itself. */
    void add(Node node) {
        nodes++;
        if (!above.add(node)) {
            throw new YAMLException(
                    "the node of line " + (node.getStartMark().getLine() + 1) + " contains itself by an alias");
        }
        if (nodes > MAX_NODES || above.size() > MAX_LEVELS) {
            throw new YAMLException(
                    "with its aliases, the file has more than " + MAX_NODES + " nodes or " + MAX_LEVELS + " levels");
        }
        if (node instanceof SequenceNode list) {
            list.getValue().forEach(this::add);
        } else if (node instanceof MappingNode mapping) {
            mapping.getValue().forEach(field -> {
                add(field.getKeyNode());
                add(field.getValueNode());
            });
        }
        above.remove(node);
    }
}
