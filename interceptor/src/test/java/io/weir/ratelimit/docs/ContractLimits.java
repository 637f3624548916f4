// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.docs;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicySource;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;

@ApplicationScoped
public class ContractLimits implements PolicySource {
    @Resource(lookup = "java:comp/DefaultDataSource")
    DataSource database;

    @Override
    public Set<String> policies() {
        return Set.of("api");
    }

    @Override
    public Optional<LimitOverride> limits(String policy, Identity key) {
        Identity.Part part = key.parts().get(0);
        if (part.kind() != Identity.Kind.PRINCIPAL) {
            return Optional.empty();
        }
        try (Connection connection = database.getConnection();
                PreparedStatement query =
                        connection.prepareStatement("select rate from contract where policy = ? and customer = ?")) {
            query.setQueryTimeout(1);
            query.setString(1, policy);
            query.setString(2, part.value());
            try (ResultSet found = query.executeQuery()) {
                return found.next() ? Optional.of(LimitOverride.of(found.getString("rate"))) : Optional.empty();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the contract of a customer cannot be read", e);
        }
    }
}
