// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ChangedPropertiesTest {
    private static String read(Map<String, String> configuration, String policy) {
        PolicyValues values =
                new PolicyValues(Map.of(policy, Map.of("limit", ChangeSamples.policy(17, policy, "limit", "50/1m"))));
        ConfigProperties changed =
                ChangedProperties.over(ConfigProperties.of(configuration), values, Set.of("api", "a.b"));
        PolicyProperties properties = new ConfigReader(changed, new Problems()).policy(policy);
        String name = properties.name("limit");
        return changed.names() + " " + name + "=" + properties.text(name).orElse("unset") + " by "
                + (properties.text(name).isPresent() ? changed.source(name) : "nothing");
    }

    @Test
    void aValuePrecedesTheConfigurationHoweverItIsWritten() {
        assertThat(read(Map.of("ratelimit.policies.api.limit", "100/1m"), "api"))
                .isEqualTo("[ratelimit.policies.api.limit] ratelimit.policies.api.limit=50/1m"
                        + " by runtime change 17 by alice");
        assertThat(read(Map.of("ratelimit.policies.\"api\".limit", "100/1m"), "api"))
                .isEqualTo("[ratelimit.policies.\"api\".limit] ratelimit.policies.\"api\".limit=50/1m"
                        + " by runtime change 17 by alice");
        assertThat(read(Map.of("ratelimit.policies.\"a.b\".limit", "100/1m"), "a.b"))
                .isEqualTo("[ratelimit.policies.\"a.b\".limit] ratelimit.policies.\"a.b\".limit=50/1m"
                        + " by runtime change 17 by alice");
    }

    @Test
    void aValueOfAnAttributeThatTheConfigurationDoesNotSetIsAdded() {
        assertThat(read(Map.of(), "api"))
                .isEqualTo("[ratelimit.policies.api.limit] ratelimit.policies.api.limit=50/1m"
                        + " by runtime change 17 by alice");
        assertThat(read(Map.of(), "a.b"))
                .isEqualTo("[ratelimit.policies.\"a.b\".limit] ratelimit.policies.\"a.b\".limit=50/1m"
                        + " by runtime change 17 by alice");
    }

    @Test
    void aPolicyThatOnlyAChangeMentionsDoesNotExist() {
        assertThat(read(Map.of(), "gone")).isEqualTo("[] ratelimit.policies.gone.limit=unset by nothing");
    }

    @Test
    void anAttributeThatNoChangeCanHaveIsLeftOut() {
        RuntimeChange stored = ChangeSamples.policy(17, "api", "key", "global", "limit", "50/1m");
        PolicyValues values = new PolicyValues(Map.of("api", Map.of("key", stored, "limit", stored)));
        ConfigProperties changed = ChangedProperties.over(ConfigProperties.of(Map.of()), values, Set.of("api"));
        assertThat(changed.names()).containsExactly("ratelimit.policies.api.limit");
    }
}
